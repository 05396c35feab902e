"""Write docs/error-rates.md, how often intervals, tests and gates err: `python scripts/write_error_rates.py [--check]`.

Independent cases are summed over their distribution, without simulation, if that takes a minute at most; the rest is
simulated with fixed seeds. With ``--check`` nothing is written; the exit status is 1 if the page is not what the code
says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import NormalDist

import error_rates_beside as beside
import numpy as np
from error_rates_beside import CLUSTERED, DRAWS, binomial, chance, percent

from vlgate.gates.error_rates import error_rates
from vlgate.gates.p_values import FEW, beyond
from vlgate.gates.records import Decision, Gate
from vlgate.metrics.clusters import clusters
from vlgate.metrics.paired import difference, mcnemar, score, tango
from vlgate.metrics.stats import proportion
from vlgate.seeds import generator
from vlgate.types import Difference, FloatArray

PAGE = Path(__file__).resolve().parents[1] / "docs" / "error-rates.md"
SIZES = (30, 100, 300, 1000)
HARD = 2000
"""Simulated tasks per setting if images, classes or truths are of unequal size."""
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

## Hard intervals

How often the whole 95 % interval lies above the true value, so that a model on the threshold of a `min`, or on that of
a `max_drop`, passes; and how often it lies below, so that a model on a `max` does. The rate is the largest one over
the settings of a row ({hard:,} samples each): shares of right cases of 50 to 95 %, cases of an image that are alike in
0 to 100 %, drops of 10 points, areas of 0.75 to 0.99. Images of unequal size have the variance that their cases show
within them; see [Metrics](reference/metrics.md). If one or two images hold half of the cases or more, the figure is
worth little more than one or two cases. If these are all wrong, which is likelier than 2.5 %, the interval lies below a
true share of over 0.8: see the last column of `1 of 100, 50 of 1`, which is one image with 100 cases and 50 images with
one case each. The code is `benchmarks/false_passes.py`.

{false_passes}

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
        hard=HARD,
        false_passes=table(("metric", "cases", "above the truth", "below the truth"), hard()),
        by_image=body(beside.p_values_by_image()),
        few=FEW,
        ends=table(
            ("cases", "threshold", "false alarm", "of the interval alone", "false pass"), beside.near_the_ends()
        ),
        ends_together=body(beside.several_near_the_ends()),
        resamples=beside.RESAMPLES,
        again=body(beside.another_sample()),
        **beside.roughness(),
        gains=body(beside.smallest_gains()),
    )


def body(rows: Iterator[tuple[str, ...]]) -> str:
    """Return rows of a Markdown table without its head."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, tuple("---" for _ in head), *rows)]
    return "\n".join(lines)


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
            Decision(gate=Gate(task=f"a/{index}", metric="acc_r", min=0.8), outcome="inconclusive", why="", metric=mean)
            for index in range(m)
        ]
        rates = (error_rates(made, name) for name in ("none", "holm", "bh"))
        yield (f"{m}", *(percent(rate.threshold_fails) for rate in rates if rate is not None))


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


def hard() -> Iterator[tuple[str, ...]]:
    """Yield how often the interval misses the truth on each side, for images, classes and truths of unequal size."""
    sys.path.insert(0, str(PAGE.parents[1] / "benchmarks"))
    from false_passes import rows

    for kind, name, above, below in rows(HARD):
        yield kind, name, percent(above), percent(below)


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
