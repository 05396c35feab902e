"""How surprising a failed gate is, and which fails the number of gates explains."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.records import Correction, Decision, Gate
from vlgate.metrics.names import DIFFERENCES
from vlgate.metrics.stats import worth
from vlgate.types import Difference, FloatArray, Metric

SMALLEST = 1e-12  # Smaller p-values are not told apart
FEW = 10
"""With fewer cases than this expected beyond a threshold, Wilson's interval fails up to 9 % of the models on it."""
_TERMS, _TINY, _ROUNDING = 10_000, 1e-300, 1e-12  # of a continued fraction
_NOT_SHARES = DIFFERENCES | {"auroc"}
_STEPS = 40  # of a bisection of the logarithm: the p-value is then exact to eleven digits


def tail(gate: Gate, at: Callable[[float], Metric | Difference]) -> float:
    # It is the half of ``1 - c`` for the largest confidence ``c`` at which the whole interval lies beyond the
    # threshold, and for a share at least the exact binomial one, because Wilson's interval is too small near 0 and 1.
    low, high = log(SMALLEST), log((1 - gate.confidence) / 2)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(gate, at(1 - 2 * exp(middle))) else (middle, high)
    found = at(gate.confidence)
    return max(exp(high), exact(gate, found)) if isinstance(found, Metric) else exp(high)


def exact(gate: Gate, metric: Metric) -> float:
    # The share is taken to be of as many independent cases as its interval is worth, as by Korn and Graubard (1998,
    # Survey Methodology 24) for clustered ones.
    if gate.metric in _NOT_SHARES:
        return 0.0
    n = worth(metric, gate.confidence)
    right, least = metric.value * n, gate.min if gate.kind == "gate" else None
    below = 1.0 if least is None else at_most(right, n, least)
    return below if gate.max is None else min(below, at_most(n - right, n, 1 - gate.max))


def near_an_end(gate: Gate, metric: Metric) -> bool:
    # That is if fewer than ``FEW`` cases are expected on one side, as by Brown, Cai and DasGupta (2001).
    least = gate.min if gate.kind == "gate" else None
    if least is not None and (gate.max is None or metric.value < least):
        bound = least
    else:
        bound = 1.0 if gate.max is None else gate.max
    return gate.metric not in _NOT_SHARES and worth(metric, gate.confidence) * min(bound, 1 - bound) <= FEW + _ROUNDING


def beyond(gate: Gate, found: Metric | Difference) -> bool:
    if gate.kind == "max_drop":
        return found.high < -(gate.max or 0.0)
    above = gate.max is not None and found.low > gate.max
    return above or (gate.kind == "gate" and gate.min is not None and found.high < gate.min)


def at_most(k: float, n: float, share: float) -> float:
    """The probability of at most ``k`` right cases of ``n``, by the incomplete beta function between whole numbers.

    >>> round(at_most(46, 50, 0.98), 4)
    0.0178
    """
    if k >= n - _ROUNDING:
        return 1.0
    wrong = 1.0 - share  # 1.0 for a share that rounding cannot tell from 0
    if not 0.0 < wrong < 1.0:
        return float(wrong >= 1.0)
    return incomplete_beta(n - k, k + 1, wrong)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (Press et al. 2007, section 6.4)."""
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1 - x)
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


NAMES = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
_ROUNDING_CORRECTING = 1e-9


def corrected(decisions: Sequence[Decision], correction: Correction) -> tuple[Decision, ...]:
    # All gates must pass, which needs no correction: a bad model passes all of them at most as often as one of them.
    # But false alarms add up. The correction keeps the chance of any false fail (``holm``; Holm 1979), or the expected
    # share of false ones among the fails (``bh``; Benjamini, Hochberg 1995, for independent gates or positively
    # dependent ones), at the half of ``1 - confidence``. It counts the gates that judge an interval; counts of cases
    # and gates of basis ``value`` decide as they are. No decision becomes a pass.
    if correction == "none":
        return tuple(decisions)
    family = sum(decision.tested for decision in decisions)
    failed = [index for index, decision in enumerate(decisions) if decision.tested and decision.outcome == "fail"]
    if not failed:
        return tuple(decisions)
    scaled = np.array([_scaled(decisions[place]) for place in failed])
    kept = stays(np.concatenate([scaled, np.full(family - len(failed), np.inf)])[None], correction)[0]
    doubted = [place for place, keep in zip(failed, kept.tolist(), strict=False) if not keep]
    by = f"(fail_correction = {correction}, after {NAMES[correction]})"
    found = list(decisions)
    for place in doubted:
        why = f"{found[place].why}; but p = {found[place].p:.2g} may be chance in one of {family} gates {by}"
        found[place] = replace(found[place], outcome="inconclusive", why=why)
    return tuple(found)


def stays(scaled: FloatArray, correction: Correction) -> NDArray[np.bool_]:
    """Which of m gates fail after the correction; ``scaled``: p-values by half of 1 - confidence, shape (rows, m).

    >>> p = np.array([[0.3, 0.6, 2.0]])
    >>> [stays(p, name).tolist() for name in ("none", "holm", "bh")]
    [[[True, True, False]], [[True, False, False]], [[True, True, False]]]
    """
    rows, m = scaled.shape
    if correction == "none" or not m:
        return scaled <= 1.0
    order = np.argsort(scaled, axis=1, kind="stable")
    ranked = np.take_along_axis(scaled, order, axis=1)
    places = np.arange(1, m + 1)
    if correction == "holm":
        held = np.logical_and.accumulate(ranked * (m + 1 - places) <= 1.0, axis=1)
    else:  # all up to the last one below its line
        held = np.logical_or.accumulate((ranked * m / places <= 1.0)[:, ::-1], axis=1)[:, ::-1]
    found = np.empty((rows, m), dtype=bool)
    np.put_along_axis(found, order, held, axis=1)
    return found


def _scaled(decision: Decision) -> float:
    if decision.p is None:
        raise ValueError(f"{decision.gate.id} failed without a p-value: expected one of each gate on an interval")
    scaled = decision.p / ((1 - decision.gate.confidence) / 2)
    return 1.0 if abs(scaled - 1.0) < _ROUNDING_CORRECTING else scaled
