"""Thresholds of perception: the faculties, the psychometric function, and what is known of a threshold."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

_LEVELS = 33  # of a range that is not of whole numbers


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
        return self.hard < self.easy

    def levels(self) -> FloatArray:
        if self.whole:
            return np.array(self.whole, dtype=np.float64)
        return self.at(np.linspace(0, 1, _LEVELS))

    def places(self) -> FloatArray:
        return self.place_of(self.levels())

    def place_of(self, levels: FloatArray) -> FloatArray:
        hard, easy = np.log(self.hard - self.neutral), np.log(self.easy - self.neutral)
        return np.asarray((np.log(levels - self.neutral) - hard) / (easy - hard), dtype=np.float64)

    def at(self, places: FloatArray) -> FloatArray:
        """Return the levels at places of any shape."""
        hard, easy = self.hard - self.neutral, self.easy - self.neutral
        return np.asarray(self.neutral + hard * (easy / hard) ** places, dtype=np.float64)


_TABLE = tomllib.loads(Path(__file__).with_name("perception.toml").read_text(encoding="utf-8"))
FACULTIES: Mapping[str, Faculty] = {
    name: Faculty(name=name, **{**row, "whole": tuple(row.get("whole", ()))}) for name, row in _TABLE.items()
}  # all faculties by name


# The psychometric function: the share of right replies by level, the posterior of its threshold, and what to ask next.
# A level is a place between 0, the hard end of a range, and 1, the easy end. The share of right replies at a place u
# is ``chance + (best - chance) * F((u - threshold) / spread)`` with the logistic function F, so that the threshold is
# the place of the midpoint between chance and the observer's best (Wichmann and Hill 2001, Perception & Psychophysics
# 63).
# The posterior is computed on a grid, as in the methods Psi (Kontsevich and Tyler 1999, Vision Research 39) and
# Psi-marginal (Prins 2013, Journal of Vision 13): the best and the spread are nuisance parameters. Here several trials
# are placed at once, so that a model is asked in batches.

GUESSING = 0.5  # of a choice between two texts
_THRESHOLDS = np.linspace(-0.3, 1.3, 321)
_SPREADS = 0.005 * 40.0 ** (np.arange(13) / 9)  # to 0.68: up to 0.2 alone, shallower curves look better than they are
_BESTS = np.array([0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995])
_CONFIDENCE = 0.95
_LOG_LIKELIER = 5.0  # than chance, at least, as a logarithm: half the 0.98 quantile of chi-square, 3 degrees
_UNLIKELY = 1e-7  # the weight, as a part of the greatest, below which an observer makes no difference
_REPLICAS = 500  # simulated observers that a fit is compared with

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The observers that are thought possible, and the share of right replies of each at each place."""

    # ``thresholds``, ``spreads``, ``bests`` and ``log_prior`` have shape (k,), ``places`` (n,), and ``shares``,
    # ``log_right`` and ``log_wrong`` (n, k).

    places: FloatArray
    thresholds: FloatArray
    spreads: FloatArray
    bests: FloatArray
    log_prior: FloatArray
    shares: FloatArray
    log_right: FloatArray
    log_wrong: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What the replies tell of a threshold: median and 95 % interval of its place, and the means of the others."""

    # ``likelier``: how much likelier than chance the replies are for the best-fitting observer, as a logarithm.

    threshold: float
    low: float
    high: float
    best: float
    best_low: float
    best_high: float
    likelier: float

    @property
    def above_chance(self) -> bool:
        return self.likelier > _LOG_LIKELIER


def share(places: FloatArray, threshold: FloatArray, spread: FloatArray, best: FloatArray) -> FloatArray:
    """Return the share of right replies at places, with the usual rules of broadcasting."""
    z = np.clip((places - threshold) / spread, -60, 60)
    return np.asarray(GUESSING + (best - GUESSING) / (1 + np.exp(-z)), dtype=np.float64)


@lru_cache(maxsize=16)
def _grid(places: tuple[float, ...]) -> Grid:
    axes = [axis.ravel() for axis in np.meshgrid(_THRESHOLDS, _SPREADS, _BESTS, indexing="ij")]
    prior = np.broadcast_to(np.gradient(_BESTS), (len(_THRESHOLDS), len(_SPREADS), len(_BESTS))).ravel()
    at = np.array(places)
    shares = share(at[:, None], *axes)
    known = dict(zip(("thresholds", "spreads", "bests"), axes, strict=True))
    known |= {"log_prior": np.log(prior / prior.sum()), "log_right": np.log(shares), "log_wrong": np.log1p(-shares)}
    return Grid(places=at, shares=shares, **known)


def grid(places: FloatArray) -> Grid:
    return _grid(tuple(places.round(9).tolist()))


def posterior(observers: Grid, right: Counts, asked: Counts) -> FloatArray:
    """Return the weight of each observer, shape (k,), after ``right`` of ``asked`` trials at each place, both (n,)."""
    return weights_of(observers, likelihood(observers, right, asked))


def likelihood(observers: Grid, right: Counts, asked: Counts) -> FloatArray:
    """Return the logarithm of the likelihood of the replies for each observer, shape (k,); shapes as ``posterior``."""
    return np.asarray(right @ observers.log_right + (asked - right) @ observers.log_wrong, dtype=np.float64)


def weights_of(observers: Grid, log_likelihood: FloatArray) -> FloatArray:
    total = log_likelihood + observers.log_prior
    weights = np.exp(total - total.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def most_telling(observers: Grid, weights: FloatArray, number: int) -> NDArray[np.int64]:
    """Return the positions of the places that tell most about the threshold, one per trial, shape (number,)."""
    # Each trial is chosen after the trials before it, without their replies: the expected variance of the threshold
    # after a reply is that of the best linear estimate.
    likely = weights > _UNLIKELY * weights.max()
    shares, weights = observers.shares[:, likely], weights[likely] / weights[likely].sum()
    means = shares @ weights
    weighted = shares * weights
    among = weighted @ shares.T - np.outer(means, means)
    noise = means - (weighted * shares).sum(axis=1)
    target = np.clip(observers.thresholds[likely], 0, 1)
    against = weighted @ target - means * float(weights @ target)
    chosen = np.zeros(number, np.int64)
    for trial in range(number):
        total = among.diagonal() + noise
        best = int(np.argmax(against**2 / total))
        chosen[trial] = best
        row = among[best].copy()
        against = against - row * (against[best] / total[best])
        among = among - np.outer(row, row) / total[best]
    return chosen


def fitted(observers: Grid, right: Counts, asked: Counts) -> Fit:
    return fit_of(observers, likelihood(observers, right, asked), int(asked.sum()))


def fit_of(observers: Grid, log_likelihood: FloatArray, trials: int) -> Fit:
    weights = weights_of(observers, log_likelihood)
    tail = (1 - _CONFIDENCE) / 2
    mass = weights.reshape(len(_THRESHOLDS), len(_SPREADS), len(_BESTS))
    low, median, high = _quantiles(_THRESHOLDS, mass.sum(axis=(1, 2)), (tail, 0.5, 1 - tail))
    least, _, most = _quantiles(_BESTS, mass.sum(axis=(0, 1)), (tail, 0.5, 1 - tail))
    best = {"best": float(weights @ observers.bests), "best_low": least, "best_high": most}
    likelier = float(log_likelihood.max()) - trials * log(GUESSING)
    return Fit(threshold=median, low=low, high=high, likelier=likelier, **best)


def _quantiles(axis: FloatArray, mass: FloatArray, at: tuple[float, ...]) -> list[float]:
    """Quantiles of a distribution on a grid; each value stands for the interval to the middle of its neighbours."""
    edges = np.concatenate([axis[:1], (axis[1:] + axis[:-1]) / 2, axis[-1:]])
    return [float(one) for one in np.interp(at, np.concatenate([[0.0], np.cumsum(mass)]), edges)]


def band(observers: Grid, weights: FloatArray) -> FloatArray:
    """Return the 2.5 %, 50 % and 97.5 % quantiles of the share at each place, shape (3, n)."""
    tail = (1 - _CONFIDENCE) / 2
    rows = []
    likely = weights > _UNLIKELY * weights.max()
    weights = weights[likely] / weights[likely].sum()
    for shares in observers.shares[:, likely]:
        order = np.argsort(shares, kind="stable")
        rows.append(np.interp((tail, 0.5, 1 - tail), np.cumsum(weights[order]), shares[order]))
    return np.array(rows).T


def fits(observers: Grid, right: Counts, asked: Counts, chance: np.random.Generator) -> float:
    """Return how often observers of the posterior reply at least as unlike their curves as the model does."""
    # This is the posterior predictive p-value of Pearson's chi-square (Gelman, Meng and Stern 1996, Statistica Sinica
    # 6). A share near 0 says that no curve of this form fits: the model is worse although the task is easier.
    weights = posterior(observers, right, asked)
    drawn = chance.choice(len(weights), _REPLICAS, p=weights)
    at = np.flatnonzero(asked)
    shares, number = observers.shares[np.ix_(at, drawn)], asked[at, None]
    expected, variance = number * shares, number * shares * (1 - shares)
    replies = chance.binomial(number, shares)
    seen, made = (((one - expected) ** 2 / variance).sum(axis=0) for one in (right[at, None], replies))
    return float(np.mean(made >= seen))


Word = Literal["threshold", "beyond the range", "out of reach", "at chance", "below chance", "no fit", "unscored"]
"""What the trials show: a threshold with a level, or why there is none.

