"""What a check of a model says, whatever it looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CheckOutcome = Literal["ok", "suspect", "not applicable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check of a model found, with a sentence why.

    ``share`` is that of the ``n`` comparisons that came out as they should, None where nothing was compared;
    ``largest`` is the largest difference between two scores of one request, where that was looked at.
    """

    name: str
    outcome: CheckOutcome
    why: str
    n: int = 0
    share: float | None = None
    largest: float | None = None
