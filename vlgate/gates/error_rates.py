"""How often the gates of a run err as they stand: false alarms, and whether an unchanged model passes again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.correcting import stays
from vlgate.gates.records import Correction, Decision, Gate
from vlgate.metrics.names import CONTROLLED
from vlgate.metrics.paired import score
from vlgate.metrics.stats import worth
from vlgate.seeds import generator
from vlgate.types import Difference, FloatArray, Metric

DRAWS = 10_000
"""New samples that are drawn: a rate is then within 0.01 of the exact one, 19 times in 20."""
_NORMAL = NormalDist()
_NEVER = inf  # the p-value of what cannot fail
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """How often the gates of a run err on new samples of cases, as many as in the run.

    Attributes:
        gates: the number of gates and limits that were judged on figures.
        correction: what ``fail_correction`` says.
        threshold_fails: how often at least one gate fails, if the model lies exactly on every threshold.
        unchanged_fails: how often at least one gate fails, if the true metrics are the measured ones.
        unchanged_passes: how often all gates pass then, and all limits hold.
    """

    gates: int
    correction: Correction
    threshold_fails: float
    unchanged_fails: float
    unchanged_passes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What new samples of one gate give: scaled p-values (see ``stays``), which pass, and whether a test decides."""

    scaled: FloatArray
    passes: NDArray[np.bool_]
    tested: bool


def error_rates(decisions: Sequence[Decision], correction: Correction = "none") -> ErrorRates | None:
    """Simulate new samples of the cases for every gate that was judged on figures.

    Gates are taken to be independent of each other, every case to be judged, and a metric to be a proportion of as many
    independent cases as its interval is worth; a figure of a control is normal, with the width of its interval. Whether
    the model changes what it answers is not simulated: an unchanged
    model gives the same replies to the same cases.

    Args:
        decisions: the decisions of a run.
        correction: what ``fail_correction`` of the thresholds file says.

    Returns: the rates; None if no gate was judged on figures.
    """
    judged = [one for one in decisions if one.outcome != "not run"]
    on_threshold, unchanged = (
        [found for one in judged if (found := _drawn(one, on_threshold=bar)) is not None] for bar in (True, False)
    )
    if not unchanged:
        return None
    return ErrorRates(
        gates=len(unchanged),
        correction=correction,
        threshold_fails=float(_any_fail(on_threshold, correction).mean()),
        unchanged_fails=float(_any_fail(unchanged, correction).mean()),
        unchanged_passes=float(np.stack([one.passes for one in unchanged]).all(axis=0).mean()),
    )


def _any_fail(found: Sequence[_Drawn], correction: Correction) -> NDArray[np.bool_]:
    tested = np.stack([one.scaled for one in found if one.tested] or [np.full(DRAWS, _NEVER)], axis=1)
    others = [one.scaled <= 1.0 for one in found if not one.tested]
    failed = np.stack([*stays(tested, correction).T, *others])
    return np.asarray(failed.any(axis=0))


def _drawn(decision: Decision, *, on_threshold: bool) -> _Drawn | None:
    """New samples of what a gate judges; None if it has no figures."""
    gate, random = decision.gate, generator(f"error rates:{on_threshold}:{decision.gate.id}")
    if decision.metric is not None:
        draw = _figures if gate.metric in CONTROLLED else _shares
        scaled, passes = draw(gate, decision.metric, random, on_threshold=on_threshold)
        few = min(decision.metric.n, decision.metric.rarer or decision.metric.n) < gate.min_cases
    elif decision.difference is not None:
        scaled, passes = _changes(decision, decision.difference, random, on_threshold=on_threshold)
        few = decision.difference.n < gate.min_cases
    else:
        return None
    return _Drawn(scaled=scaled, passes=passes & (not few), tested=decision.tested)


