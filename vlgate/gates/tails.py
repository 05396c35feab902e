"""How surprising a failed gate is: the p-value that belongs to the interval of its metric."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

from vlgate.gates.records import Gate
from vlgate.types import Difference, Metric

SMALLEST = 1e-12
"""Smaller p-values are not told apart."""
_STEPS = 40  # of a bisection of the logarithm: the p-value is then exact to eleven digits


def tail(gate: Gate, at: Callable[[float], Metric | Difference]) -> float:
    """Return the one-sided p-value of a failed gate, against a model that lies exactly on the threshold.

    It is the half of ``1 - c`` for the largest confidence ``c`` at which the whole interval lies beyond the threshold.
    So the gate fails exactly if its p-value is below the half of ``1 - confidence``, whatever the interval is:
    Wilson's, Tango's, that of an area, or one that counts repeated images.

    Args:
        gate: a gate that judges an interval, and fails.
        at: gives the metric, or its difference to an earlier run, with the interval of a confidence.

    Returns: the p-value, from ``SMALLEST`` to the half of ``1 - confidence``.
    """
    low, high = log(SMALLEST), log((1 - gate.confidence) / 2)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(gate, at(1 - 2 * exp(middle))) else (middle, high)
    return exp(high)


def beyond(gate: Gate, found: Metric | Difference) -> bool:
    """Return whether an interval lies wholly on the wrong side of a gate's threshold."""
    if gate.kind == "max_drop":
        return found.high < -(gate.max or 0.0)
    above = gate.max is not None and found.low > gate.max
    return above or (gate.kind == "gate" and gate.min is not None and found.high < gate.min)
