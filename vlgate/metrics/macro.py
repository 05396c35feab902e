"""The mean over classes of the mean of each class, as in ARO (Yuksekgonul et al. 2023), with its interval."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters, each
from vlgate.metrics.stats import exact_sum, wilson
from vlgate.types import FloatArray, Metric

_ROUNDING = 1e-12


def macro(
    values: FloatArray, classes: NDArray[np.int64], groups: Clusters | None = None, confidence: float = 0.95
) -> Metric:
    """Compute the mean over classes of the mean of one value per case, with Wilson's interval.

    The n cases are worth at most ``K**2 / sum(1 / n_k)`` independent ones for K classes of n_k cases (Kish 1965: the
    effective number of weighted cases), and less if the classes with few cases vary more: the variance is that within
    classes. It is estimated with pseudo-cases, half of them right: two for all classes together, shared by their parts
    of ``sum(1 / n_k)``, so a small class that is all right or all wrong by chance is not taken for certain; and what a
    class differs from the mean counts like one more case. The cases are divided by the design effect by image; those of
    a class of one image count as one.

    The end nearer to 0 or 1 reaches at least as far as the limits of the classes together say (Zou, Donner 2008, the
    square root of the summed squares of the distances of Wilson's limits), which are not symmetric.

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
    groups = groups or each(n)
    images = np.bincount(np.unique(codes * n + groups.codes) // n)  # of each class
    independent = _variance(means, np.where(images > 1, sizes, 1), value)
    deff, widening = 1.0, 1.0
    if not groups.single:
        unbiased = np.sqrt(images / np.maximum(1, images - 1))[codes]  # a class's own mean is estimated from its images
        parts = weights * unbiased * (values - means[codes])
        sums = np.bincount(groups.codes, weights=parts).astype(np.float64)
        expected = (np.bincount(codes, weights=parts**2) / sizes)[codes]
        deff, widening = groups.effect(sums, independent, confidence, groups.surplus(parts**2, expected))
    same = value * (1 - value) / kish  # the variance if all classes were alike
    more = max(1.0, independent / same) if same > _ROUNDING else 1.0
    low, high = wilson(value, max(1.0, kish / (more * widening)), confidence)
    if value != 0.5:
        nearer = _nearer(means, sizes / widening, value, confidence)
        low, high = min(low, nearer), max(high, nearer)
    return Metric(value=value, low=low, high=high, n=n, deff=more * deff * n / kish)


def _variance(means: FloatArray, sizes: NDArray[np.int64], value: float) -> float:
    """The variance of the mean of the classes if their cases are independent."""
    pseudo = (1 / sizes) / float((1 / sizes).sum())  # as many right cases and as many wrong ones
    shares = (means * sizes + pseudo) / (sizes + 2 * pseudo)
    within = shares * (1 - shares) + (means - value) ** 2 / sizes
    return float((within / sizes).sum()) / sizes.size**2


def _nearer(means: FloatArray, sizes: FloatArray, value: float, confidence: float) -> float:
    """The end of the interval that is nearer to 0 or 1, from the limits of the classes."""
    end = int(value > 0.5)
    limits = [wilson(min(1.0, mean), max(1.0, n), confidence)[end] for mean, n in zip(means, sizes, strict=True)]
    distance = float(np.sqrt(((np.array(limits) - means) ** 2).sum())) / means.size
    return min(1.0, value + distance) if end else max(0.0, value - distance)


def _mean_of_means(values: FloatArray, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """The mean over classes, rounded only once: a sum of rounded means may differ from a threshold by the last bit."""
    of_size = sizes[codes]
    total = sum((exact_sum(values[of_size == size]) / int(size) for size in np.unique(sizes)), Fraction(0))
    return float(total / sizes.size)
