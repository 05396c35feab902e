"""A metric before its interval is computed: the values or scores of the cases that it is made from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters
from vlgate.metrics.macro import macro
from vlgate.metrics.stats import area, proportion, separation, smaller
from vlgate.types import FloatArray, Metric, Ties

_TIE = {"strict": 0.0, "half": 0.5, "credit": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """A metric that is the mean of one value per case, each in 0..1, shape (m,).

    If a value is of a set of cases, the case in ``rows`` stands for it, and ``sets`` numbers the set of each of all
    cases, -1 for none.
    """

    values: FloatArray
    rows: NDArray[np.intp]
    sets: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Smaller:
    """A metric that is the smaller of the means of two values per case, each in 0..1, shape (m,)."""

    first: FloatArray
    second: FloatArray
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A metric that is the area under the ROC curve of a true and a false text's score per case, shape (m,)."""

    positive: FloatArray
    negative: FloatArray
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """A metric that is the area under the ROC curve of one score per case, shape (m,), whose truth is yes or no."""

    scores: FloatArray
    truths: NDArray[np.bool_]
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro:
    """A metric that is the mean over classes of the mean of one value per case; ``classes`` numbers the classes."""

    values: FloatArray
    classes: NDArray[np.int64]
    rows: NDArray[np.intp]


Measure = Values | Smaller | Area | Separation | Macro
"""``rows`` holds the positions of the m cases that the measure is defined on, in the arrays that it was made from."""


def estimate(measure: Measure, groups: Clusters | None = None, confidence: float = 0.95) -> Metric:
    """Compute a measure with its interval.

    Args:
        measure: the measure.
        groups: the images of the m cases that the measure is defined on; None if they are independent.
        confidence: of the two-sided interval.

    Returns: the metric.
    """
    if isinstance(measure, Values):
        cases = np.unique(measure.rows).size
        if cases == measure.rows.size:
            return proportion(measure.values, groups, confidence)
        return replace(proportion(measure.values, groups, confidence, measure.rows), n=cases)  # a case counts twice
    if isinstance(measure, Smaller):
        return smaller(measure.first, measure.second, groups, confidence)
    if isinstance(measure, Separation):
        return separation(measure.scores, measure.truths, groups, confidence)
    if isinstance(measure, Macro):
        return macro(measure.values, measure.classes, groups, confidence)
    return area(measure.positive, measure.negative, groups, confidence)


def clusters_of(measure: Measure, groups: Clusters) -> Clusters:
    """Return the clusters of the m cases of a measure, from those of all cases; a set of cases has all their images."""
    if isinstance(measure, Values) and measure.sets is not None:
        groups = groups.joined(measure.sets)
    return groups.take(measure.rows)


def of_ties(tied: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return the fact ``tied`` of answers: 1 for a tie of choices and NaN for all else; no fact if there is no tie.

    >>> of_ties(np.array([False, False]))
    {}
    """
    return {"tied": np.where(tied, 1.0, np.nan)} if tied.any() else {}


def wins(better: FloatArray, worse: FloatArray, ties: Ties = "strict") -> FloatArray:
    """Compare each score that should be higher with the one that should be lower.

    Args:
        better: shape (n,), the scores that should be higher.
        worse: shape (n,), the scores that should be lower.
        ties: what an exact tie counts: ``strict`` 0, ``half`` 1/2, ``credit`` 1.

    Returns: shape (n,), 1.0 if ``better > worse``, 0.0 if ``better < worse``, and what a tie counts if they are equal.
    Raises: ValueError if a score is NaN.

    >>> wins(np.array([2.0, 1.0, 1.0]), np.array([1.0, 1.0, 2.0])).tolist()
    [1.0, 0.0, 0.0]
    """
    if bool(np.isnan(better).any() or np.isnan(worse).any()):
        raise ValueError("a score is NaN: expected numbers; leave out the cases without a score, which are unscored")
    return np.where(better == worse, _TIE[ties], (better > worse).astype(np.float64))
