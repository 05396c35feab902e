"""Rows of docs/error-rates.md about what is printed beside intervals: p-values, other samples, gains of looking."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from math import exp, inf, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.decide import Coverage, decide
from vlgate.gates.error_rates import error_rates
from vlgate.gates.p_values import stays, tail
from vlgate.gates.records import Decision, Gate, GateKind, Outcome
from vlgate.metrics.clusters import clusters
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.paired import difference, mcnemar
from vlgate.metrics.stats import proportion, wilson
from vlgate.record.comparison import PairedValues
from vlgate.seeds import generator
from vlgate.types import FloatArray, Metric

DRAWS = 4000
CLUSTERED = 1000
"""Simulated tasks per cell with repeated images, each of which takes a millisecond."""
RESAMPLES = 400
"""Samples of the images of a task, drawn again."""


def p_values_by_image() -> Iterator[tuple[str, ...]]:
    """Yield how often equally good models have a p-value below 0.05, with images counted and without."""
    for images, per_image in ((60, 2), (40, 5), (50, 20)):
        codes = np.repeat(np.arange(images), per_image)
        groups = clusters([str(code) for code in codes])
        for common in (0.3, 0.7):
            random = generator(f"p-values by image:{images}:{per_image}:{common}")
            below = np.zeros(2)
            for _ in range(CLUSTERED):
                alike = random.random(codes.size) < common
                kind = np.where(alike, random.random(images)[codes], random.random(codes.size))
                found = difference((kind < 0.1).astype(np.float64), (kind > 0.9).astype(np.float64), groups)
                below += found.low > 0 or found.high < 0, mcnemar(found.broken, found.fixed) < 0.05
            yield f"{images}", f"{per_image}", f"{100 * common:.0f} %", *map(percent, (below / CLUSTERED).tolist())


def near_the_ends() -> Iterator[tuple[str, ...]]:
    """Yield the rows of gates with a minimum near 1."""
    for n, least in (
        (30, 0.95),
        (50, 0.98),
        (50, 0.99),
        (100, 0.95),
        (100, 0.98),
        (100, 0.99),
        (150, 0.99),
        (300, 0.98),
    ):
        gate = Gate(task="a/b", metric="acc_r", min=least)
        alone = sum(binomial(n, least)[k] for k in range(n + 1) if wilson(k / n, n)[1] < least)
        rates = chance(n, gate, least, "fail"), float(alone), chance(n, gate, least, "pass")
        yield f"{n}", f"min = {least:.2f}", *map(percent, rates)


def several_near_the_ends() -> Iterator[tuple[str, ...]]:
    """Yield how often any of several gates near 1 fails, with models on the thresholds."""
    level = (1 - 0.95) / 2
    for m, n, least in ((14, 50, 0.98), (14, 100, 0.95), (5, 30, 0.95), (14, 100, 0.80)):
        gate = Gate(task="a/b", metric="acc_r", min=least)
        p = [
            tail(gate, partial(_share, k, n)) / level if outcome == "fail" else inf
            for k, outcome in enumerate(outcomes(n, gate))
        ]
        drawn = generator(f"near the ends:{m}:{n}:{least}").binomial(n, least, (DRAWS, m))
        corrected = (stays(np.array(p)[drawn], name).any(axis=1).mean() for name in ("holm", "bh"))
        none = np.isfinite(np.array(p)[drawn]).any(axis=1).mean()
        yield f"{m}", f"{n}", f"min = {least:.2f}", *(percent(float(rate)) for rate in (none, *corrected))


def _share(right: int, n: int, confidence: float) -> Metric:
    return proportion((np.arange(n) < right).astype(np.float64), confidence=confidence)


def another_sample() -> Iterator[tuple[str, ...]]:
    """Yield how often gates pass again, as printed, and in samples of the images that are drawn again."""
    random = generator("another sample")
    halves = np.r_[np.full(15, 0.5), np.ones(235)]
    yield _again("max_drop = 0.05 of acc, 15 of 500 answers newly wrong", (np.ones(250), halves), 1, {"max": 0.05})
    yield _again("the same, by value", (np.ones(250), halves), 1, {"max": 0.05, "basis": "value"})
    for images, per_image, most in ((20, 10, 0.16), (60, 5, 0.09)):
        alike = random.random(images * per_image) < 0.5
        kind = np.where(alike, np.repeat(random.random(images), per_image), random.random(images * per_image))
        pair = (kind < 0.9).astype(np.float64), (kind > 0.1).astype(np.float64)
        yield _again(f"max_drop = {most}, a fifth of the cases changed", pair, per_image, {"max": most})
    for images, per_image in ((200, 1), (60, 5), (20, 10)):
        shares = np.repeat(random.beta(2.4, 0.6, images), per_image)
        right = (random.random(images * per_image) < shares).astype(np.float64)
        yield _again("min = 0.70", (right,), per_image, {"min": 0.70})
        yield _again("min = 0.78, by value", (right,), per_image, {"min": 0.78, "basis": "value"})


def _again(name: str, columns: tuple[FloatArray, ...], per_image: int, keys: dict[str, Any]) -> tuple[str, ...]:
    """One row: a share, or a drop between two columns."""
    kind: GateKind = "max_drop" if len(columns) == 2 else "gate"
    gate = Gate(task="a/b", metric="acc", kind=kind, min_cases=1, **keys)
    n = columns[0].size
    images = n // per_image
    random, passed = generator(f"another sample:{name}"), 0
    made = _decided_on(gate, columns, np.arange(n) // per_image)
    rates = error_rates([made])
    for _ in range(RESAMPLES):
        drawn = random.integers(0, images, images)
        rows = (drawn[:, None] * per_image + np.arange(per_image)).ravel()
        passed += (
            _decided_on(gate, tuple(c[rows] for c in columns), np.repeat(np.arange(images), per_image)).outcome
            == "pass"
        )
    if rates is None:
        raise ValueError(f"{name}: no rates of a gate with figures")
    printed, low, high = map(percent, (rates.unchanged_passes, rates.unchanged_passes_low, rates.unchanged_passes_high))
    return name, f"{n}", f"{images}", printed, f"{low} to {high}", percent(passed / RESAMPLES)


def _decided_on(gate: Gate, columns: tuple[FloatArray, ...], codes: NDArray[np.int64]) -> Decision:
    groups = clusters([str(code) for code in codes])
    if len(columns) == 1:
        n = columns[0].size
        found = {gate.metric: proportion(columns[0], groups)}
        return decide(gate, Coverage(cases=n, judged=n, unscored=0, skipped=0), found)
    values = PairedValues(before=columns[0], after=columns[1], images=groups)
    change = values.difference()
    low = change.value if gate.basis == "value" else change.low
    outcome: Outcome = "pass" if low >= -(gate.max or 0.0) else "inconclusive"
    return Decision(gate=gate, outcome=outcome, why="", difference=change, part=values.part)


def roughness() -> dict[str, str]:
    """Return how far the printed rate of another sample, and its range, are from the true one."""
    gate = Gate(task="a/b", metric="acc_r", min=0.75)
    true, found = chance(300, gate, 0.80, "pass"), []
    for right in generator("roughness").binomial(300, 0.80, 400).tolist():
        made = Decision(gate=gate, outcome="pass", why="", metric=_share(right, 300, 0.95))
        if (rates := error_rates([made])) is not None:
            found.append((rates.unchanged_passes, rates.unchanged_passes_low, rates.unchanged_passes_high))
    printed, low, high = np.array(found).T
    plug_low, plug_high = np.quantile(printed, [0.1, 0.9])
    numbers = {
        "true": true,
        "plug_low": plug_low,
        "plug_high": plug_high,
        "held": ((low <= true) & (true <= high)).mean(),
    }
    return {name: f"{100 * number:.0f}" for name, number in numbers.items()}


def smallest_gains() -> Iterator[tuple[str, ...]]:
    """Yield how often the interval of the smallest of four gains misses it, and how far the value is from it."""
    names = ("grey", "blank", "other", "told")
    for n in (40, 100, 300):
        for other in (0.25, 0.30, 0.45):
            kept = np.array([0.5, *[0.75 - other] * 3])
            random = generator(f"smallest gains:{n}:{other}")
            found = np.array([_smallest_gain(n, kept, names, random) for _ in range(CLUSTERED)])
            above, below = (found[:, 1] < 0.25).mean(), (found[:, 0] > 0.25).mean()
            yield f"{n}", f"{other:.2f}", percent(above), percent(below), f"{found[:, 2].mean() - 0.25:+.3f}"


def _smallest_gain(
    n: int, kept: FloatArray, names: tuple[str, ...], random: np.random.Generator
) -> tuple[float, float, float]:
    alike = random.random((4, n)) < 0.5
    right = np.where(alike, random.random(n), random.random((4, n))) < kept[:, None]
    columns = {name: one.astype(np.float64) for name, one in zip(names, right, strict=True)}
    before = max(names, key=lambda name: float(columns[name].mean()))
    columns["image"] = (random.random(n) < 0.75).astype(np.float64)
    cases = tuple(map(str, range(n)))
    figures = {"gain": Figure(column="image", before=before, others=names)}
    found = ControlledTask(cases=cases, images=cases, columns=columns, figures=figures).metrics()["gain"]
    return found.low, found.high, found.value


def percent(share: float) -> str:
    """Return a share in percent with one decimal.

    >>> percent(0.0249)
    '2.5'
    """
    return f"{100 * share:.1f}"


@cache
def binomial(n: int, share: float) -> FloatArray:
    """Return the probabilities of 0 to n right cases, shape (n + 1,)."""
    if share in (0.0, 1.0):
        return np.asarray(np.arange(n + 1) == round(n * share), dtype=np.float64)
    ways = (
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log(1 - share)
        for k in range(n + 1)
    )
    return np.array([exp(way) for way in ways])


@cache
def outcomes(n: int, gate: Gate) -> tuple[Outcome, ...]:
    """Return what a gate decides for each number of right cases among n independent ones."""
    coverage = Coverage(cases=n, judged=n, unscored=0, skipped=0)
    means = (proportion((np.arange(n) < right).astype(np.float64)) for right in range(n + 1))
    return tuple(decide(gate, coverage, {gate.metric: mean}).outcome for mean in means)


def chance(n: int, gate: Gate, share: float, wanted: Outcome) -> float:
    """Return the probability that a gate has an outcome if each of n cases is right with a probability."""
    held = np.array([outcome == wanted for outcome in outcomes(n, gate)])
    return float(binomial(n, share)[held].sum())
