"""What the two logits of a matching head are ranked by: ``?score=probability``, the default, or ``?score=logit``.

VALSE's paper ranks by the probability of a match (Parcalabescu et al. 2022, section 4), which orders as the margin of
the two logits does. Its released script for LXMERT ranks by the raw logit of a match. The two orders differ, because
the other logit depends on the text too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.architecture import checked_option
from vlgate.types import FloatArray

OPTION = "score"
SCORES = ("probability", "logit")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankScore:
    """How a head's outputs become scores.

    ``match`` is the column of a match among two logits; None for a head with one ranking score. ``raw`` asks for the
    logit of a match alone.
    """

    match: int | None
    raw: bool = False

    def of(self, logits: Any) -> FloatArray:
        """Return scores of shape (n,) for a head's outputs, shape (n, 2), or (n, 1) for a ranking score.

        >>> RankScore(match=1).of([[1.0, 3.0], [2.0, 0.5]]).tolist()
        [2.0, -1.5]
        >>> RankScore(match=1, raw=True).of([[1.0, 3.0], [2.0, 0.5]]).tolist()
        [3.0, 0.5]
        """
        columns = np.asarray(logits, dtype=np.float64)
        if self.match is None:
            return columns[:, 0]
        found = columns[:, self.match]
        return found.copy() if self.raw else np.asarray(found - columns[:, 1 - self.match], dtype=np.float64)

    @property
    def threshold(self) -> float | None:
        """The score above which the head says yes: a margin of 0 is a probability of one half; None for the others."""
        return None if self.match is None or self.raw else 0.0

    @property
    def note(self) -> str:
        """A note for the readers of the results; empty for a ranking score."""
        if self.match is None:
            return ""
        return "ranks by the raw match logit (VALSE's script)" if self.raw else "ranks by the match probability"

    @property
    def mark(self) -> str:
        """The part of a fingerprint that differs from the default; empty for the default."""
        return f" {OPTION}=logit" if self.raw else ""


def check_no_rank(options: Mapping[str, str], asked: str) -> None:
    """Check that a checkpoint that only answers was not asked to rank.

    Raises: ModelLoadError if it was.
    """
    if OPTION in options:
        raise ModelLoadError(f"{asked} answers questions and does not match; leave {OPTION}={options[OPTION]} out")


def rank_score(options: Mapping[str, str], match: int | None) -> RankScore:
    """Return the way of scoring that a model's options ask for.

    Args:
        options: the options after the weights; ``score`` is one of ``SCORES``.
        match: the column of a match; None for a head with one ranking score.

    Raises: ModelLoadError if the value is unknown, or if the head does not have two logits.
    """
    asked = checked_option(OPTION, options.get(OPTION, SCORES[0]), SCORES)
    if match is None and OPTION in options:
        raise ModelLoadError(
            f"{OPTION}={asked!r}: the model's head gives one ranking score, not two logits; leave the option out"
        )
    return RankScore(match=match, raw=asked == "logit")
