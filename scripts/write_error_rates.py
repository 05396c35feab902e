"""Write docs/error-rates.md, how often intervals, tests and gates err: `python scripts/write_error_rates.py [--check]`.

Independent cases are summed over their distribution, without simulation, if that takes a minute at most; the rest is
simulated with fixed seeds. With ``--check`` nothing is written; the exit status is 1 if the page is not what the code
says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from math import exp, inf, lgamma, log
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.comparing.pairing import PairedValues
from vlgate.gates.correcting import stays
from vlgate.gates.decide import Coverage, decide
from vlgate.gates.error_rates import error_rates
from vlgate.gates.records import Decision, Gate, Outcome
from vlgate.gates.tails import FEW, beyond, tail
from vlgate.metrics.clusters import clusters
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.paired import difference, mcnemar, score, tango
from vlgate.metrics.stats import proportion, wilson
from vlgate.seeds import generator
from vlgate.types import Difference, FloatArray, Metric

PAGE = Path(__file__).resolve().parents[1] / "docs" / "error-rates.md"
SIZES = (30, 100, 300, 1000)
DRAWS = 4000
CLUSTERED = 1000
"""Simulated tasks per cell with repeated images, each of which takes a millisecond."""
RESAMPLES = 400
"""Samples of the images of a task, drawn again."""
Z = NormalDist().inv_cdf(0.975)

TEXT = """\
# Error rates

How often the intervals, tests and gates of vlgate err. The figures come from the code that a run uses: sums over all
outcomes if the cases are independent and few enough, simulation with fixed seeds otherwise ({draws:,} samples a
cell, so 95 % of the simulated rates are within {error} of the true one; {clustered:,} samples with repeated images). A
rate is in percent. All intervals are those of 95 % confidence, so each of their two ends should miss at most 2.5 %.

<!-- Written by scripts/write_error_rates.py; change the code, then run it. -->

## Gates

A gate of `basis = "lower"` passes if its whole interval reaches the threshold, fails if none of it does, and is
inconclusive between. A *false alarm* is a fail of a model that lies exactly on the threshold; a *false pass* is a pass
of such a model. A *miss* is a model that is truly worse, by the named amount, and does not fail; an *unshown* one is
truly better, and does not pass. Misses and unshown models are mostly inconclusive: the last column has those that pass
or fail on the wrong side.

{gates}

With `basis = "value"` there is no inconclusive outcome, and a model that lies on the threshold fails about every other
time, whatever the number of cases is.

## Known limits

`max = 0.60`: a limit fails if the whole interval lies above it. A false alarm is a fail of a model at 0.60.

{limits}

## Gates on a drop

`max_drop = 0.05`, with {churn} % of the verdicts changing. A false alarm is a fail of a model that drops by exactly
0.05, a false pass is a pass of such a model. `vlgate` refuses this gate before the run if the cases are too few for an
unchanged model to pass with 80 % power: below {needed:,} cases for an `expected_churn` of {churn} %.

{drops}

## Several gates

All gates must pass, so a bad model passes them at most as often as the gate that it is worst at, and nothing needs a
correction. False alarms add up: m independent gates on the thresholds raise at least one in 1 - 0.975^m of samples.
`fail_correction` in [thresholds.toml](reference/thresholds.md) keeps that at about 2.5 %; a fail that it does not keep
is inconclusive, never a pass. The table has gates of `min = 0.80` over 1,000 cases. Each run prints both rates for its
own gates, and how often a model as good as measured passes all of them on another sample.

| gates | no correction | Holm | Benjamini and Hochberg |
|---|---|---|---|
{several}

## Intervals of a difference

Coverage of the interval of the difference between two runs on the same cases, over drops of 0 to 10 points. `Wald` is
the usual interval from the standard error, for comparison; vlgate does not use it. Rows with repeated images have
Tango's interval at the effective number of cases, with the variance between images and Student's t.

{intervals}

## McNemar's test

How often the test of two equally good models rejects at 0.05, over shares of changed cases of 1 to 40 %: the largest
rate. The exact test rejects too seldom; mid-p, which vlgate prints, keeps close to 5 %.

{mcnemar}

## P-values with repeated images

How often two equally good models have p < 0.05 if the cases of an image are alike: 10 % of the cases break and 10 % are
fixed, and a part of these changes is common to the image. If images repeat, vlgate prints the p-value that belongs to
the interval of the difference, so that it is below 0.05 exactly if the interval does not contain 0.

| images | cases of each | common changes | p by image | McNemar, which ignores images |
|---|---|---|---|---|
{by_image}

## Near 0 and 1

Wilson's interval fails too many models that lie on a threshold near 0 or 1. So with at most {few} cases expected on one
side of it, a share fails only if the exact binomial test says so, too. Passes are judged by the interval alone.

{ends}

Several gates of `min` near 1, all models on their thresholds: how often any of them fails. The corrections use the
exact p-value everywhere.