"beyond the range": the model does not fall, even at the hard end; "out of reach": it has not risen to its best at the
easy end; "no fit": its replies do not follow a psychometric function.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acuity:
    # ``place``, ``low`` and ``high`` are the median and the 95 % interval of the threshold, as places of the range: 0
    # is its hard end, 1 its easy end. They may be outside. ``best`` is the share of right replies at the easy end, with
    # its interval. ``right`` of ``asked`` trials at each level of the faculty were right. ``ties`` counts the trials in
    # which both texts had the same score, ``unscored`` those without a reply, which are not in ``asked``.

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
        return FACULTIES[self.faculty]

    @property
    def trials(self) -> int:
        return sum(self.asked)

    @property
    def calls(self) -> int:
        """The number of requests to the model: two for each trial."""
        return 2 * (self.trials + self.unscored)

    @property
    def level(self) -> float | None:
        return self.level_at(self.place) if self.word == "threshold" else None

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The levels of the interval, the smaller first; None for an end outside the range, or without a threshold."""
        if self.word != "threshold":
            return None, None
        ends = [self.level_at(self.low), self.level_at(self.high)]
        return (ends[0], ends[1]) if self.about.smaller_is_better else (ends[1], ends[0])

    def level_at(self, place: float) -> float | None:
        return float(self.about.at(np.array(place))) if 0 <= place <= 1 else None
