"""Several gates: fails that the number of gates explains are inconclusive, if the thresholds file asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.records import Correction, Decision
from vlgate.types import FloatArray

NAMES = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
"""After whom each correction is named."""
_ROUNDING = 1e-9


def corrected(decisions: Sequence[Decision], correction: Correction) -> tuple[Decision, ...]:
    """Make failed gates inconclusive whose p-value is not small enough for the number of gates.

    All gates must pass, which needs no correction: a bad model passes all of them at most as often as one of them. But
    false alarms add up. The correction keeps the chance of any false fail (``holm``; Holm 1979), or the expected share
    of false ones among the fails (``bh``; Benjamini, Hochberg 1995, for independent gates or positively dependent
    ones), at the half of ``1 - confidence``. It counts the gates that judge an interval; counts of cases and gates of
    basis ``value`` decide as they are. No decision becomes a pass.

    Args:
        decisions: the decisions of a run; a failed one that judges an interval has its p-value.
        correction: what ``fail_correction`` of the thresholds file says.

    Returns: the decisions in the same order.
    Raises: ValueError if a failed gate that judges an interval has no p-value.
    """
    if correction == "none":
        return tuple(decisions)
    family = sum(decision.tested for decision in decisions)
    failed = [place for place, one in enumerate(decisions) if one.tested and one.outcome == "fail"]
    if not failed:
        return tuple(decisions)
    scaled = np.array([_scaled(decisions[place]) for place in failed])
    kept = stays(np.concatenate([scaled, np.full(family - len(failed), np.inf)])[None], correction)[0]
    doubted = {place for place, keep in zip(failed, kept.tolist(), strict=False) if not keep}
    return tuple(
        replace(one, outcome="inconclusive", why=_why(one, family, correction)) if place in doubted else one
        for place, one in enumerate(decisions)
    )


def stays(scaled: FloatArray, correction: Correction) -> NDArray[np.bool_]:
    """Return which gates fail after the correction.

    Args:
        scaled: shape (r, m), in each row the p-values of m gates, each divided by the half of ``1 - confidence`` of its
            gate.
        correction: the correction; with ``none`` a gate fails if its p-value is at most 1.

    Returns: shape (r, m), whether each gate fails.

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
    return 1.0 if abs(scaled - 1.0) < _ROUNDING else scaled


def _why(decision: Decision, family: int, correction: Correction) -> str:
    return (
        f"{decision.why}; but p = {decision.p:.2g} may be chance in one of {family} gates "
        f"(fail_correction = {correction}, after {NAMES[correction]})"
    )