def _shares(
    gate: Gate, metric: Metric, random: np.random.Generator, *, on_threshold: bool
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """New samples of a metric."""
    n = max(1, round(worth(metric, gate.confidence)))
    bar = gate.max if gate.min is None else gate.min
    share = metric.value if bar is None or not on_threshold else bar
    right = random.binomial(n, share, DRAWS)
    return _by_value(right, lambda k: _share_judged(gate, int(k) / n, n))


def _figures(
    gate: Gate, metric: Metric, random: np.random.Generator, *, on_threshold: bool
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """New samples of a figure of a control, which may be a difference; the interval gives its standard error."""
    alpha, z = (1 - gate.confidence) / 2, _NORMAL.inv_cdf(0.5 + gate.confidence / 2)
    error = max(_ROUNDING, (metric.high - metric.low) / (2 * z))
    bar = gate.max if gate.min is None else gate.min
    values = random.normal(metric.value if bar is None or not on_threshold else bar, error, DRAWS)
    above = [] if gate.min is None else [(values - gate.min) / error]
    above += [] if gate.max is None else [(gate.max - values) / error]
    least = np.minimum.reduce(above)
    if gate.basis == "value":
        return np.where(least < 0, 0.0, _NEVER), least >= 0
    scaled = np.fromiter(map(_NORMAL.cdf, least.tolist()), dtype=np.float64, count=DRAWS) / alpha
    return scaled, scaled > 1.0 if gate.kind == "limit" else least >= z


def _share_judged(gate: Gate, value: float, n: float) -> tuple[float, bool]:
    """The scaled p-value of a share of n independent cases, and whether it passes; dual to Wilson's interval."""
    alpha, z = (1 - gate.confidence) / 2, _NORMAL.inv_cdf(0.5 + gate.confidence / 2)
    above = [_errors(value, gate.min, n)] if gate.min else []  # standard errors on the good side of each bound
    above += [] if gate.max is None or gate.max >= 1 else [-_errors(value, gate.max, n)]
    least = min(above, default=_NEVER)
    if gate.basis == "value":
        return (0.0 if least < 0 else _NEVER), least >= 0
    scaled = _NORMAL.cdf(least) / alpha if least > -_NEVER else 0.0
    return scaled, scaled > 1.0 if gate.kind == "limit" else least >= z


def _errors(value: float, bound: float, n: float) -> float:
    """How many standard errors of the bound a share lies above it."""
    if abs(value - bound) < _ROUNDING:
        return 0.0
    variance = bound * (1 - bound) / n
    return (value - bound) / sqrt(variance) if variance > 0.0 else _NEVER * (value - bound)


def _changes(
    decision: Decision, found: Difference, random: np.random.Generator, *, on_threshold: bool
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """New samples of the cases that are newly broken and fixed, or of those that a gate counts."""
    gate, most = decision.gate, decision.gate.max or 0.0
    if gate.kind != "max_drop":
        count, n = decision.counted or (found.broken, found.n)
        absolute = isinstance(gate.max, int)
        share = (min(1.0, most / n) if absolute else most) if on_threshold else count / n
        held = random.binomial(n, share, DRAWS) <= (most if absolute else most * n)
        return np.where(held, _NEVER, 0.0), held
    n = max(1, round(found.n / found.deff))
    broken, fixed = found.broken / found.n, found.fixed / found.n
    if on_threshold:
        changing = max(broken + fixed, most)
        broken, fixed = (changing + most) / 2, (changing - most) / 2
    counts = random.multinomial(n, [broken, fixed, max(0.0, 1 - broken - fixed)], DRAWS)
    return _by_value(counts[:, 0] * (n + 1) + counts[:, 1], lambda k: _drop_judged(gate, *divmod(int(k), n + 1), n))


def _drop_judged(gate: Gate, broken: int, fixed: int, n: int) -> tuple[float, bool]:
    most = gate.max or 0.0
    if gate.basis == "value":
        held = (fixed - broken) / n >= -most
        return (_NEVER if held else 0.0), held
    above = score(broken, fixed, n, -most)
    alpha, z = (1 - gate.confidence) / 2, _NORMAL.inv_cdf(0.5 + gate.confidence / 2)
    return (_NORMAL.cdf(above) / alpha if above > -_NEVER else 0.0), above >= z


def _by_value(
    drawn: NDArray[np.int64], judge: Callable[[int], tuple[float, bool]]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Judge each distinct sample once."""
    values, places = np.unique(drawn, return_inverse=True)
    found = [judge(value) for value in values.tolist()]
    places = places.reshape(-1)
    return np.array([p for p, _ in found])[places], np.array([held for _, held in found], dtype=bool)[places]
