"""Two runs on the same cases: the difference of a metric with its interval, and whether it may be chance.

A case that is right in the earlier run and wrong in the later one is *broken*, the other way round it is *fixed*.
"""

from collections.abc import Callable
from math import ceil, exp, inf, log, sqrt
from statistics import NormalDist
from sys import float_info

import numpy as np

from vlgate.metrics.clusters import Clusters, each
from vlgate.metrics.stats import mean
from vlgate.types import Difference, FloatArray

POWER = 0.80
_SMALLEST, _P_STEPS = 1e-12, 40  # of a p-value from an interval, and of its bisection
_MOST_PARTS = 12
_SAME = 1e-9
_STEPS = 60  # of a bisection: the interval is then exact to 2 ** -59


def mcnemar(broken: int, fixed: int, *, exact: bool = False) -> float:
    # The mid-p version (Fagerland, Lydersen, Laake 2013, BMC Medical Research Methodology 13:91) subtracts the
    # probability of the counts themselves from the exact conditional p-value, which rejects too seldom.
    if broken < 0 or fixed < 0:
        raise ValueError(f"mcnemar(broken={broken}, fixed={fixed}): expected counts of at least 0")
    total, fewer = broken + fixed, min(broken, fixed)
    if total == 0 or (exact and broken == fixed):
        return 1.0
    ways, below = 1, 0  # of choosing ``fewer`` cases, and fewer than that
    for k in range(fewer):
        below, ways = below + ways, ways * (total - k) // (k + 1)
    if broken == fixed:
        return 1.0 - float(ways / 2**total) / 2
    return max(float_info.min, float((2 * below + (2 * ways if exact else ways)) / 2**total))


def chance_of_change(before: FloatArray, after: FloatArray, groups: Clusters | None = None) -> float:
    # Independent cases that are right or wrong have McNemar's mid-p value. If images repeat, or if a case can change by
    # a part, it is the p-value that belongs to the interval of ``difference``: 1 less the largest confidence at which
    # the interval does not contain 0. So it is below 0.05 exactly if the interval of 95 % does not contain 0.
    change = after - before
    if not change.any():
        return 1.0
    if (groups is None or groups.single) and whole(change):
        return mcnemar(int((change < 0).sum()), int((change > 0).sum()))
    low, high = log(_SMALLEST), 0.0
    for _ in range(_P_STEPS):
        middle = (low + high) / 2
        ends = difference(before, after, groups, 1 - exp(middle))
        low, high = (low, middle) if ends.low > 0.0 or ends.high < 0.0 else (middle, high)
    return exp(high)


def whole(change: FloatArray) -> bool:
    """Return whether each change, shape (n,), is 0 or between wrong and right, not a part of that."""
    return bool(np.all((change == 0) | (np.abs(change) == 1)))


