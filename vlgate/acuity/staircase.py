"""The adaptive staircase of one chart: which levels to ask next, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.perception.psychometric import Fit, Grid, fit_of, grid, most_telling, weights_of
from vlgate.types import FloatArray

ROUND = 20
"""Trials of a chart that are asked together."""
TRIALS = 240
"""Trials of a chart; twice as many calls."""
LEAST = 60
"""The fewest trials after which a chart can end early, and the fewest that a limit must leave."""
_FIRST_EASY, _EASY = 8, 0.2  # of the first round, and the share of later ones: the best of a model is seen there
_HOPELESS = 1.0  # so little likelier than chance that more trials will hardly tell

Positions = NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class Staircase:
    """The replies so far: ``right`` of ``asked`` trials at each of the places of a range, shape (n,).

    ``log_likelihood`` is that of the replies for each observer of the grid, shape (k,).
    """

    observers: Grid
    asked: Positions
    right: Positions
    log_likelihood: FloatArray

    @classmethod
    def over(cls, places: FloatArray) -> Staircase:
        """Return a staircase over places of shape (n,) that has asked nothing."""
        observers, nothing = grid(places), np.zeros(len(places), np.int64)
        unsaid = np.zeros(len(observers.thresholds))
        return cls(observers=observers, asked=nothing, right=nothing.copy(), log_likelihood=unsaid)

    def following(self, number: int) -> Positions:
        """Return the positions of the places of the next trials, shape (number,).

        The first round spreads over the range, with a part at the easy end; later ones ask the
        places that tell most, and a fifth of them at the easy end: without a best there is no midpoint.
        """
        last = len(self.asked) - 1
        if not self.asked.any():
            over = np.linspace(0, last, max(number - _FIRST_EASY, 1)).round().astype(np.int64)
        else:
            weights = weights_of(self.observers, self.log_likelihood)
            over = most_telling(self.observers, weights, number - int(_EASY * number))
        return np.concatenate([over, np.full(number - len(over), last)])

    def add(self, positions: Positions, right: NDArray[np.bool_]) -> None:
        """Take the replies to trials, shapes (k,)."""
        np.add.at(self.asked, positions, 1)
        np.add.at(self.right, positions[right], 1)
        self.log_likelihood += self.observers.log_right[positions[right]].sum(axis=0)
        self.log_likelihood += self.observers.log_wrong[positions[~right]].sum(axis=0)

    def fit(self) -> Fit:
        """Return what the replies tell of the threshold."""
        return fit_of(self.observers, self.log_likelihood, int(self.asked.sum()))

    @property
    def decided(self) -> bool:
        """Whether more trials would tell nothing: the threshold is outside the range, or the model is at chance."""
        if int(self.asked.sum()) < LEAST:
            return False
        found = self.fit()
        return found.high < 0 or found.low > 1 or found.likelier < _HOPELESS
