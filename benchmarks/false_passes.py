"""How often a gate passes a model on its threshold in hard cases: few large images, halves, classes, rare truths.

Prints Markdown tables in percent: the largest rate over the settings of a row at which the lower end of a 95 % interval
lies above the truth, and at which the upper end lies below it. Each should be 2.5 %, and is 4 % at most on the side of
a pass. ``--runs N`` is the number of simulated tasks per setting. The seeds are fixed, so two runs print the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters, numbered
from vlgate.metrics.macro import macro
from vlgate.metrics.paired import difference
from vlgate.metrics.stats import area, proportion, separation
from vlgate.seeds import generator
from vlgate.types import Difference, FloatArray, Metric

_NEAR = 1e-12
SIZES: dict[str, tuple[int, ...]] = {
    "3 of 40, 60 of 1": (40,) * 3 + (1,) * 60,
    "5 of 20, 100 of 1": (20,) * 5 + (1,) * 100,
    "10 of 10, 100 of 1": (10,) * 10 + (1,) * 100,
    "4 of 25, 200 of 1": (25,) * 4 + (1,) * 200,
    "6 of 30, 30 of 2": (30,) * 6 + (2,) * 30,
    "2 of 50, 100 of 1": (50,) * 2 + (1,) * 100,
    "1 of 100, 50 of 1": (100,) + (1,) * 50,
    "1 of 500, 50 of 1": (500,) + (1,) * 50,
    "30 of Zipf sizes": tuple(max(1, round(100 / rank)) for rank in range(1, 31)),
    "60 of lognormal sizes": tuple(
        int(size) for size in np.maximum(1, np.exp(generator("false passes:sizes").normal(1, 1.2, 60)).round())
    ),
    "30 of 5": (5,) * 30,
    "100 of 5": (5,) * 100,
}
"""The numbers of cases of the images of a task."""
CLASSES: dict[str, tuple[tuple[int, int, float], ...]] = {
    "9 of 400 at .98, 1 of 10 at .5": ((9, 400, 0.98), (1, 10, 0.5)),
    "9 of 400 at .98, 1 of 10 at .8": ((9, 400, 0.98), (1, 10, 0.8)),
    "8 of 1000 at .97, 2 of 5 at .4": ((8, 1000, 0.97), (2, 5, 0.4)),
    "1 of 400 at .95, 1 of 20 at .5": ((1, 400, 0.95), (1, 20, 0.5)),
    "20 of 50 at .95, 10 of 1 at .5": ((20, 50, 0.95), (10, 1, 0.5)),
    "9 of 400 at .5, 1 of 10 at .98": ((9, 400, 0.5), (1, 10, 0.98)),
    "10 of 20 at .9": ((10, 20, 0.9),),
}
"""Numbers of classes, of the cases of each, and the share of them that is right."""
RARE = ((10, 500), (5, 100), (30, 300), (20, 2000), (30, 30), (100, 100))
"""Numbers of true and of false statements."""

Simulated = Callable[[np.random.Generator], Metric | Difference]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is simulated: ``draw`` draws a task and returns its metric, whose true value is ``truth``."""

    name: str
    truth: float
    draw: Simulated = field(repr=False)


def missed(setting: Setting, runs: int) -> tuple[float, float]:
    """Return the shares of simulated tasks whose whole interval lies above the truth, and below it."""
    random = generator(f"false passes:{setting.name}")
    ends = [(metric.low, metric.high) for metric in (setting.draw(random) for _ in range(runs))]
    above = sum(low > setting.truth + _NEAR for low, _ in ends)
    return above / runs, sum(high < setting.truth - _NEAR for _, high in ends) / runs


def images_of(name: str) -> Clusters:
    """Return the images of ``SIZES``."""
    return numbered(np.repeat(np.arange(len(SIZES[name])), SIZES[name]))


def shares(name: str) -> Iterator[Setting]:
    """Yield means of right and wrong cases, beta-binomial by image."""
    groups = images_of(name)
    for alike, share in product((0.0, 0.1, 0.3, 0.6, 1.0), (0.5, 0.7, 0.8, 0.9, 0.95)):
        draw = partial(_share, groups, alike, share)
        yield Setting(name=f"share:{name}:{alike}:{share}", truth=share, draw=draw)


def drops(name: str) -> Iterator[Setting]:
    """Yield differences: the part ``alike`` of the cases of an image breaks or is fixed as the image does."""
    groups = images_of(name)
    for alike, (broken, fixed) in product((0.3, 0.7, 1.0), ((0.10, 0.0), (0.12, 0.02), (0.15, 0.05))):
        draw = partial(_drop, groups, alike, broken, fixed)
        yield Setting(name=f"drop:{name}:{alike}:{broken}:{fixed}", truth=fixed - broken, draw=draw)


