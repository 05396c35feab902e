"""Whether acuity charts are right: coverage, calls against a grid, and each defect on its own chart only.

`python benchmarks/acuity.py coverage` simulates observers whose threshold is known, and prints how often the 95 %
interval holds it. `calls` looks for the number of trials that a grid of all levels needs for an interval as wide as
that of the staircase. `defects` draws all charts of models with one defect, and of observers with a limit that is
known. All choices are seeded, so two runs print the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from limits import LIMITS

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.fixtures.reader.defects import DEFECTS
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.gates.acuity import said
from vlgate.metrics.perception import FACULTIES, Acuity, Fit, fitted, share
from vlgate.metrics.stats import wilson
from vlgate.seeds import generator
from vlgate.studies.acuity.charts import ChartRun, change
from vlgate.studies.acuity.staircase import ROUND, TRIALS, Staircase, charts

SPREADS = (0.02, 0.04, 0.08)
"""From a rise within a tenth of the range to one over a third of it; from 10 % to 90 % are 4.4 spreads."""
BESTS = (1.0, 0.95, 0.85)
PLACES = FACULTIES["noun"].places()
OWN: Mapping[str, str] = {
    "shape-blind": "noun",
    "large-only": "noun",
    "colour-blind": "colour",
    "count-blind": "count",
    "quantifier-deaf": "count",
    "left-right": "left-right",
    "blurred": "blur",
    "ten-tokens": "text-length",
}
"""The chart of each defect that has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """A simulated observer: a psychometric function that is known."""

    threshold: float
    spread: float
    best: float

    def right(self, places: np.ndarray, chance: np.random.Generator) -> np.ndarray:
        """Reply to a trial at each of some places, shape (k,)."""
        values = (np.array(value) for value in (self.threshold, self.spread, self.best))
        return chance.random(len(places)) < share(places, *values)


def staircase(one: Observer, chance: np.random.Generator) -> tuple[Fit, int]:
    """Run the staircase; return what it finds, and its trials."""
    stairs = Staircase.over(PLACES)
    while stairs.asked.sum() < TRIALS and not stairs.decided:
        at = stairs.following(ROUND)
        stairs.add(at, one.right(PLACES[at], chance))
    return stairs.fit(), int(stairs.asked.sum())


def constant(one: Observer, each: int, chance: np.random.Generator) -> Fit:
    """Ask every level so often, and fit in the same way."""
    stairs = Staircase.over(PLACES)
    at = np.repeat(np.arange(len(PLACES)), each)
    stairs.add(at, one.right(PLACES[at], chance))
    return fitted(stairs.observers, stairs.right, stairs.asked)


def observers(spread: float, best: float, number: int) -> Iterator[tuple[Observer, np.random.Generator]]:
    """Yield observers with thresholds drawn from 0.1 to 0.9 of the range, each with its random numbers."""
    for index in range(number):
        chance = generator(f"acuity/{spread}/{best}/{index}")
        yield Observer(threshold=float(chance.uniform(0.1, 0.9)), spread=spread, best=best), chance


def coverage(spreads: Sequence[float], number: int) -> Iterator[str]:
    """Yield a row for each spread and best, and the total."""
    yield "| spread | best | observers | held by the interval | median width | median error | trials |"
    yield "|---|---|---|---|---|---|---|"
    held: list[bool] = []
    for spread in spreads:
        for best in BESTS:
            found = [(one, *staircase(one, chance)) for one, chance in observers(spread, best, number)]
            inside = [fit.low <= one.threshold <= fit.high for one, fit, _ in found]
            width = np.median([fit.high - fit.low for _, fit, _ in found])
            error = np.median([abs(fit.threshold - one.threshold) for one, fit, _ in found])
            trials = np.mean([trials for *_, trials in found])
            held += inside
            yield f"| {spread} | {best} | {number} | {np.mean(inside):.3f} | {width:.3f} | {error:.3f} | {trials:.0f} |"
    low, high = wilson(float(np.mean(held)), len(held))
    yield f"| all | | {len(held):,} | {np.mean(held):.3f} ({low:.3f} to {high:.3f}) | | | |"


