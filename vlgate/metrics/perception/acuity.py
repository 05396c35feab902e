"""What is known of a model's threshold for one faculty, after its trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from vlgate.metrics.perception.faculties import FACULTIES, Faculty

Word = Literal["threshold", "beyond the range", "out of reach", "at chance", "below chance", "no fit", "unscored"]
"""What the trials show: a threshold with a level, or why there is none.

"beyond the range": the model does not fall, even at the hard end; "out of reach": it has not risen to its best at the
easy end; "no fit": its replies do not follow a psychometric function.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acuity:
    """The threshold of a model for ``faculty``.

    ``place``, ``low`` and ``high`` are the median and the 95 % interval of the threshold, as places of the range: 0 is
    its hard end, 1 its easy end. They may be outside. ``best`` is the share of right replies at the easy end,
    with its interval. ``right`` of ``asked`` trials at each level of the faculty were right. ``ties`` counts the trials
    in which both texts had the same score, ``unscored`` those without a reply, which are not in ``asked``.
    """

    faculty: str
    word: Word
    place: float
    low: float
    high: float
    best: float
    best_low: float
    best_high: float
    asked: tuple[int, ...]
    right: tuple[int, ...]
    ties: int
    unscored: int

    @property
    def about(self) -> Faculty:
        """The faculty with its range and unit."""
        return FACULTIES[self.faculty]

    @property
    def trials(self) -> int:
        """The number of trials with replies."""
        return sum(self.asked)

    @property
    def calls(self) -> int:
        """The number of requests to the model: two for each trial."""
        return 2 * (self.trials + self.unscored)

    @property
    def level(self) -> float | None:
        """The level of the threshold; None if the trials show none."""
        return self.level_at(self.place) if self.word == "threshold" else None

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The levels of the interval, the smaller first; None for an end outside the range, or without a threshold."""
        if self.word != "threshold":
            return None, None
        ends = [self.level_at(self.low), self.level_at(self.high)]
        return (ends[0], ends[1]) if self.about.smaller_is_better else (ends[1], ends[0])

    def level_at(self, place: float) -> float | None:
        """Return the level at a place; None outside the range."""
        return float(self.about.at(np.array(place))) if 0 <= place <= 1 else None