def halves(n: int) -> Iterator[Setting]:
    """Yield differences of the mean of two answers a case, which change alike in the part ``alike`` of the cases."""
    for alike, broken, part in product((0.0, 0.5, 1.0), (0.01, 0.05, 0.2), (0.0, 0.5)):
        draw = partial(_halves, n, alike, broken, part * broken)
        yield Setting(name=f"halves:{n}:{alike}:{broken}:{part}", truth=(part - 1) * broken, draw=draw)


def macros(name: str) -> Iterator[Setting]:
    """Yield a mean over classes, with an image for each case."""
    sizes, shares_ = (np.concatenate([[part[at]] * part[0] for part in CLASSES[name]]) for at in (1, 2))
    classes = np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))
    draw = partial(_macro, classes, np.asarray(shares_, dtype=np.float64))
    yield Setting(name=f"macro:{name}", truth=float(np.mean(shares_)), draw=draw)


def rare(true: int, false: int) -> Iterator[Setting]:
    """Yield areas of single statements with normal scores."""
    for truth in (0.75, 0.95, 0.99):
        yield Setting(name=f"rare:{true}:{false}:{truth}", truth=truth, draw=partial(_rare, true, false, truth))


def pairs(n: int) -> Iterator[Setting]:
    """Yield areas of pairs with normal scores, which correlate within a pair."""
    for alike, truth in product((-0.5, 0.0, 0.5), (0.8, 0.95, 0.99)):
        yield Setting(name=f"pairs:{n}:{alike}:{truth}", truth=truth, draw=partial(_pairs, n, alike, truth))


def _share(groups: Clusters, alike: float, share: float, random: np.random.Generator) -> Metric:
    images = len(groups.sizes)
    if alike in (0.0, 1.0):
        chances = (random.random(images) < share).astype(np.float64) if alike else np.full(images, share)
    else:
        chances = random.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), images)
    return proportion((random.random(len(groups.codes)) < chances[groups.codes]).astype(np.float64), groups)


def _drop(groups: Clusters, alike: float, broken: float, fixed: float, random: np.random.Generator) -> Difference:
    n = len(groups.codes)
    kind = np.where(random.random(n) < alike, random.random(len(groups.sizes))[groups.codes], random.random(n))
    return difference((kind < broken).astype(np.float64), (kind > 1 - fixed).astype(np.float64), groups)


def _halves(n: int, alike: float, broken: float, fixed: float, random: np.random.Generator) -> Difference:
    kind = random.random((n, 2))
    kind[:, 1] = np.where(random.random(n) < alike, kind[:, 0], kind[:, 1])
    return difference((kind < broken).mean(axis=1), (kind > 1 - fixed).mean(axis=1))


def _macro(classes: NDArray[np.int64], shares_: FloatArray, random: np.random.Generator) -> Metric:
    return macro((random.random(len(classes)) < shares_[classes]).astype(np.float64), classes)


def _rare(true: int, false: int, truth: float, random: np.random.Generator) -> Metric:
    truths = np.arange(true + false) < true
    return separation(random.normal(size=true + false) + _apart(truth) * truths, truths)


def _pairs(n: int, alike: float, truth: float, random: np.random.Generator) -> Metric:
    negative, own = random.normal(size=n), random.normal(size=n)
    positive = alike * negative + (1 - alike**2) ** 0.5 * own
    return area(np.asarray(positive + _apart(truth), dtype=np.float64), negative)


def _apart(truth: float) -> float:
    return float(NormalDist().inv_cdf(truth) * 2**0.5)


def rows(runs: int) -> Iterator[tuple[str, str, float, float]]:
    """Yield the kind of metric, the setting, and the largest rates of intervals above and below the truth."""
    kinds: list[tuple[str, str, Iterator[Setting]]] = [
        *(("share", name, shares(name)) for name in SIZES),
        *(("drop", name, drops(name)) for name in SIZES),
        *(("drop of halves", f"{n:,}", halves(n)) for n in (30, 60, 150, 400)),
        *(("macro", name, macros(name)) for name in CLASSES),
        *(("auroc, statements", f"{true} true, {false:,} false", rare(true, false)) for true, false in RARE),
        *(("auroc, pairs", f"{n:,}", pairs(n)) for n in (60, 150, 400)),
    ]
    for kind, name, settings in kinds:
        both = [missed(setting, runs) for setting in settings]
        yield kind, name, max(above for above, _ in both), max(below for _, below in both)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="simulated tasks per setting (default: 2000)")
    print("| metric | cases | above the truth | below the truth |\n|---|---|---|---|")
    for kind, name, above, below in rows(parser.parse_args().runs):
        print(f"| {kind} | {name} | {100 * above:.1f} | {100 * below:.1f} |", flush=True)
