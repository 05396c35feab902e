"""Two runs on the same cases: the difference of a metric with its interval, and whether it may be chance.

A case that is right in the earlier run and wrong in the later one is *broken*, the other way round it is *fixed*.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, comb, inf, sqrt
from statistics import NormalDist

import numpy as np

from vlgate.metrics.clusters import Clusters, each
from vlgate.types import Difference, FloatArray

POWER = 0.80
_MOST_PARTS = 12
_SAME = 1e-9
_STEPS = 60  # of a bisection: the interval is then exact to 2 ** -59


def mcnemar(broken: int, fixed: int, *, exact: bool = False) -> float:
    """Return the two-sided p-value of McNemar's test that breaking and fixing are equally likely.

    The mid-p version (Fagerland, Lydersen, Laake 2013, BMC Medical Research Methodology 13:91) subtracts the
    probability of the counts themselves from the exact conditional p-value, which rejects too seldom.

    Args:
        broken: the number of cases that are right before and wrong after.
        fixed: the number of cases that are wrong before and right after.
        exact: return the exact conditional p-value.

    Returns: a number above 0 and at most 1.
    Raises: ValueError if a count is negative.

    >>> round(mcnemar(1, 7), 4), round(mcnemar(1, 7, exact=True), 4)
    (0.0391, 0.0703)
    """
    if broken < 0 or fixed < 0:
        raise ValueError(f"mcnemar(broken={broken}, fixed={fixed}): expected counts of at least 0")
    total, fewer = broken + fixed, min(broken, fixed)
    itself = float(comb(total, fewer) / 2**total)
    if broken == fixed:
        return 1.0 if exact else 1.0 - itself / 2
    tail = float(2 * sum(comb(total, k) for k in range(fewer + 1)) / 2**total)
    return tail if exact else tail - itself


def tango(broken: float, fixed: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Tango's score interval for the difference of two paired proportions, later minus earlier.

    Its ends are the differences at which the score statistic, with the share of broken cases estimated under that
    difference, equals the normal quantile (Tango 1998, Statistics in Medicine 17, 891-908, section 3).

    Args:
        broken: the number of cases that are right before and wrong after; may be a fraction, as the others, if cases
            count for less than one independent case.
        fixed: the number of cases that are wrong before and right after.
        n: the number of cases, at least ``broken + fixed``.
        confidence: of the two-sided interval.

    Returns: (low, high), both in -1..1.
    Raises: ValueError if there are no cases, or more broken and fixed ones than cases.

    >>> tuple(round(end, 3) for end in tango(7, 1, 21))
    (-0.517, -0.026)
    """
    if n <= 0 or min(broken, fixed) < 0 or broken + fixed > n * (1 + 1e-9):
        raise ValueError(f"tango(broken={broken!r}, fixed={fixed!r}, n={n!r}): expected counts of at most n above 0")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    value = (fixed - broken) / n

    def beyond(difference: float) -> bool:
        """Whether the data lie further than z from a difference."""
        return abs(score(broken, fixed, n, difference)) > z

    return _end(beyond, value, -1.0), _end(beyond, value, 1.0)


def score(broken: float, fixed: float, n: float, difference: float) -> float:
    """Return Tango's score statistic of a difference: how many standard errors the counts lie above it.

    The variance is that under the difference, with the likeliest share of broken cases; see ``tango``.

    >>> round(score(7, 1, 21, 0.0), 3)
    -2.121
    """
    apart = fixed - broken - n * difference
    variance = n * _variance(broken / n, fixed / n, difference)
    return apart / sqrt(variance) if variance > 0.0 else inf * apart if apart else 0.0


def difference(
    before: FloatArray, after: FloatArray, groups: Clusters | None = None, confidence: float = 0.95
) -> Difference:
    """Compute the difference of the means of two values per case, later minus earlier, with its interval.

    The interval is Tango's at the effective number of cases ``n / deff`` if images repeat: the variance between images
    is the sandwich's, the quantile Student's t; see ``Clusters.effect``. A value that is not 0 or 1 is one of equal
    parts, such as the two answers of a case: each part is broken, fixed or unchanged, and the parts of a case are as
    alike as they come out, like the cases of an image, so they count at most as if they always changed together.
    Values of no such parts have twelve, one of which may be broken or fixed by less than a whole.

    Args:
        before: shape (n,), the values of the earlier run, each in 0..1.
        after: shape (n,), the values of the later run, of the same cases.
        groups: the images of the cases; None if the cases are independent.
        confidence: of the two-sided interval.

    Returns: the difference.
    Raises: ValueError if there are no cases, the shapes differ, or a value is NaN or outside 0..1.
    """
    n = before.size
    if n == 0 or before.shape != after.shape:
        raise ValueError(f"difference of shapes {before.shape} and {after.shape}: expected at least one pair")
    if not bool(np.all((before >= 0.0) & (before <= 1.0) & (after >= 0.0) & (after <= 1.0))):
        raise ValueError(f"difference of {n} pairs of values: expected each in 0..1; leave out pairs without a value")
    change = after - before
    value = float(np.sort(change).sum() / n)
    groups = groups or each(n)
    parts = _parts(change)
    units = _units(change, parts)
    deff, whole = _effect(change, groups, value, confidence)
    _, widening = _effect(units, groups.repeated(parts), value, confidence)
    widening = min(widening, parts * whole)  # parts that always change together are no fewer than whole changes
    lost, won = (float(np.sort(np.maximum(0.0, sign * units)).sum()) for sign in (-1, 1))
    low, high = tango(lost / widening, won / widening, units.size / widening, confidence)
    broken, fixed = int((change < 0).sum()), int((change > 0).sum())
    return Difference(
        value=value, low=min(low, value), high=max(high, value), n=n, broken=broken, fixed=fixed, deff=deff
    )


