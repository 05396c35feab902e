"""How surprising a failed gate is: the p-value that belongs to the interval of its metric."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log

from vlgate.gates.records import Gate
from vlgate.metrics.names import DIFFERENCES
from vlgate.metrics.stats import worth
from vlgate.types import Difference, Metric

SMALLEST = 1e-12
"""Smaller p-values are not told apart."""
FEW = 10
"""With fewer cases than this expected beyond a threshold, Wilson's interval fails up to 9 % of the models on it."""
_TERMS, _TINY, _ROUNDING = 10_000, 1e-300, 1e-12  # of a continued fraction
_NOT_SHARES = DIFFERENCES | {"auroc"}
_STEPS = 40  # of a bisection of the logarithm: the p-value is then exact to eleven digits


def tail(gate: Gate, at: Callable[[float], Metric | Difference]) -> float:
    """Return the one-sided p-value of a failed gate, against a model that lies exactly on the threshold.

    It is the half of ``1 - c`` for the largest confidence ``c`` at which the whole interval lies beyond the threshold,
    whatever the interval is: Wilson's, Tango's, that of an area, or one that counts repeated images. For a share it is
    at least the exact binomial one, because Wilson's is too small near 0 and 1.

    Args:
        gate: a gate that judges an interval, and fails.
        at: gives the metric, or its difference to an earlier run, with the interval of a confidence.

    Returns: the p-value, at least ``SMALLEST``.
    """
    low, high = log(SMALLEST), log((1 - gate.confidence) / 2)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(gate, at(1 - 2 * exp(middle))) else (middle, high)
    found = at(gate.confidence)
    return max(exp(high), exact(gate, found)) if isinstance(found, Metric) else exp(high)


def exact(gate: Gate, metric: Metric) -> float:
    """Return the one-sided p-value of the binomial test of a share that lies beyond a gate's threshold.

    The share is taken to be of as many independent cases as its interval is worth, as by Korn and Graubard (1998,
    Survey Methodology 24) for clustered ones.

    Args:
        gate: the gate.
        metric: the share.

    Returns: the p-value; 0 for a metric that is not a share, so that its interval alone decides.
    """
    if gate.metric in _NOT_SHARES:
        return 0.0
    n = worth(metric, gate.confidence)
    right, least = metric.value * n, gate.min if gate.kind == "gate" else None
    below = 1.0 if least is None else at_most(right, n, least)
    return below if gate.max is None else min(below, at_most(n - right, n, 1 - gate.max))


def near_an_end(gate: Gate, metric: Metric) -> bool:
    """Return whether a gate's threshold is so near to 0 or 1 that the end of an interval misses it too often.

    That is if fewer than ``FEW`` cases are expected on one side, as by Brown, Cai and DasGupta (2001).
    """
    bound, _ = _crossed(gate, metric)
    return gate.metric not in _NOT_SHARES and worth(metric, gate.confidence) * min(bound, 1 - bound) <= FEW + _ROUNDING


def beyond(gate: Gate, found: Metric | Difference) -> bool:
    """Return whether an interval lies wholly on the wrong side of a gate's threshold."""
    if gate.kind == "max_drop":
        return found.high < -(gate.max or 0.0)
    above = gate.max is not None and found.low > gate.max
    return above or (gate.kind == "gate" and gate.min is not None and found.high < gate.min)


def _crossed(gate: Gate, metric: Metric) -> tuple[float, bool]:
    """The bound that a share lies beyond, or the only one, and whether it is a minimum."""
    least = gate.min if gate.kind == "gate" else None
    if least is not None and (gate.max is None or metric.value < least):
        return least, True
    return 1.0 if gate.max is None else gate.max, False


def at_most(k: float, n: float, share: float) -> float:
    """Return the probability of at most ``k`` right cases of ``n``, of which each is right with a probability.

    The numbers may be fractions: between whole ones it is the incomplete beta function.

    Args:
        k: the number of right cases.
        n: the number of cases.
        share: the probability of a right one.

    >>> round(at_most(46, 50, 0.98), 4)
    0.0178
    """
    if k >= n - _ROUNDING:
        return 1.0
    wrong = 1.0 - share  # 1.0 for a share that rounding cannot tell from 0
    if not 0.0 < wrong < 1.0:
        return float(wrong >= 1.0)
    return _beta(n - k, k + 1, wrong)


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (Press et al. 2007, section 6.4)."""
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    c, d = 1.0, 1.0 / max(_TINY, 1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + term * d, 1 + term / c
            d, c = 1 / (d if abs(d) > _TINY else _TINY), c if abs(c) > _TINY else _TINY
            total *= d * c
        if abs(d * c - 1) < _ROUNDING:
            break
    return front * total
