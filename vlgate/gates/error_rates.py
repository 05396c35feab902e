"""How often gates err on new samples of cases, and a threshold whose margin lets an unchanged model pass again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from math import inf, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.p_values import FEW, at_most, stays
from vlgate.gates.records import Correction, Decision, Gate
from vlgate.metrics.clusters import Clusters
from vlgate.metrics.names import DIFFERENCES
from vlgate.metrics.paired import score, worth_of_difference
from vlgate.metrics.stats import proportion, worth
from vlgate.seeds import generator
from vlgate.types import Difference, FloatArray, Metric

_DRAWS = 1_000  # at least, so that a rate of 95 % is within 1.4 % of the exact one, 19 times in 20
_MORE = 20_000  # if no image has two cases, because such samples cost little
_STEP = Decimal("0.01")
_SHARES = np.sin((np.arange(200) + 0.5) * np.pi / 400) ** 2  # even steps of the arcsine, which is Jeffreys' prior
_ALIKE = (np.arange(20) + 0.5) / 20  # how much the cases of an image are alike: any correlation is as likely before


def threshold_with_margin(values: FloatArray, groups: Clusters, misses: float, name: str) -> tuple[Decimal, float]:
    """The highest threshold of two decimals that enough new samples of the same model pass, and the share that does.

    A sample passes if the lower end of its interval of 95 % reaches the threshold, which is never above the lower end
    that was measured. ``values`` are what each case contributes to the metric, shape (n,), 1 for a right one.

    >>> cases = Clusters(codes=np.arange(40), sizes=np.ones(40))
    >>> threshold_with_margin(np.ones(40), cases, 0.05, "a gate")[0]
    Decimal('0.83')
    """
    draws = max(_MORE if groups.single else _DRAWS, round(1 / misses))
    lows = np.sort(np.fromiter(_new_lows(values, groups, draws, generator(f"new samples:{name}")), np.float64, draws))
    least = min(lows[max(0, int(misses * (draws + 1)) - 1)], proportion(values, groups).low)
    threshold = Decimal(repr(float(least))).quantize(_STEP, rounding=ROUND_FLOOR)
    return threshold, float((lows >= float(threshold)).mean())


def _new_lows(values: FloatArray, groups: Clusters, draws: int, random: np.random.Generator) -> Iterator[float]:
    # The true share is not known, nor how much the cases of an image are alike. Each sample takes both from what the
    # measured one leaves open, so that the number of right cases of an image is beta-binomial, and so is their sum if
    # each case has an image of its own.
    sizes = groups.sizes.astype(np.int64)
    right = np.floor(np.bincount(groups.codes, weights=values, minlength=len(sizes))).astype(np.int64)
    likely = _likely(right, sizes)
    order = np.argsort(groups.codes, kind="stable")
    inside = np.empty(len(values))  # the number of a case within its image
    inside[order] = np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    known: dict[int, float] = {}  # without shared images, the number of right cases decides
    for place in random.choice(likely.size, draws, p=likely.reshape(-1)):
        share, alike = _SHARES[place // _ALIKE.size], _ALIKE[place % _ALIKE.size]
        if groups.single:
            count = int(random.binomial(len(values), share))
            if count not in known:
                known[count] = proportion((np.arange(len(values)) < count).astype(np.float64), groups).low
            yield known[count]
            continue
        spread = (1 - alike) / alike
        counts = random.binomial(sizes, random.beta(share * spread, (1 - share) * spread, len(sizes)))
        yield proportion((inside < counts[groups.codes]).astype(np.float64), groups).low


def _likely(right: NDArray[np.int64], sizes: NDArray[np.int64]) -> FloatArray:
    spread = (1 - _ALIKE) / _ALIKE
    a, b = _SHARES[:, None] * spread, (1 - _SHARES[:, None]) * spread
    logs = np.zeros(a.shape)
    for number in range(int(sizes.max())):
        logs += np.log(a + number) * (right > number).sum()
        logs += np.log(b + number) * (sizes - right > number).sum()
        logs -= np.log(spread + number) * (sizes > number).sum()
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


DRAWS = 10_000  # New samples that are drawn: a rate is then within 0.01 of the exact one, 19 times in 20
LIKELY = 0.80
_MODELS, _EACH = 200, 200  # models that may be the measured one, and new samples of each
_NORMAL = NormalDist()
_NEVER = inf  # the p-value of what cannot fail
_ROUNDING = 1e-12
_JEFFREYS = 0.5  # what is added to each count: the prior of Jeffreys

Truth = Literal["on the threshold", "measured", "likely"]
"""What new samples are drawn from: models exactly on the threshold, as good as measured, or nearly so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    # ``threshold_fails``: how often at least one gate fails, if the model lies exactly on every threshold.
    # ``unchanged_fails``: the same, if the true metrics are the measured ones; ``unchanged_passes``: how often all
    # gates pass then, and all limits hold. ``..._low`` and ``..._high`` are a range that holds it for ``LIKELY`` of the
    # models that may be the measured one, because the true metrics are not known: the posterior after the prior of
    # Jeffreys.

    gates: int
    correction: Correction
    threshold_fails: float
    unchanged_fails: float
    unchanged_passes: float
    unchanged_passes_low: float = 0.0
    unchanged_passes_high: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What new samples of one gate give, shape (models, samples): p-values (see ``stays``), which fail and pass."""

    scaled: FloatArray
    fails: NDArray[np.bool_]
    passes: NDArray[np.bool_]
    tested: bool


_Samples = tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]
"""Scaled p-values, which samples fail, and which pass."""
_Judged = tuple[float, bool, bool]


def error_rates(decisions: Sequence[Decision], correction: Correction = "none") -> ErrorRates | None:
    # Gates are taken to be independent of each other, and every case to be judged. A metric varies as the mean of as
    # many independent cases as its design effect leaves, a drop as that of cases that change as much as they did; each
    # sample is judged by an interval as wide as that of the run, its degrees of freedom included. A difference of a
    # control is normal. An unchanged model gives the same replies to the same cases, so changes of its answers are not
    # simulated.
    judged = [decision for decision in decisions if decision.outcome != "not run"]
    truths: tuple[Truth, ...] = ("on the threshold", "measured", "likely")
    bar, same, likely = ([found for one in judged if (found := _drawn(one, truth))] for truth in truths)
    if not same:
        return None
    passes = np.stack([gate.passes.mean(axis=1) for gate in likely]).prod(axis=0)
    low, high = np.quantile(passes, [0.5 - LIKELY / 2, 0.5 + LIKELY / 2]).tolist()
    return ErrorRates(
        gates=len(same),
        correction=correction,
        threshold_fails=float(_any_fail(bar, correction).mean()),
        unchanged_fails=float(_any_fail(same, correction).mean()),
        unchanged_passes=float(np.stack([one.passes for one in same]).all(axis=0).mean()),
        unchanged_passes_low=low,
        unchanged_passes_high=high,
    )


def _any_fail(drawn: Sequence[_Drawn], correction: Correction) -> NDArray[np.bool_]:
    failed = [one.fails.ravel() for one in drawn]
    tested = [row for row, one in enumerate(drawn) if one.tested]
    if correction != "none" and tested:
        scaled = np.stack([np.where(drawn[row].fails, drawn[row].scaled, _NEVER).ravel() for row in tested], axis=1)
        kept = stays(scaled, correction)
        failed = [*(failed[row] for row in range(len(drawn)) if row not in tested), *kept.T]
    return np.asarray(np.stack(failed).any(axis=0))


def _drawn(decision: Decision, truth: Truth) -> _Drawn | None:
    gate, random = decision.gate, generator(f"error rates:{truth}:{decision.gate.id}")
    if decision.metric is not None:
        draw = _figures if gate.metric in DIFFERENCES else _shares
        scaled, fails, passes = draw(gate, decision.metric, random, truth)
        few = min(decision.metric.n, decision.metric.rarer or decision.metric.n) < gate.min_cases
    elif decision.difference is not None:
        draws = _drops if gate.kind == "max_drop" else _counts
        scaled, fails, passes = draws(decision, decision.difference, random, truth)
        few = decision.difference.n < gate.min_cases
    else:
        return None
    return _Drawn(scaled=scaled, fails=fails, passes=passes & (not few), tested=decision.tested)


def _models(
    random: np.random.Generator, truth: Truth, on_threshold: Sequence[float], counts: Sequence[float]
) -> FloatArray:
    measured = np.asarray(counts, dtype=np.float64)
    if truth == "on the threshold":
        return np.asarray(on_threshold)[None, None]
    if truth == "likely":
        return np.asarray(random.dirichlet(measured + _JEFFREYS, _MODELS)[:, None])
    # a kind that should be rare is thought possible if there is none
    held = np.maximum(measured, _JEFFREYS * measured.sum() / (measured.sum() + 1))
    return np.asarray((held / held.sum())[None, None], dtype=np.float64)


def _size(truth: Truth) -> tuple[int, int]:
    return (_MODELS, _EACH) if truth == "likely" else (1, DRAWS)


def _shares(gate: Gate, metric: Metric, random: np.random.Generator, truth: Truth) -> _Samples:
    judged = worth(metric, gate.confidence)
    # The interval is that of fewer cases than the design effect leaves, because few images estimate that effect badly.
    n = max(1, round(judged if gate.metric == "auroc" else max(judged, metric.n / metric.deff)))
    bar = gate.max if gate.min is None else gate.min
    share = metric.value if bar is None else bar
    models = _models(random, truth, (share, 1 - share), (metric.value * n, n - metric.value * n))
    right = random.binomial(n, models[..., 0], _size(truth))
    return _by_value(right, lambda k: _share_judged(gate, int(k) / n, judged))


def _figures(gate: Gate, metric: Metric, random: np.random.Generator, truth: Truth) -> _Samples:
    alpha, z = (1 - gate.confidence) / 2, _NORMAL.inv_cdf(0.5 + gate.confidence / 2)
    error = max(_ROUNDING, (metric.value - metric.low or metric.high - metric.value) / z)
    up = max(error, (metric.high - metric.value) / z)  # wider, as the smallest of several gains is judged
    bar = gate.max if gate.min is None else gate.min
    centre = metric.value if bar is None or truth != "on the threshold" else bar
    centres = random.normal(centre, error, (_MODELS, 1)) if truth == "likely" else np.array([[centre]])
    values = random.normal(centres, error, _size(truth))
    point = gate.basis == "value"
    fails, passes = np.zeros(values.shape, bool), np.ones(values.shape, bool)
    scaled = np.full(values.shape, _NEVER)
    for bound, side, down, above in ((gate.min, 1, error, up), (gate.max, -1, up, error)):
        if bound is not None:
            apart = side * (values - bound)
            fails |= apart < (0.0 if point else -z * above)
            passes &= apart >= (0.0 if point else z * down)
            scaled = np.minimum(scaled, np.vectorize(_NORMAL.cdf)(apart / above) / alpha)
    return scaled, fails, passes


def _share_judged(gate: Gate, value: float, n: float) -> _Judged:
    alpha, z = (1 - gate.confidence) / 2, _NORMAL.inv_cdf(0.5 + gate.confidence / 2)
    above = [_errors(value, gate.min, n)] if gate.min else []  # standard errors on the good side of each bound
    above += [] if gate.max is None or gate.max >= 1 else [-_errors(value, gate.max, n)]
    least = min(above, default=_NEVER)
    if gate.basis == "value":
        return (0.0 if least < 0 else _NEVER), least < 0, least >= 0
    p = _NORMAL.cdf(least) if least > -_NEVER else 0.0
    if gate.metric == "auroc" or p > alpha:
        fails = p <= alpha
    else:
        share, bound = (value, gate.min) if gate.min and value < gate.min else (1 - value, 1 - (gate.max or 0.0))
        exact = at_most(share * n, n, bound)
        fails = exact <= alpha or n * min(bound, 1 - bound) > FEW + _ROUNDING
        p = max(p, exact)
    return p / alpha, fails, not fails if gate.kind == "limit" else least >= z


def _errors(value: float, bound: float, n: float) -> float:
    if abs(value - bound) < _ROUNDING:
        return 0.0
    variance = bound * (1 - bound) / n
    return (value - bound) / sqrt(variance) if variance > 0.0 else _NEVER * (value - bound)


def _counts(decision: Decision, change: Difference, random: np.random.Generator, truth: Truth) -> _Samples:
    most = decision.gate.max or 0.0
    count, cases = decision.counted or (change.broken, change.n)
    n = max(1, round(cases / change.deff))
    allowed = most if isinstance(decision.gate.max, int) else most * cases
    share = min(1.0, allowed / cases)
    models = _models(random, truth, (share, 1 - share), (count * n / cases, n - count * n / cases))
    held = random.binomial(n, models[..., 0], _size(truth)) * cases <= allowed * n * (1 + _ROUNDING)
    return np.where(held, _NEVER, 0.0), ~held, held


def _drops(decision: Decision, change: Difference, random: np.random.Generator, truth: Truth) -> _Samples:
    gate, part, most = decision.gate, decision.part, (decision.gate.max or 0.0) / decision.part
    n = max(1, round(change.n / change.deff))
    changed, net = (change.broken + change.fixed) * n / change.n, change.value * n / part
    broken, fixed = max(0.0, changed - net) / 2, max(0.0, changed + net) / 2
    changing = min(1.0, max(changed / n, most))
    bar = (changing + most) / 2, max(0.0, changing - most) / 2
    models = _models(random, truth, (*bar, max(0.0, 1 - sum(bar))), (broken, fixed, max(0.0, n - broken - fixed)))
    counts = random.multinomial(n, models, _size(truth))
    judged = worth_of_difference(change, part, gate.confidence)
    return _by_value(
        counts[..., 0] * (n + 1) + counts[..., 1],
        lambda k: _drop_judged(gate, most, (k // (n + 1) / n, k % (n + 1) / n), judged),
    )


def _drop_judged(gate: Gate, most: float, shares: tuple[float, float], n: float) -> _Judged:
    """What a gate decides about shares of broken and fixed cases, of n independent ones; dual to Tango's interval."""
    broken, fixed = shares
    if gate.basis == "value":
        held = fixed - broken >= -most - _ROUNDING
        return (_NEVER if held else 0.0), not held, held
    above = score(broken * n, fixed * n, n, -most)
    alpha, z = (1 - gate.confidence) / 2, _NORMAL.inv_cdf(0.5 + gate.confidence / 2)
    p = _NORMAL.cdf(above) if above > -_NEVER else 0.0
    return p / alpha, p <= alpha, above >= z


def _by_value(drawn: NDArray[np.int64], judge: Callable[[int], _Judged]) -> _Samples:
    values, rows = np.unique(drawn, return_inverse=True)
    rows = rows.reshape(drawn.shape)
    scaled, fails, passes = zip(*map(judge, values.tolist()), strict=True)
    return np.array(scaled)[rows], np.array(fails, dtype=bool)[rows], np.array(passes, dtype=bool)[rows]
