"""How often the 95 % intervals hold the truth, in simulation: means, ``min_pc_pf`` and ``auroc``, by image.

Prints a Markdown table in percent: the lowest and the highest coverage over the true values of ``TRUTHS``. ``--runs N``
is the number of simulated tasks per true value. The seeds are fixed, so two runs print the same.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from vlgate.metrics.clusters import Clusters, clusters
from vlgate.metrics.stats import area, proportion, smaller
from vlgate.seeds import generator
from vlgate.types import FloatArray, Metric

Statistic = Literal["mean", "min_pc_pf", "auroc"]
TRUTHS: dict[Statistic, tuple[float, ...]] = {
    "mean": (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98),
    "min_pc_pf": (0.3, 0.5, 0.7, 0.9),
    "auroc": (0.5, 0.7, 0.8, 0.9, 0.95),
}
CASES = (30, 100, 300, 1000, 3000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is simulated: ``correlation`` is the intra-class correlation of the cases of one image."""

    statistic: Statistic
    cases: int
    truth: float
    per_image: int
    correlation: float

    def __str__(self) -> str:
        """Name the setting in one word."""
        return f"{self.statistic}-{self.cases}-{self.per_image}-{self.correlation:g}-{self.truth:g}"


def coverage(setting: Setting, runs: int) -> float:
    """Return the share of ``runs`` simulated tasks whose 95 % interval holds the truth."""
    random = generator(f"coverage:{setting}")
    groups = clusters([str(row // setting.per_image) for row in range(setting.cases)])
    truth = setting.truth
    found = (_metric(setting, groups, random) for _ in range(runs))
    return sum(metric.low - 1e-12 <= truth <= metric.high + 1e-12 for metric in found) / runs


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
        for per_image in (1, 2, 5, 20):
            for rho in (0.0, 0.1, 0.5) if per_image > 1 else (0.0,):
                cells = " | ".join(_range(statistic, (cases, per_image, rho), runs) for cases in CASES)
                print(f"| {statistic} | {per_image} | {rho:g} | {cells} |", flush=True)


def _range(statistic: Statistic, about: tuple[int, int, float], runs: int) -> str:
    cases, per_image, rho = about
    one = Setting(statistic=statistic, cases=cases, truth=0.5, per_image=per_image, correlation=rho)
    shares = [100 * coverage(replace(one, truth=truth), runs) for truth in TRUTHS[statistic]]
    return f"{min(shares):.1f} - {max(shares):.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="simulated tasks per true value (default: 400)")
    _print(parser.parse_args().runs)
