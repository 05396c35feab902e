"""The mean over classes of the mean of each class, as in ARO (Yuksekgonul et al. 2023), with its interval."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters
from vlgate.metrics.stats import exact_sum, wilson
from vlgate.types import FloatArray, Metric


def macro(
    values: FloatArray, classes: NDArray[np.int64], groups: Clusters | None = None, confidence: float = 0.95
) -> Metric:
    """Compute the mean over classes of the mean of one value per case, with Wilson's interval.

    The n cases are worth ``K**2 / sum(1 / n_k)`` independent ones for K classes of n_k cases (Kish 1965: the effective
    number of weighted cases), divided by the design effect by image.

    Args:
        values: shape (n,), each in 0..1.
        classes: shape (n,), the number of each case's class.
        groups: the images of the cases; None if the cases are independent.
        confidence: of the two-sided interval.

    Returns: the metric; ``n`` counts cases.
    Raises: ValueError if there are no values, or one is NaN or outside 0..1.

    >>> macro(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0, 0, 0, 1])).value
    0.5
    """
    n = values.size
    if n == 0 or not bool(np.all((values >= 0.0) & (values <= 1.0))):
        raise ValueError(f"macro mean of {n} values: expected at least one, each in 0..1")
    _, codes, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    means = np.bincount(codes, weights=values) / sizes
    value = _mean_of_means(values, codes, sizes)
    weights = 1.0 / (sizes.size * sizes[codes])
    kish = 1.0 / float((weights**2).sum())
    deff, widening = 1.0, 1.0
    if groups is not None:
        unbiased = np.sqrt(sizes / np.maximum(1, sizes - 1))[codes]  # a class's own mean is estimated from its cases
        parts = weights * unbiased * (values - means[codes])
        sums = np.bincount(groups.codes, weights=parts).astype(np.float64)
        deff, widening = groups.effect(sums, value * (1 - value) / kish, confidence)
    low, high = wilson(value, max(1.0, kish / widening), confidence)
    return Metric(value=value, low=low, high=high, n=n, deff=deff * n / kish)


def _mean_of_means(values: FloatArray, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """The mean over classes, rounded only once: a sum of rounded means may differ from a threshold by the last bit."""
    of_size = sizes[codes]
    total = sum((exact_sum(values[of_size == size]) / int(size) for size in np.unique(sizes)), Fraction(0))
    return float(total / sizes.size)
