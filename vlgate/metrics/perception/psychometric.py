"""The psychometric function: the share of right replies by level, the posterior of its threshold, and what to ask next.

A level is a place between 0, the hard end of a range, and 1, the easy end. The share of right replies at a place u is
``chance + (best - chance) * F((u - threshold) / spread)`` with the logistic function F, so that the threshold is the
place of the midpoint between chance and the observer's best (Wichmann and Hill 2001, Perception & Psychophysics 63).

The posterior is computed on a grid, as in the methods Psi (Kontsevich and Tyler 1999, Vision Research 39) and
Psi-marginal (Prins 2013, Journal of Vision 13): the best and the spread are nuisance parameters. Here several trials
are placed at once, so that a model is asked in batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

CHANCE = 0.5
"""Of a choice between two texts."""
_THRESHOLDS = np.linspace(-0.3, 1.3, 321)
_SPREADS = 0.005 * 40.0 ** (np.arange(13) / 9)  # to 0.68: up to 0.2 alone, shallower curves look better than they are
_BESTS = np.array([0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995])
_CONFIDENCE = 0.95
_LOG_LIKELIER = 5.0
"""How much likelier than chance replies must be, as a logarithm: half the 0.98 quantile of chi-square, 3 degrees."""
_UNLIKELY = 1e-7
"""The weight, as a part of the greatest, below which an observer makes no difference."""
_REPLICAS = 500
"""Simulated observers that a fit is compared with."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The observers that are thought possible, and the share of right replies of each at each place.

    ``thresholds``, ``spreads``, ``bests`` and ``log_prior`` have shape (k,), ``places`` (n,), and ``shares``,
    ``log_right`` and ``log_wrong`` (n, k).
    """

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
    """What the replies tell of a threshold: median and 95 % interval of its place, and the means of the others.

    ``best`` is the posterior mean of the share of right replies at the easy end, with its interval.
    ``likelier`` says how much likelier than chance the replies are for the best-fitting observer, as a logarithm.
    """

    threshold: float
    low: float
    high: float
    spread: float
    best: float
    best_low: float
    best_high: float
    likelier: float

    @property
    def above_chance(self) -> bool:
        """Whether the replies are better than chance somewhere in the range."""
        return self.likelier > _LOG_LIKELIER


def share(places: FloatArray, threshold: FloatArray, spread: FloatArray, best: FloatArray) -> FloatArray:
    """Return the share of right replies at places, with the usual rules of broadcasting.

    >>> share(np.array([0.0, 0.5, 1.0]), np.array(0.5), np.array(0.01), np.array(0.9)).tolist()
    [0.5, 0.7, 0.9]
    """
    z = np.clip((places - threshold) / spread, -60, 60)
    return np.asarray(CHANCE + (best - CHANCE) / (1 + np.exp(-z)), dtype=np.float64)


@lru_cache(maxsize=16)
def _grid(places: tuple[float, ...]) -> Grid:
    thresholds, spreads, bests = (axis.ravel() for axis in np.meshgrid(_THRESHOLDS, _SPREADS, _BESTS, indexing="ij"))
    weights = np.gradient(_BESTS)
    prior = np.broadcast_to(weights, (len(_THRESHOLDS), len(_SPREADS), len(_BESTS))).ravel()
    at = np.array(places)
    shares = share(at[:, None], thresholds, spreads, bests)
    return Grid(
        places=at,
        thresholds=thresholds,
        spreads=spreads,
        bests=bests,
        log_prior=np.log(prior / prior.sum()),
        shares=shares,
        log_right=np.log(shares),
        log_wrong=np.log1p(-shares),
    )


def grid(places: FloatArray) -> Grid:
    """Return the grid of observers for places of shape (n,)."""
    return _grid(tuple(places.round(9).tolist()))


def posterior(observers: Grid, right: Counts, asked: Counts) -> FloatArray:
    """Return the weight of each observer, shape (k,), after ``right`` of ``asked`` trials at each place, both (n,)."""
    return weights_of(observers, likelihood(observers, right, asked))


def likelihood(observers: Grid, right: Counts, asked: Counts) -> FloatArray:
    """Return the logarithm of the likelihood of the replies for each observer, shape (k,); shapes as ``posterior``."""
    return np.asarray(right @ observers.log_right + (asked - right) @ observers.log_wrong, dtype=np.float64)


def weights_of(observers: Grid, log_likelihood: FloatArray) -> FloatArray:
    """Return the weight of each observer from the logarithms of the likelihoods, both of shape (k,)."""
    total = log_likelihood + observers.log_prior
    weights = np.exp(total - total.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def most_telling(observers: Grid, weights: FloatArray, number: int) -> NDArray[np.int64]:
    """Return the positions of the places that tell most about the threshold, one per trial, shape (number,).

    Each trial is chosen after the trials before it, without their replies: the expected variance of the threshold after
    a reply is that of the best linear estimate.
    """
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
    """Return what ``right`` of ``asked`` trials at each place, shapes (n,), tell about the threshold."""
    return fit_of(observers, likelihood(observers, right, asked), int(asked.sum()))


def fit_of(observers: Grid, log_likelihood: FloatArray, trials: int) -> Fit:
    """Return what so many trials tell about the threshold, from the logarithms of their likelihoods, shape (k,)."""
    weights = weights_of(observers, log_likelihood)
    tail = (1 - _CONFIDENCE) / 2
    mass = weights.reshape(len(_THRESHOLDS), len(_SPREADS), len(_BESTS))
    low, median, high = _quantiles(_THRESHOLDS, mass.sum(axis=(1, 2)), (tail, 0.5, 1 - tail))
    least, _, most = _quantiles(_BESTS, mass.sum(axis=(0, 1)), (tail, 0.5, 1 - tail))
    return Fit(
        threshold=median,
        low=low,
        high=high,
        spread=float(np.exp(weights @ np.log(observers.spreads))),
        best=float(weights @ observers.bests),
        best_low=least,
        best_high=most,
        likelier=float(log_likelihood.max()) - trials * log(CHANCE),
    )


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
    """Return how often observers of the posterior reply at least as unlike their curves as the model does.

    This is the posterior predictive p-value of Pearson's chi-square (Gelman, Meng and Stern 1996, Statistica Sinica 6).
    A share near 0 says that no curve of this form fits: the model is worse although the task is easier.
    """
    weights = posterior(observers, right, asked)
    drawn = chance.choice(len(weights), _REPLICAS, p=weights)
    at = np.flatnonzero(asked)
    shares, number = observers.shares[np.ix_(at, drawn)], asked[at, None]
    expected, variance = number * shares, number * shares * (1 - shares)
    replies = chance.binomial(number, shares)
    seen, made = (((one - expected) ** 2 / variance).sum(axis=0) for one in (right[at, None], replies))
    return float(np.mean(made >= seen))