| gates | cases | threshold | no correction | Holm | Benjamini and Hochberg |
|---|---|---|---|---|---|
{ends_together}

## Another sample

Each run prints how often a model as good as measured would pass on new cases. The table has that rate, with the range
that is printed beside it, and the share of {resamples} samples of the images, drawn again, that the gates pass.

| gate | cases | images | printed | range | drawn again |
|---|---|---|---|---|---|
{again}

It stands on one sample, so it is rough: over samples of 300 cases with 0.80 right, `min = 0.75` has a rate of {true} %,
and runs print {plug_low} to {plug_high} % (the middle 80 % of them). The printed range holds the true rate in {held} %
of samples; it should in 80 %.

## The gain of looking

`visual_gain` is the smallest of the gains over several conditions without the image. The table has four conditions, the
same gain of 0.25 over one of them at least, and half of the cases alike in all four: how often the interval lies wholly
below or above the true smallest gain, and how far the value lies from it on average.

| cases | the other gains | above the interval | below the interval | value |
|---|---|---|---|---|
{gains}
"""


def page() -> str:
    """Return the whole page."""
    return TEXT.format(
        draws=DRAWS,
        error="0.7 points",
        clustered=CLUSTERED,
        gates=table(
            ("cases", "threshold", "false alarm", "false pass", "missed at -0.10", "unshown at +0.10", "wrong side"),
            gates(),
        ),
        limits=table(("cases", "false alarm", "missed at 0.70", "missed at 0.80"), limits()),
        churn=10,
        needed=_needed(),
        drops=table(
            ("cases", "false alarm", "false pass", "missed at a drop of 0.10", "unshown if unchanged"), drops()
        ),
        several=body(several()),
        intervals=table(("cases", "cases per image", "changed", "coverage", "lowest", "Wald, lowest"), intervals()),
        mcnemar=table(("cases", "mid-p", "exact"), tests()),
        by_image=body(p_values_by_image()),
        few=FEW,
        ends=table(("cases", "threshold", "false alarm", "of the interval alone", "false pass"), near_the_ends()),
        ends_together=body(several_near_the_ends()),
        resamples=RESAMPLES,
        again=body(another_sample()),
        **roughness(),
        gains=body(smallest_gains()),
    )


def body(rows: Iterator[tuple[str, ...]]) -> str:
    """Return rows of a Markdown table without its head."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, tuple("---" for _ in head), *rows)]
    return "\n".join(lines)


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
    held = np.array([one == wanted for one in outcomes(n, gate)])
    return float(binomial(n, share)[held].sum())


def gates() -> Iterator[tuple[str, ...]]:
    """Yield the rows of gates with a minimum, by the number of cases and the threshold."""
    for n in SIZES:
        for least in (0.60, 0.90):
            gate = Gate(task="a/b", metric="acc_r", min=least)
            worse, better = round(least - 0.10, 2), min(1.0, round(least + 0.10, 2))
            wrong = max(chance(n, gate, worse, "pass"), chance(n, gate, better, "fail"))
            rates = (
                chance(n, gate, least, "fail"),
                chance(n, gate, least, "pass"),
                1 - chance(n, gate, worse, "fail"),
                1 - chance(n, gate, better, "pass"),
                wrong,
            )
            yield (f"{n:,}", f"min = {least:.2f}", *map(percent, rates))


def limits() -> Iterator[tuple[str, ...]]:
    """Yield the rows of known limits."""
    gate = Gate(task="a/b", metric="acc_r", max=0.60, kind="limit")
    for n in SIZES:
        rates = (chance(n, gate, 0.60, "fail"), *(chance(n, gate, share, "cannot") for share in (0.70, 0.80)))
        yield (f"{n:,}", *map(percent, rates))


def drops() -> Iterator[tuple[str, ...]]:
    """Yield the rows of gates on a drop: pairs of runs, decided by the score statistic of Tango's interval."""
    most = 0.05
    for n in SIZES:
        on_it, twice, same = (_drop_statistics(n, drop, most) for drop in (most, 2 * most, 0.0))
        rates = ((on_it < -Z).mean(), (on_it >= Z).mean(), 1 - (twice < -Z).mean(), 1 - (same >= Z).mean())
        yield (f"{n:,}", *(percent(float(rate)) for rate in rates))


def _drop_statistics(n: int, drop: float, most: float) -> FloatArray:
    """The score statistic at a drop of ``most`` in simulated pairs of runs; beyond Z, the interval is on one side."""
    counts = _pairs(n, drop, 0.10, DRAWS)
    gate = Gate(task="a/b", metric="acc_r", kind="max_drop", max=most)
    found = {pair: score(*pair, n, -most) for pair in set(counts)}
    for broken, fixed in list(found)[:20]:  # the interval itself says the same
        low, high = tango(broken, fixed, n)
        interval = Difference(value=0.0, low=low, high=high, n=n, broken=broken, fixed=fixed)
        if beyond(gate, interval) != (found[broken, fixed] < -Z):
            raise ValueError(f"tango({broken}, {fixed}, {n}) and score disagree about a drop of {most}")
    return np.array([found[pair] for pair in counts])