def tango(broken: float, fixed: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Tango's score interval for the difference of two paired proportions, later minus earlier."""
    # Its ends are the differences at which the score statistic, with the share of broken cases estimated under that
    # difference, equals the normal quantile (Tango 1998, Statistics in Medicine 17, 891-908, section 3).
    if n <= 0 or min(broken, fixed) < 0 or broken + fixed > n * (1 + 1e-9):
        raise ValueError(f"tango(broken={broken!r}, fixed={fixed!r}, n={n!r}): expected counts of at most n above 0")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    value = (fixed - broken) / n

    def beyond(difference: float) -> bool:
        return abs(score(broken, fixed, n, difference)) > z

    return _end(beyond, value, -1.0), _end(beyond, value, 1.0)


def score(broken: float, fixed: float, n: float, difference: float) -> float:
    """Return Tango's score statistic of a difference: how many standard errors the counts lie above it."""
    apart = fixed - broken - n * difference
    variance = n * _variance(broken / n, fixed / n, difference)
    return apart / sqrt(variance) if variance > 0.0 else inf * apart if apart else 0.0


def difference(
    before: FloatArray, after: FloatArray, groups: Clusters | None = None, confidence: float = 0.95
) -> Difference:
    """Compute the difference of the means of two values per case, later minus earlier, with its interval."""
    # The interval is Tango's at the effective number of cases ``n / deff`` if images repeat: the variance between
    # images is the sandwich's, the quantile Student's t; see ``Clusters.effect``. A value that is not 0 or 1 is one of
    # equal parts, such as the two answers of a case: each part is broken, fixed or unchanged, and the parts of a case
    # are as alike as they come out, like the cases of an image, so they count at most as if they always changed
    # together. Values of no such parts have twelve, one of which may be broken or fixed by less than a whole.
    n = before.size
    if n == 0 or before.shape != after.shape:
        raise ValueError(f"difference of shapes {before.shape} and {after.shape}: expected at least one pair")
    if not bool(np.all((before >= 0.0) & (before <= 1.0) & (after >= 0.0) & (after <= 1.0))):
        raise ValueError(f"difference of {n} pairs of values: expected each in 0..1; leave out pairs without a value")
    change = after - before
    value = mean(change)
    groups = groups or each(n)
    parts = _parts(change)
    amounts = np.abs(change) * parts  # of each part of each case: whole changes, and what is left of one
    amounts = np.where(np.abs(amounts - np.rint(amounts)) < _SAME, np.rint(amounts), amounts)
    units = np.asarray((np.sign(change)[:, None] * np.clip(amounts[:, None] - np.arange(parts), 0.0, 1.0)).reshape(-1))
    deff, whole = _effect(change, groups, value, confidence)
    _, widening = _effect(units, groups.repeated(parts), value, confidence)
    widening = min(widening, parts * whole)  # parts that always change together are no fewer than whole changes
    lost, won = (float(np.sort(np.maximum(0.0, sign * units)).sum()) for sign in (-1, 1))
    low, high = tango(lost / widening, won / widening, units.size / widening, confidence)
    counts = {"broken": int((change < 0).sum()), "fixed": int((change > 0).sum())}
    return Difference(value=value, low=min(low, value), high=max(high, value), n=n, deff=deff, **counts)


def worth_of_difference(found: Difference, part: float = 1.0, confidence: float = 0.95) -> float:
    """Return the number of independent cases whose interval has the lower end of that of a difference."""
    changed, net = (found.broken + found.fixed) / found.n, found.value / part
    broken, fixed = max(0.0, changed - net) / 2, max(0.0, changed + net) / 2
    few, many = 1e-3, 1e9
    for _ in range(_P_STEPS):
        n = sqrt(few * many)
        low, _ = tango(broken * n, fixed * n, n, confidence)
        few, many = (n, many) if part * low < found.low else (few, n)
    return sqrt(few * many)


def _effect(change: FloatArray, groups: Clusters, value: float, confidence: float) -> tuple[float, float]:
    """The design effect of a mean change, beside the variance of cases that each change wholly or not at all."""
    sums = np.bincount(groups.codes, weights=change) - groups.sizes * value
    independent = float(np.sort(np.abs(change)).sum()) - change.size * value * value
    return groups.effect(sums, independent, confidence, groups.surplus((change - value) ** 2))


def _parts(change: FloatArray) -> int:
    different = np.unique(change)
    for parts in range(1, _MOST_PARTS):
        if bool(np.all(np.abs(different * parts - np.rint(different * parts)) < _SAME)):
            return parts
    return _MOST_PARTS


def cases_for_margin(margin: float, changing: float, confidence: float = 0.95, power: float = POWER) -> int:
    # By the normal approximation, with the variance of Tango's interval at the margin, and for the power that of an
    # unchanged metric, in which breaking and fixing are equally likely.
    if not 0.0 < margin <= 1.0 or not 0.0 <= changing <= 1.0:
        raise ValueError(f"cases_for_margin(margin={margin}, changing={changing}): expected fractions, margin above 0")
    normal = NormalDist()
    under = normal.inv_cdf(0.5 + confidence / 2) * sqrt(_variance(changing / 2, changing / 2, -margin))
    over = normal.inv_cdf(power) * sqrt(changing)
    return max(1, ceil(((under + over) / margin) ** 2))


def cases_for_bound(value: float, bound: float, confidence: float = 0.95, power: float = POWER) -> int | None:
    """Return how many independent cases decide whether a metric lies beyond a bound, if its value stays as it is."""
    # By the normal approximation with the variance under the bound, and that under the value for the power; None if
    # both are the same number, so that no number of cases decides.
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
    if not beyond(outside):
        return outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
    return outside
