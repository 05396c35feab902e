"""A conditional logit model (McFadden 1974), cross-fitted: how likely each candidate of a choice is the right one.

A candidate has features, and the probability of each candidate of a choice is the softmax of a weighted sum of them.
For two candidates this is a logistic regression of the difference of their features, without a constant: a model that
has learnt nothing gives both the same probability.
"""

from __future__ import annotations

import numpy as np

from vlgate.health.text_classifier import IntArray
from vlgate.shortcuts.choices import BoolArray, Choices, Features
from vlgate.types import FloatArray

_RIDGE = 4.0  # the precision of a normal prior of the weights, for features of variance 1: small tasks overfit with 1
_STEPS = 50  # of Newton's method, which needs fewer than twenty
_SMALL = 1e-6
_MARGIN = 1.0  # of log-likelihood: 40 cases whose foils have commoner words by chance have less
_ROUNDING = 1e-9  # of a feature: far more than the error of a mean, far less than what tells two texts apart
_LARGEST = 30.0  # of a weighted sum, beyond which exp() says nothing more


def likelihoods(found: Choices, features: Features, rising: BoolArray | None = None) -> FloatArray:
    """Return the probability of each candidate, learnt from the choices of the other folds.

    Args:
        found: the choices.
        features: the features of the candidates by the fold that is left out; NaN counts as the mean of the choice.
        rising: the features that may speak for a candidate and never against it, shape (f,); None for no such feature.

    Returns: probabilities of shape (m,), which add up to 1 in each choice. They are equal if the choices teach no more
        than chance does: if the weights raise the log-likelihood of the choices that they are learnt from by no more
        than 1 beyond their number (Akaike 1974), on average over the folds. One fold does not decide for itself: what
        the others teach of a task that is balanced exactly is the opposite of what is true in it.
    """
    chance = 1 / np.bincount(found.owners, minlength=len(found.cases))
    even = chance[found.owners].astype(np.float64)
    result, surplus = even.copy(), []
    folds = found.folds[found.owners]
    for fold in np.unique(found.folds).tolist():
        inside = folds == fold
        if inside.all():
            continue
        rows = centred(features(fold), found)
        rows /= _scale(rows[~inside])
        weights, more = _rising(rows[~inside], found.owners[~inside], found.true[~inside], rising)
        surplus.append(more)
        result[inside] = _softmax(rows[inside] @ weights, found.owners[inside])
    return result if surplus and np.mean(surplus) > _MARGIN else even


def _rising(rows: FloatArray, owners: IntArray, true: BoolArray, rising: BoolArray | None) -> tuple[FloatArray, float]:
    """Return weights, shape (f,), and by how much they are worth more than their number, as ``_fitted`` does.

    A feature that may only speak for a candidate has the weight 0 if it would speak against it.
    """
    if rising is None:
        return _fitted(rows, owners, true)
    used, weights, surplus = np.ones(rows.shape[1], dtype=np.bool_), np.zeros(rows.shape[1]), 0.0
    while used.any():
        weights[used], surplus = _fitted(rows[:, used], owners, true)
        against = used & rising & (weights < 0)
        if not against.any():
            return weights, surplus
        used &= ~against
        weights[:] = 0.0
    return weights, 0.0


def centred(features: FloatArray, found: Choices) -> FloatArray:
    """Return features with mean 0 within each choice, shape (m, f); NaN is 0.

    What differs from the mean by an error of rounding is 0: the error depends on the order of the candidates, and so on
    which of them is right.
    """
    known = np.isfinite(features)
    counted = np.where(known, features, 0.0)
    numbers = np.add.reduceat(known.astype(np.float64), found.starts, axis=0)
    means = np.add.reduceat(counted, found.starts, axis=0) / np.maximum(numbers, 1.0)
    result = np.where(known, features - means[found.owners], 0.0)
    return np.where(np.abs(result) > _ROUNDING * np.abs(counted), result, 0.0)


def _scale(rows: FloatArray) -> FloatArray:
    """The root of the mean square of each feature over the choices that it divides, so that a rare mark stays small."""
    differs = np.maximum((rows != 0).sum(axis=0), 1)
    scale = np.sqrt((rows**2).sum(axis=0) / differs)
    return np.where(scale > 0, scale, 1.0)


def _fitted(rows: FloatArray, owners: IntArray, true: BoolArray) -> tuple[FloatArray, float]:
    """The weights with the highest posterior probability, shape (f,), by Newton's method with halved steps.

    The second number is by how much they raise the log-likelihood beyond their number, as far as the prior leaves them
    free, which counts more if there are few choices (Hurvich and Tsai 1989).
    """
    weights = np.zeros(rows.shape[1])
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    number = np.cumsum(np.diff(owners, prepend=-1) != 0) - 1

    def likelihood(found: FloatArray) -> float:
        """Return the logarithm of the probability of the truths."""
        return float(np.log(_softmax(rows @ found, owners)[true]).sum())

    def posterior(found: FloatArray) -> float:
        """Return the logarithm of the posterior probability of weights, but for a constant."""
        return likelihood(found) - float(_RIDGE / 2 * found @ found)

    best = start = posterior(weights)
    curve = _RIDGE * np.eye(len(weights))
    for _ in range(_STEPS):
        likely = _softmax(rows @ weights, owners)
        slope = rows.T @ (true - likely) - _RIDGE * weights
        means = np.add.reduceat(rows * likely[:, None], starts, axis=0)
        away = rows - means[number]
        curve = (away * likely[:, None]).T @ away + _RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        while (now := posterior(weights + step)) < best and np.abs(step).max() > _SMALL:
            step /= 2
        weights, best = weights + step, now
        if np.abs(step).max() < _SMALL:
            break
    numbers = len(weights) - _RIDGE * float(np.trace(np.linalg.inv(curve)))
    spare = len(starts) - numbers - 1
    corrected = numbers * (1 + (numbers + 1) / spare) if spare > 0 else np.inf
    return weights, likelihood(weights) - start - corrected


def _softmax(values: FloatArray, owners: IntArray) -> FloatArray:
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    number = np.cumsum(np.diff(owners, prepend=-1) != 0) - 1
    highest = np.maximum.reduceat(values, starts)
    powers = np.exp(np.maximum(values - highest[number], -_LARGEST))
    return np.asarray(powers / np.add.reduceat(powers, starts)[number], dtype=np.float64)
