"""What a check of a model says, whatever it looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CheckOutcome = Literal["ok", "suspect", "not applicable", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check of a model found, with a sentence that says why; ``failed`` means that the check could not run.

    ``n`` counts the comparisons. ``share`` is the share of them with the expected result, None if nothing was compared.
    ``largest`` is the largest difference between two scores of one request, None if it is not measured.
    """

    name: str
    outcome: CheckOutcome
    why: str
    n: int = 0
    share: float | None = None
    largest: float | None = None