def _pairs(n: int, drop: float, changing: float, draws: int) -> list[tuple[int, int]]:
    """The numbers of broken and fixed cases in simulated pairs of runs."""
    broken, fixed = (changing + drop) / 2, (changing - drop) / 2
    random = generator(f"error rates of drops:{n}:{drop}:{changing}")
    return [(b, f) for b, f, _ in random.multinomial(n, [broken, fixed, 1 - broken - fixed], draws).tolist()]


def _needed() -> int:
    from vlgate.metrics.paired import cases_for_margin

    return cases_for_margin(0.05, 0.10)


def several() -> Iterator[tuple[str, ...]]:
    """Yield how often at least one of several gates on their thresholds fails, with and without a correction."""
    mean = proportion((np.arange(1000) < 800).astype(np.float64))
    for m in (1, 3, 14, 50):
        made = [
            Decision(gate=Gate(task=f"a/{place}", metric="acc_r", min=0.8), outcome="inconclusive", why="", metric=mean)
            for place in range(m)
        ]
        rates = (error_rates(made, name) for name in ("none", "holm", "bh"))
        yield (f"{m}", *(percent(found.threshold_fails) for found in rates if found is not None))


def intervals() -> Iterator[tuple[str, ...]]:
    """Yield how often the interval of a difference holds the true one."""
    for n in SIZES:
        for changing in (0.10, 0.30):
            found = [_covered(n, drop, changing) for drop in (0.0, changing / 4, changing / 2)]
            yield _row(n, "1", changing, [one for one, _ in found], percent(min(wald for _, wald in found)))
        for per_image in (2, 5):
            shares = [_covered_by_image(n, per_image, drop) for drop in (0.0, 0.05, 0.10)]
            yield _row(n, f"{per_image}", 0.20, shares, "")


def _row(n: int, per_image: str, changing: float, shares: Sequence[float], wald: str) -> tuple[str, ...]:
    mean = sum(shares) / len(shares)
    return f"{n:,}", per_image, f"{100 * changing:.0f} %", percent(mean), percent(min(shares)), wald


def _covered(n: int, drop: float, changing: float) -> tuple[float, float]:
    """How often Tango's interval and Wald's hold the true difference."""
    counts = _pairs(n, drop, changing, DRAWS)
    tangos = {pair: abs(score(*pair, n, -drop)) <= Z for pair in set(counts)}
    walds = {(b, f): abs((f - b) / n + drop) <= Z * (b + f - (f - b) ** 2 / n) ** 0.5 / n for b, f in set(counts)}
    return sum(tangos[pair] for pair in counts) / DRAWS, sum(walds[pair] for pair in counts) / DRAWS


def _covered_by_image(n: int, per_image: int, drop: float) -> float:
    """How often the interval holds the true difference if the cases of an image break and are fixed alike."""
    random = generator(f"error rates of drops by image:{n}:{per_image}:{drop}")
    groups = clusters([str(row // per_image) for row in range(n)])
    broken, fixed = 0.10 + drop / 2, 0.10 - drop / 2
    held = 0
    for _ in range(CLUSTERED):
        kind = random.random(len(groups.sizes))[groups.codes]
        alone = random.random(n) < 0.5  # half of the cases go with their image, the others on their own
        kind = np.where(alone, random.random(n), kind)
        before, after = (kind < broken).astype(np.float64), (kind > 1 - fixed).astype(np.float64)
        found = difference(before, after, groups)
        held += found.low <= -drop <= found.high
    return held / CLUSTERED


def tests() -> Iterator[tuple[str, ...]]:
    """Yield the largest size of McNemar's test, summed over the distribution of the changed cases."""
    for n in (10, 20, 30, 50, 100):
        sizes = {name: _size(n, exact=name == "exact") for name in ("mid-p", "exact")}
        yield (f"{n}", *map(percent, sizes.values()))


def _size(n: int, *, exact: bool) -> float:
    """The largest rate of rejections at 0.05 of two equally good models, over shares of changed cases."""
    rejected = [
        sum(binomial(m, 0.5)[k] for k in range(m + 1) if mcnemar(k, m - k, exact=exact) < 0.05) for m in range(n + 1)
    ]
    return max(float(binomial(n, share / 100) @ np.array(rejected)) for share in range(1, 41))


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
            tail(gate, partial(_share, k, n)) / level if one == "fail" else inf
            for k, one in enumerate(outcomes(n, gate))
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
    kind = "max_drop" if len(columns) == 2 else "gate"
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


def main(arguments: list[str]) -> int:
    """Write or check the page.

    Returns: the exit status.
    """
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
    if not same:
        print("docs/error-rates.md is not what the code says; run: python scripts/write_error_rates.py")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
