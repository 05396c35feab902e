"""Intervals at the effective number of cases: Wilson's for means, and that of DeLong and Obuchowski for areas."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, fsum, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters, each
from vlgate.types import FloatArray, Metric

_PARTS, _LAST_BITS = 1000, 1e-14  # of the fractions that a case can count, and how far a float is from them
_STEPS = 50  # of a bisection between 1 and 1e12, whose result is then exact to thirteen digits


def wilson(value: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion of ``n`` cases (Wilson 1927, JASA 22; Brown, Cai, DasGupta 2001).

    For a mean of values that are not all 0 or 1 the interval is wider than necessary, because their variance is at most
    ``value * (1 - value)``.

    Returns: (low, high), both in 0..1, with ``low <= value <= high``.
    Raises: ValueError if ``n`` is not positive or ``value`` is not in 0..1.

    >>> tuple(round(end, 3) for end in wilson(0.669, 505))
    (0.627, 0.709)
    """
    if n <= 0 or not 0.0 <= value <= 1.0:
        raise ValueError(f"wilson(value={value!r}, n={n!r}): expected a value in 0..1 and n above 0")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre = (value + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (value * (1 - value) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half))


def mean(values: FloatArray) -> float:
    """Return the mean of simple fractions, shape (n,), rounded only once."""
    # So the mean of values such as 1/2 or 1/6 equals a threshold that is written as a decimal number exactly if the
    # fractions do, whatever the order of the cases is.
    return float(exact_sum(values) / values.size)


def exact_sum(values: FloatArray) -> Fraction:
    """Return the sum of values that are simple fractions, shape (n,), without rounding."""
    rest = values * 4
    rest -= np.rint(rest)
    if not rest.any():  # halves and quarters add up exactly
        return Fraction(float(values.sum()))
    distinct, counts = np.unique(values, return_counts=True)
    parts = [Fraction(one).limit_denominator(_PARTS) for one in distinct[:_PARTS].tolist()]
    if distinct.size > _PARTS or any(abs(part - one) > _LAST_BITS for part, one in zip(parts, distinct, strict=True)):
        return Fraction(fsum(values.tolist()))
    return sum((part * count for part, count in zip(parts, counts.tolist(), strict=True)), Fraction(0))


def worth(metric: Metric, confidence: float = 0.95) -> float:
    """Return the number of independent cases whose Wilson interval is as wide as that of a metric."""
    width, few, many = metric.high - metric.low, 1.0, 1e12
    for _ in range(_STEPS):
        middle = sqrt(few * many)
        low, high = wilson(metric.value, middle, confidence)
        few, many = (middle, many) if high - low > width else (few, middle)
    return sqrt(few * many)


def proportion(
    values: FloatArray, groups: Clusters | None = None, confidence: float = 0.95, rows: NDArray[np.intp] | None = None
) -> Metric:
    """Compute the mean of one value per case with Wilson's interval at the effective number of cases ``n / deff``.

    With shared images the interval is that of Student's t (Dean, Pagano 2015; Franco et al. 2019); see
    ``Clusters.effect``. It is never narrower than that of independent cases, nor wider than that of a
    single case.

    Args:
        values: shape (n,), each in 0..1.
        groups: the images of the cases; None if the cases are independent.
        confidence: of the two-sided interval.
        rows: shape (n,), the number of the case of each value, if a case may count several times, as in F1.

    Returns: the metric.
    Raises: ValueError if there are no values, or one is NaN or outside 0..1.
    """
    n = values.size
    if n == 0 or not bool(np.all((values >= 0.0) & (values <= 1.0))):
        raise ValueError(f"proportion of {n} values: expected at least one, each in 0..1")
    value = mean(values)
    if groups is None or groups.single:
        low, high = wilson(value, n, confidence)
        return Metric(value=value, low=low, high=high, n=n)
    sums = np.bincount(groups.codes, weights=values) - groups.sizes * value
    surplus = _surplus(values - value, groups, rows)
    deff, widening = groups.effect(sums, n * value * (1 - value), confidence, surplus)
    low, high = wilson(value, max(1.0, n / widening), confidence)
    return Metric(value=value, low=low, high=high, n=n, deff=deff)


def _surplus(contributions: FloatArray, groups: Clusters, rows: NDArray[np.intp] | None) -> float:
    """``Clusters.surplus``, in which the contributions of a case that counts several times are one."""
    if rows is None or groups.equal:
        return groups.surplus(contributions**2)
    _, first, cases = np.unique(rows, return_index=True, return_inverse=True)
    sums = np.bincount(cases.reshape(-1), weights=contributions).astype(np.float64)
    return groups.take(first).surplus(sums**2)


def smaller(first: FloatArray, second: FloatArray, groups: Clusters | None = None, confidence: float = 0.95) -> Metric:
    """Compute the smaller of the means of two values per case, with the interval of that mean.

    The interval covers the smaller of the two expected values as often as an interval of one mean does. If both are
    equal, the smaller mean lies below them, and the interval misses them nearly always on that side: both intervals
    must lie above them to miss on the other. So its lower end is cautious.

    Args:
        first: shape (n,), each in 0..1.
        second: shape (n,), each in 0..1.
        groups: the images of the cases; None if the cases are independent.
        confidence: of the two-sided interval.

    Returns: the metric. If both means are equal, that with the wider interval.
    Raises: ValueError as ``proportion`` does.
    """
    found = (proportion(values, groups, confidence) for values in (first, second))
    return min(found, key=lambda metric: (metric.value, metric.low - metric.high, -metric.deff))