def calls(spreads: Sequence[float], number: int) -> Iterator[str]:
    """Yield a row for each spread and best: the trials of a grid whose interval is as wide, and the ratio."""
    yield "| spread | best | width | staircase | grid, fitted | ratio | grid, read level by level | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    for spread in spreads:
        for best in BESTS:
            found = [staircase(one, chance) for one, chance in observers(spread, best, number)]
            width = float(np.median([fit.high - fit.low for fit, _ in found]))
            trials = float(np.mean([trials for _, trials in found]))
            needed = _needed(spread, best, number, width)
            plain = read(spread, best, width)
            told = f"{needed:,.0f} | {needed / trials:.1f} | {plain:,.0f} | {plain / trials:.1f}"
            yield f"| {spread} | {best} | {width:.3f} | {trials:.0f} | {told} |"


def read(spread: float, best: float, width: float) -> float:
    """Return the trials of a grid of all levels that is read without a curve, by an observer whose best is known.

    Its interval holds the levels whose 95 % interval of the share contains the midpoint.
    """
    middle = (0.5 + best) / 2
    reach = float(share(np.array(width / 2), np.array(0.0), np.array(spread), np.array(best))) - middle
    return 1.96**2 * middle * (1 - middle) / reach**2 * len(PLACES)


def _needed(spread: float, best: float, number: int, width: float) -> float:
    """The trials of a grid with this median width, between two sizes on the lines of their logarithms."""
    sizes = np.array([4, 8, 16, 32, 64, 128, 256])
    widths: list[float] = []
    for each in sizes.tolist():
        found = [constant(one, each, chance) for one, chance in observers(spread, best, number)]
        widths.append(float(np.median([fit.high - fit.low for fit in found])))
        if widths[-1] < width:
            break
    known = np.log(sizes[: len(widths)] * len(PLACES))
    return float(np.exp(np.interp(-np.log(width), -np.log(widths), known)))


def defects(seed: int) -> Iterator[str]:
    """Yield a row for each model with a defect: its own chart, and the charts that are beyond the intact reader's."""
    reading = Reading()
    intact = _release("reader", Reader(reading=reading), seed)
    yield "| model | its chart | what that chart shows | charts that are worse than the intact reader's |"
    yield "|---|---|---|---|"
    models = [(name, chart, DEFECTS[name].build(reading)) for name, chart in OWN.items()]
    models += [(f"limit: {limit.says}", limit.chart, limit.build(reading)) for limit in LIMITS.values()]
    wrong = 0
    for name, chart, model in models:
        release = _release(name, model, seed)
        worse = [one.faculty for one in release.charts if change(one, intact.chart(one.faculty)) == "worse"]
        told = {one.faculty: one for one in release.charts}
        wrong += worse != [chart]
        yield f"| {name} | {chart} | {_told(told[chart])} | {', '.join(worse)} |"
    yield f"\n{len(models)} models, {wrong} not as expected; the intact reader: {_all(intact.charts)}"


def _release(name: str, model: object, seed: int) -> ChartRun:
    asked = ModelPredictor(model=model, name=name, caller=Caller(name=name, size=4096), seed=0)
    return ChartRun(model=name, fingerprint="", seed=seed, charts=tuple(charts(asked, tuple(FACULTIES), TRIALS, seed)))


def _told(chart: Acuity) -> str:
    return f"{said(chart)}, {chart.calls} calls"


def _all(acuities: Sequence[Acuity]) -> str:
    return ", ".join(sorted({acuity.word for acuity in acuities}))


def main() -> int:
    """Print what is asked for.

    Returns: the exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("coverage", "calls", "defects"))
    parser.add_argument("--observers", type=int, default=100, help="simulated observers of each kind")
    parser.add_argument("--spread", type=float, action="append", help="only these spreads")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    spreads = given.spread or SPREADS
    rows = {"coverage": lambda: coverage(spreads, given.observers), "calls": lambda: calls(spreads, given.observers)}
    for row in rows[given.what]() if given.what in rows else defects(given.seed):
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