def _effect(change: FloatArray, groups: Clusters, value: float, confidence: float) -> tuple[float, float]:
    """The design effect of a mean change, beside the variance of cases that each change wholly or not at all."""
    sums = np.bincount(groups.codes, weights=change) - groups.sizes * value
    independent = float(np.sort(np.abs(change)).sum()) - change.size * value * value
    return groups.effect(sums, independent, confidence, groups.surplus((change - value) ** 2))


def _parts(change: FloatArray) -> int:
    """The number of equal parts that each change is a whole number of, or at most ``_MOST_PARTS``."""
    different = np.unique(change)
    for parts in range(1, _MOST_PARTS):
        if bool(np.all(np.abs(different * parts - np.rint(different * parts)) < _SAME)):
            return parts
    return _MOST_PARTS


def _units(change: FloatArray, parts: int) -> FloatArray:
    """The change of each part of each case, shape (n * parts,), in -1..1: whole ones, and what is left of one."""
    amounts = np.abs(change) * parts
    amounts = np.where(np.abs(amounts - np.rint(amounts)) < _SAME, np.rint(amounts), amounts)
    return np.asarray((np.sign(change)[:, None] * np.clip(amounts[:, None] - np.arange(parts), 0.0, 1.0)).reshape(-1))


def cases_for_margin(margin: float, changing: float, confidence: float = 0.95, power: float = POWER) -> int:
    """Return how many independent cases show that an unchanged metric drops by less than a margin.

    By the normal approximation, with the variance of Tango's interval at the margin, and for the power that of an
    unchanged metric, in which breaking and fixing are equally likely.

    Args:
        margin: the largest drop that is accepted, above 0.
        changing: the share of cases that are right in one run and wrong in the other.
        confidence: of the two-sided interval whose lower end must stay above the drop.
        power: the probability that it does.

    Returns: the number of cases.
    Raises: ValueError if a margin or share is not in 0..1, or the margin is 0.

    >>> cases_for_margin(0.05, 0.10), cases_for_margin(0.02, 0.10)
    (350, 2005)
    """
    if not 0.0 < margin <= 1.0 or not 0.0 <= changing <= 1.0:
        raise ValueError(f"cases_for_margin(margin={margin}, changing={changing}): expected fractions, margin above 0")
    normal = NormalDist()
    under = normal.inv_cdf(0.5 + confidence / 2) * sqrt(_variance(changing / 2, changing / 2, -margin))
    over = normal.inv_cdf(power) * sqrt(changing)
    return max(1, ceil(((under + over) / margin) ** 2))


def cases_for_bound(value: float, bound: float, confidence: float = 0.95, power: float = POWER) -> int | None:
    """Return how many independent cases decide whether a metric lies beyond a bound, if its value stays as it is.

    By the normal approximation with the variance under the bound for the interval, and that under the value for the
    power.

    Args:
        value: the metric as measured, in 0..1.
        bound: the threshold that its interval contains, in 0..1.
        confidence: of the two-sided interval.
        power: the probability that the interval no longer contains the bound.

    Returns: the number of cases; None if the value is the bound, so that no number decides.

    >>> cases_for_bound(0.60, 0.50), cases_for_bound(0.5, 0.5)
    (194, None)
    """
    if abs(value - bound) < 1e-9:  # the same number, but for rounding
        return None
    normal = NormalDist()
    under = normal.inv_cdf(0.5 + confidence / 2) * sqrt(bound * (1 - bound))
    over = normal.inv_cdf(power) * sqrt(value * (1 - value))
    return max(1, ceil(((under + over) / (value - bound)) ** 2))


def _variance(broken: float, fixed: float, difference: float) -> float:
    """The variance of the change of one case, if the difference is given and the shares of the rest are likeliest."""
    linear = (2 - fixed + broken) * difference - fixed - broken
    constant = -broken * difference * (1 - difference)
    lost = (sqrt(max(0.0, linear * linear - 8 * constant)) - linear) / 4
    return max(0.0, 2 * lost + difference * (1 - difference))


def _end(beyond: Callable[[float], bool], inside: float, outside: float) -> float:
    """Find the end of an interval between its value and the end of the scale, by bisection."""
    if not beyond(outside):
        return outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
    return outside
