"""How often the 95 % intervals hold the truth: means, ``min_pc_pf`` and ``auroc``, by image.

Prints a Markdown table in percent: the mean of the coverage over the true values, the lowest and the highest. The
coverage of means of independent cases is summed over the binomial distribution for the true values 0.02, 0.03, ...,
0.98; all other values are simulated at those of ``TRUTHS``. ``--runs N`` is the number of simulated tasks per true
value. The seeds are fixed, so two runs print the same.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from math import lgamma, log
from statistics import NormalDist
from typing import Literal

import numpy as np

from vlgate.metrics.clusters import Clusters, clusters
from vlgate.metrics.stats import area, proportion, smaller
from vlgate.seeds import generator
from vlgate.types import FloatArray, Metric

Statistic = Literal["mean", "min_pc_pf", "auroc"]
TRUTHS: dict[Statistic, tuple[float, ...]] = {
    "mean": (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.98),
    "min_pc_pf": (0.3, 0.5, 0.7, 0.9),
    "auroc": (0.5, 0.7, 0.8, 0.9, 0.95),
}
EXACT = tuple(percent / 100 for percent in range(2, 99))
CASES = (30, 100, 300, 1000, 3000)
_NEAR = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is simulated: ``correlation`` is the intra-class correlation of the cases of one image.

    Each image has ``per_image`` cases, or if ``equal`` is false a geometric number of cases with this mean.
    """

    statistic: Statistic
    cases: int
    truth: float
    per_image: int
    correlation: float
    equal: bool = True

    def __str__(self) -> str:
        """Name the setting in one word."""
        about = "" if self.equal else "about-"
        return f"{self.statistic}-{self.cases}-{about}{self.per_image}-{self.correlation:g}-{self.truth:g}"


def coverage(setting: Setting, runs: int) -> float:
    """Return the share of ``runs`` simulated tasks whose 95 % interval holds the truth."""
    random = generator(f"coverage:{setting}")
    truth = setting.truth
    found = (_metric(setting, _images(setting, random), random) for _ in range(runs))
    return sum(metric.low - _NEAR <= truth <= metric.high + _NEAR for metric in found) / runs


def _images(setting: Setting, random: np.random.Generator) -> Clusters:
    """The images of the cases; those of unequal size are drawn again for each task."""
    if setting.equal:
        return clusters([str(row // setting.per_image) for row in range(setting.cases)])
    sizes = random.geometric(1 / setting.per_image, setting.cases)
    return clusters(np.repeat(np.arange(setting.cases), sizes)[: setting.cases].astype(str))


def exact_coverage(cases: int, truths: tuple[float, ...] = EXACT) -> list[float]:
    """Return the coverage of the interval of a mean of independent cases at each true value, without simulation.

    It is the sum of the binomial probabilities of those numbers of right cases whose interval holds the true value.
    """
    right = np.arange(cases + 1)
    ends = [proportion((np.arange(cases) < number).astype(np.float64)) for number in right]
    low, high = (np.array([getattr(metric, end) for metric in ends]) for end in ("low", "high"))
    ways = np.array([lgamma(cases + 1) - lgamma(k + 1) - lgamma(cases - k + 1) for k in right])
    chances = (np.exp(ways + right * log(truth) + (cases - right) * log(1 - truth)) for truth in truths)
    return [
        float(chance[(low <= truth + _NEAR) & (truth <= high + _NEAR)].sum())
        for truth, chance in zip(truths, chances, strict=True)
    ]


def _metric(setting: Setting, groups: Clusters, random: np.random.Generator) -> Metric:
    if setting.statistic == "mean":
        return proportion(_right(setting, groups, random), groups)
    if setting.statistic == "min_pc_pf":
        return smaller(_right(setting, groups, random), _right(setting, groups, random), groups)
    apart = NormalDist().inv_cdf(setting.truth) * 2**0.5
    return area(_scores(setting, groups, random) + apart, _scores(setting, groups, random), groups)


def _right(setting: Setting, groups: Clusters, random: np.random.Generator) -> FloatArray:
    """Right and wrong cases, beta-binomial by image."""
    share, rho = setting.truth, setting.correlation
    images = len(groups.sizes)
    chances = random.beta(share * (1 / rho - 1), (1 - share) * (1 / rho - 1), images) if rho else np.full(images, share)
    return (random.random(setting.cases) < chances[groups.codes]).astype(np.float64)


def _scores(setting: Setting, groups: Clusters, random: np.random.Generator) -> FloatArray:
    """Normal scores with a part that all texts of one truth share for an image."""
    shared = random.normal(size=len(groups.sizes))[groups.codes]
    rho = setting.correlation
    return np.asarray(rho**0.5 * shared + (1 - rho) ** 0.5 * random.normal(size=setting.cases), dtype=np.float64)


def _print(runs: int) -> None:
    print("| statistic | cases per image | correlation | " + " | ".join(f"{n:,} cases" for n in CASES) + " |")
    print("|---" * (3 + len(CASES)) + "|")
    for statistic in TRUTHS:
        for per_image, equal in ((1, True), (2, True), (5, True), (5, False), (20, True)):
            for rho in (0.0, 0.1, 0.5) if per_image > 1 else (0.0,):
                row = Setting(
                    statistic=statistic, cases=0, truth=0.5, per_image=per_image, correlation=rho, equal=equal
                )
                cells = " | ".join(_range(replace(row, cases=cases), runs) for cases in CASES)
                size = f"{per_image}" if equal else f"about {per_image}"
                print(f"| {statistic} | {size} | {rho:g} | {cells} |", flush=True)


def _range(setting: Setting, runs: int) -> str:
    if setting.statistic == "mean" and setting.per_image == 1:
        shares = exact_coverage(setting.cases)
    else:
        shares = [coverage(replace(setting, truth=truth), runs) for truth in TRUTHS[setting.statistic]]
    return f"{100 * sum(shares) / len(shares):.1f} ({100 * min(shares):.1f} - {100 * max(shares):.1f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="simulated tasks per true value (default: 400)")
    _print(parser.parse_args().runs)
