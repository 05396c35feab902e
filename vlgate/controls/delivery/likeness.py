"""Whether replies are those to one picture or to another, and whether a view of the canaries is understood better."""

from __future__ import annotations

from math import comb

import numpy as np

from vlgate.types import FloatArray

NEAR = 0.1
"""Replies are those to a picture if they differ from them by a tenth of what they differ from the others."""
LEAST = 0.05
"""The least difference between the replies to two pictures that tells them apart, as a share of their spread."""
SIGNIFICANT = 0.005


def distance(some: FloatArray, others: FloatArray) -> float:
    """Return the mean absolute difference of two arrays of scores of one shape; NaN if no place has both."""
    apart = np.abs(some - others)
    return float(np.nanmean(apart)) if np.isfinite(apart).any() else float("nan")


def follows(replies: FloatArray, twin: FloatArray, right: FloatArray) -> bool:
    """Return whether replies are those to a wrong twin of some pictures, and not those to the right pictures.

    Args:
        replies: scores of shape (n, k).
        twin: the scores of the twins.
        right: the scores of the pictures as they should arrive.

    >>> follows(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]), np.array([[5.0, 1.0]]))
    True
    """
    between = distance(twin, right)
    if not between > LEAST * spread(right):
        return False
    return distance(replies, twin) <= NEAR * distance(replies, right)


def spread(scores: FloatArray) -> float:
    """Return the standard deviation of scores, without those that are missing."""
    return float(np.nanstd(scores)) if np.isfinite(scores).any() else 0.0


def leads(scores: FloatArray) -> FloatArray:
    """Return by how much the first text of each picture, the true one, leads the mean of the others, shape (n,)."""
    return np.asarray(scores[:, 0] - scores[:, 1:].mean(axis=1), dtype=np.float64)


def recognised(scores: FloatArray) -> FloatArray:
    """Return 1.0 for each picture whose first text scores above all others, 0.0 for the rest, shape (n,)."""
    return np.asarray((scores[:, :1] > scores[:, 1:]).all(axis=1), dtype=np.float64)


def better(view: FloatArray, plain: FloatArray, by: float) -> bool:
    """Return whether canaries are understood better in a view than as they are.

    Args:
        view: the replies to n canaries in the view, shape (n, 4).
        plain: the replies to them as they are.
        by: how many times as large the mean lead must be.

    Returns: whether it is, whether more canaries lead further than a fair coin would say, and whether more are
        recognised in the view than by guessing (one-sided exact binomial tests, p < ``SIGNIFICANT``).
    """
    ahead, before = leads(view), leads(plain)
    if not ahead.mean() > max(0.0, by * float(before.mean())):
        return False
    seen, guessing = recognised(view), 1 / view.shape[1]
    further = tail(int((ahead > before).sum()), len(ahead)) < SIGNIFICANT
    return further and tail(int(seen.sum()), len(seen), guessing) < SIGNIFICANT


def behind(scores: FloatArray) -> bool:
    """Return whether the true texts of more canaries score below the mean of the others than by guessing."""
    return tail(int((leads(scores) < 0).sum()), len(scores)) < SIGNIFICANT


def tail(successes: int, n: int, chance: float = 0.5) -> float:
    """Return the exact probability of at least so many successes in n draws.

    >>> tail(2, 2), tail(0, 9)
    (0.25, 1.0)
    """
    return min(1.0, sum(comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(successes, n + 1)))
