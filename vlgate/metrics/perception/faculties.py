"""The faculties that acuity charts are drawn of: what the level of each is, its unit, and its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from vlgate.types import FloatArray

_LEVELS = 33
"""Levels of a range that is not of whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faculty:
    """A faculty: ``level`` says what its level is, ``unit`` names it behind a number.

    The level of colour is the distance between the shade that is shown, a mixture of the true and the false colour, and
    its mirror image on the other side of their middle: at 0 nobody could tell which of the two it is.

    The range goes from ``hard`` to ``easy``, in equal steps of the logarithm of the level minus ``neutral``. ``whole``
    holds the levels themselves if they are whole numbers, from hard to easy.
    """

    name: str
    level: str
    unit: str
    hard: float
    easy: float
    neutral: float = 0.0
    whole: tuple[int, ...] = ()

    @property
    def smaller_is_better(self) -> bool:
        """Whether a model with a lower threshold is the better one."""
        return self.hard < self.easy

    def levels(self) -> FloatArray:
        """Return the levels of trials, from hard to easy, shape (n,)."""
        if self.whole:
            return np.array(self.whole, dtype=np.float64)
        return self.at(np.linspace(0, 1, _LEVELS))

    def places(self) -> FloatArray:
        """Return the places of ``levels`` between 0, hard, and 1, easy, shape (n,)."""
        return self.place_of(self.levels())

    def place_of(self, levels: FloatArray) -> FloatArray:
        """Return the places of levels of any shape, the inverse of ``at``."""
        hard, easy = np.log(self.hard - self.neutral), np.log(self.easy - self.neutral)
        return np.asarray((np.log(levels - self.neutral) - hard) / (easy - hard), dtype=np.float64)

    def at(self, places: FloatArray) -> FloatArray:
        """Return the levels at places of any shape.

        >>> FACULTIES["noun"].at(np.array([0.0, 0.2, 1.0])).round(3).tolist()
        [4.0, 8.0, 128.0]
        """
        hard, easy = self.hard - self.neutral, self.easy - self.neutral
        return np.asarray(self.neutral + hard * (easy / hard) ** places, dtype=np.float64)


_ALL = (
    Faculty(name="noun", level="shorter side of the only thing", unit="px", hard=4, easy=128),
    Faculty(
        name="colour",
        level="distance of the shade from its mirror image",
        unit="ΔE",
        hard=2,
        easy=86,
    ),
    Faculty(name="count", level="number of things", unit="things", hard=15, easy=1, whole=tuple(range(15, 0, -1))),
    Faculty(name="left-right", level="horizontal distance of two things", unit="px", hard=38, easy=176),
    Faculty(name="size", level="ratio of the sizes of two things", unit="times", hard=1.03, easy=2.2, neutral=1.0),
    Faculty(name="contrast", level="share of full contrast", unit="of full contrast", hard=0.01, easy=1.0),
    Faculty(name="blur", level="standard deviation of a Gaussian blur", unit="px", hard=32, easy=0.5),
    Faculty(
        name="clutter",
        level="number of things that cover the thing",
        unit="things",
        hard=32,
        easy=1,
        whole=(32, 27, 23, 19, 16, 13, 11, 9, 8, 7, 6, 5, 4, 3, 2, 1),
    ),
    Faculty(
        name="text-length",
        level="words before the deciding word",
        unit="words",
        hard=96,
        easy=3,
        whole=(96, 80, 67, 56, 47, 39, 33, 27, 23, 19, 16, 13, 11, 9, 8, 7, 3),
    ),
    Faculty(
        name="distractors",
        level="number of other things of the same kind",
        unit="things",
        hard=15,
        easy=1,
        whole=tuple(range(15, 0, -1)),
    ),
)
FACULTIES: Mapping[str, Faculty] = MappingProxyType({one.name: one for one in _ALL})
"""All faculties by name."""