def area(
    positive: FloatArray, negative: FloatArray, groups: Clusters | None = None, confidence: float = 0.95
) -> Metric:
    """Compute the area under the ROC curve of n pairs of a true and a false text, with its interval.

    The area is the share of the combinations of any true text with any false one in which the true text scores higher;
    a tie counts 1/2 (Hanley, McNeil 1982). Its variance is that of DeLong, DeLong and Clarke-Pearson (1988), summed by
    image (Obuchowski 1997), and the interval is symmetric in the logit of the area. Near 0 and 1 that is too narrow, so
    each end reaches at least as far as Newcombe's (2006, method 5), whose variance depends on the area, times what the
    pairs and images make of the variance of independent texts. An area of 0 or 1 has Wilson's interval at the effective
    number of pairs. It takes O(n log n).

    Args:
        positive: shape (n,), the scores of the true texts.
        negative: shape (n,), the scores of the false texts.
        groups: the images of the pairs; None if the pairs are independent.
        confidence: of the two-sided interval.

    Returns: the metric.
    Raises: ValueError if there are no pairs, or a score is NaN.
    """
    n = positive.size
    if n == 0 or bool(np.isnan(positive).any() or np.isnan(negative).any()):
        raise ValueError(f"auroc of {n} pairs: expected at least one, and no score that is NaN")
    groups = groups or each(n)
    above, below = _won(positive, negative), _won(-negative, -positive)
    placed = above + below
    value = min(1.0, float(placed.sum()) / (2 * n * n))
    # A case contributes (placed / n - 2 * value) / n to the error of the area; the sums of ``placed`` are exact.
    sums = np.bincount(groups.codes, weights=placed) / n - groups.sizes * (2 * value)
    independent = float(np.sort((placed / n - 2 * value) ** 2).sum()) * n / max(1, n - 1)
    surplus = groups.surplus((placed / n - 2 * value) ** 2)
    deff, widening = groups.effect(sums, independent, confidence, surplus)
    apart = sum(float(np.sort((part / n - value) ** 2).sum()) for part in (above, below)) * n / max(1, n - 1)
    ratio = widening * (independent / apart if apart > 0.0 else 1.0)
    low, high = _of_area(value, sqrt(widening * independent) / n, n / widening, confidence)
    least, most = _newcombe(value, (n, n), ratio, confidence)
    return Metric(value=value, low=min(low, least), high=max(high, most), n=n, deff=deff)


def separation(
    scores: FloatArray, truths: NDArray[np.bool_], groups: Clusters | None = None, confidence: float = 0.95
) -> Metric:
    """Compute the area under the ROC curve of n cases, each either true or false, with its interval.

    It is defined as in ``area``, and has the same interval, for cases that are not paired. An area of 0 or 1 has
    Wilson's interval at the effective number of the rarer truth, which ``rarer`` of the metric counts.

    Args:
        scores: shape (n,).
        truths: shape (n,).
        groups: the images of the cases; None if the cases are independent.
        confidence: of the two-sided interval.

    Returns: the metric.
    Raises: ValueError if no case is true, or none is false.
    """
    positive, negative = scores[truths], scores[~truths]
    few = min(positive.size, negative.size)
    if few == 0:
        raise ValueError("auroc of cases that are all true, or all false: expected at least one of each")
    groups = groups or each(scores.size)
    value = min(1.0, float(_won(positive, negative).sum()) / (positive.size * negative.size))
    parts = np.empty(scores.size)
    parts[truths] = (_won(positive, negative) / negative.size - value) / positive.size
    parts[~truths] = (_won(-negative, -positive) / positive.size - value) / negative.size
    both = parts[truths], parts[~truths]
    independent = sum(float(np.sort(part**2).sum()) * part.size / max(1, part.size - 1) for part in both)
    sums = np.bincount(groups.codes, weights=parts).astype(np.float64)
    squares = parts**2
    expected = np.where(truths, squares[truths].mean(), squares[~truths].mean())
    deff, widening = groups.effect(sums, independent, confidence, groups.surplus(squares, expected))
    low, high = _of_area(value, sqrt(widening * independent), few / widening, confidence)
    least, most = _newcombe(value, (positive.size, negative.size), widening, confidence)
    return Metric(value=value, low=min(low, least), high=max(high, most), n=scores.size, deff=deff, rarer=few)


def _of_area(value: float, error: float, n: float, confidence: float) -> tuple[float, float]:
    """The interval of an area, symmetric in its logit; Wilson's of ``n`` cases if the area has no standard error."""
    spread = value * (1 - value)
    if spread <= 0.0 or error <= 0.0:
        return wilson(value, max(1.0, n), confidence)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error / spread
    low, high = (_logistic(log(value / (1 - value)) + side * half) for side in (-1, 1))
    return min(low, value), max(high, value)


def _newcombe(value: float, sizes: tuple[int, int], ratio: float, confidence: float) -> tuple[float, float]:
    """The interval of an area by its score (Newcombe 2006, Statistics in Medicine 25, 559-573, method 5)."""
    z, half = NormalDist().inv_cdf(0.5 + confidence / 2), sum(sizes) / 2 - 1

    def beyond(area: float) -> bool:
        variance = area * (1 - area) * (1 + half * (1 - area) / (2 - area) + half * area / (1 + area))
        return (value - area) ** 2 > z * z * ratio * variance / (sizes[0] * sizes[1])

    return _end(beyond, value, 0.0), _end(beyond, value, 1.0)


def _end(beyond: Callable[[float], bool], inside: float, outside: float) -> float:
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
    return inside


def _won(scores: FloatArray, others: FloatArray) -> FloatArray:
    order = np.sort(others)
    return (np.searchsorted(order, scores, "left") + np.searchsorted(order, scores, "right")) / 2


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
