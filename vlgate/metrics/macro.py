"""Means of means, as the papers print them: over the classes of a task, and over tasks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters, each
from vlgate.metrics.stats import exact_sum, wilson
from vlgate.types import FloatArray, Metric

# The mean over classes of the mean of each class, as in ARO (Yuksekgonul et al. 2023), with its interval.

_ROUNDING = 1e-12


def macro(
    values: FloatArray, classes: NDArray[np.int64], groups: Clusters | None = None, confidence: float = 0.95
) -> Metric:
    """Compute the mean over classes of the mean of one value per case, with Wilson's interval.

    The n cases are worth at most ``K**2 / sum(1 / n_k)`` independent ones for K classes of n_k cases (Kish 1965: the
    effective number of weighted cases), and less if the classes with few cases vary more: the variance is that within
    classes. It is estimated with pseudo-cases, half of them right: two for all classes together, shared by their parts
    of ``sum(1 / n_k)``, so a small class that is all right or all wrong by chance is not taken for certain; and what a
    class differs from the mean counts like one more case. The cases are divided by the design effect by image; those of
    a class of one image count as one.

    The end nearer to 0 or 1 reaches at least as far as the limits of the classes together say (Zou, Donner 2008, the
    square root of the summed squares of the distances of Wilson's limits), which are not symmetric.

    Args:
        values: shape (n,), each in 0..1.
        classes: shape (n,), the number of each case's class.
        groups: the images of the cases; None if the cases are independent.
        confidence: of the two-sided interval.

    Returns: the metric; ``n`` counts cases.
    Raises: ValueError if there are no values, or one is NaN or outside 0..1.

    >>> macro(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0, 0, 0, 1])).value
    0.5
    """
    n = values.size
    if n == 0 or not bool(np.all((values >= 0.0) & (values <= 1.0))):
        raise ValueError(f"macro mean of {n} values: expected at least one, each in 0..1")
    _, codes, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    means = np.bincount(codes, weights=values) / sizes
    of_size = sizes[codes]  # rounded only once: a sum of rounded means may differ from a threshold by the last bit
    total = sum((exact_sum(values[of_size == size]) / int(size) for size in np.unique(sizes)), Fraction(0))
    value = float(total / sizes.size)
    weights = 1.0 / (sizes.size * sizes[codes])
    kish = 1.0 / float((weights**2).sum())
    groups = groups or each(n)
    images = np.bincount(np.unique(codes * n + groups.codes) // n)  # of each class
    independent = _variance(means, np.where(images > 1, sizes, 1), value)
    deff, widening = 1.0, 1.0
    if not groups.single:
        unbiased = np.sqrt(images / np.maximum(1, images - 1))[codes]  # a class's own mean is estimated from its images
        parts = weights * unbiased * (values - means[codes])
        sums = np.bincount(groups.codes, weights=parts).astype(np.float64)
        expected = (np.bincount(codes, weights=parts**2) / sizes)[codes]
        deff, widening = groups.effect(sums, independent, confidence, groups.surplus(parts**2, expected))
    same = value * (1 - value) / kish  # the variance if all classes were alike
    more = max(1.0, independent / same) if same > _ROUNDING else 1.0
    low, high = wilson(value, max(1.0, kish / (more * widening)), confidence)
    if value != 0.5:
        nearer = _nearer(means, sizes / widening, value, confidence)
        low, high = min(low, nearer), max(high, nearer)
    return Metric(value=value, low=low, high=high, n=n, deff=more * deff * n / kish)


def _variance(means: FloatArray, sizes: NDArray[np.int64], value: float) -> float:
    pseudo = (1 / sizes) / float((1 / sizes).sum())  # as many right cases and as many wrong ones
    shares = (means * sizes + pseudo) / (sizes + 2 * pseudo)
    within = shares * (1 - shares) + (means - value) ** 2 / sizes
    return float((within / sizes).sum()) / sizes.size**2


def _nearer(means: FloatArray, sizes: FloatArray, value: float, confidence: float) -> float:
    end = int(value > 0.5)
    limits = [wilson(min(1.0, mean), max(1.0, n), confidence)[end] for mean, n in zip(means, sizes, strict=True)]
    distance = float(np.sqrt(((np.array(limits) - means) ** 2).sum())) / means.size
    return min(1.0, value + distance) if end else max(0.0, value - distance)


_CHECKLIST = "vl-checklist"
_VALSE = "valse"
_ENDS = (("object/location", "center", "margin"), ("object/size", "large", "small"))

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over ``tasks`` tasks; with all data of the benchmark, it would be over ``of`` tasks."""

    # The value can be compared with a published one only if both numbers are equal.

    value: float
    tasks: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The difference between two groups of tasks, in -1..1, over ``tasks`` pairs of tasks."""

    value: float
    tasks: int


def checklist_rows(values: Mapping[str, float], known: Collection[str]) -> dict[str, Mean]:
    """Compute the rows of VL-CheckList's taxonomy (Zhao et al. 2022, §3.1, Figure 2; Tables 2, 3, 5 and 6).

    A value is the mean over the files of a dataset (``swig_agent`` and ``swig_tool`` belong to SWiG), then over the
    datasets, then over each level of the taxonomy: location is the mean of centre, mid and margin, object is the mean
    of location and size, and the whole is the mean of object, attribute and relation. Tasks without a value are left
    out of these means.
    """
    parts = [task.split("/")[:-1] for task in values if _under(_CHECKLIST, task)]
    places = {"/".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)}
    found = {}
    for place in sorted(places):
        tasks, of = (sum(_under(place, task) for task in some) for some in (values, known))
        found[place] = Mean(value=_mean(_group(values, place)), tasks=tasks, of=of)
    return found


def checklist_gaps(values: Mapping[str, float]) -> dict[str, Gap]:
    """Compute how much better a model is on central than on marginal objects, and on large than on small ones.

    Source: Zhao et al. 2022, Table 4 ("variance") and §5.1. Both ends of a gap are means over files and datasets as in
    ``checklist_rows``, over the files that have a value at both ends; with all data these are all files.
    """
    gaps: dict[str, Gap] = {}
    for part, upper, lower in _ENDS:
        above, below = (_group(values, f"{_CHECKLIST}/{part}/{end}") for end in (upper, lower))
        if shared := above.keys() & below.keys():
            value = _mean({path: above[path] for path in shared}) - _mean({path: below[path] for path in shared})
            gaps[f"{_CHECKLIST}/{part}:{upper}-{lower}"] = Gap(value=value, tasks=len(shared))
    return gaps


def valse_averages(metrics: Mapping[str, Mapping[str, float]], known: Collection[str]) -> dict[str, Mean]:
    """Compute the column "Avg." of VALSE's Tables 2 and 4: each metric's mean over the instruments.

    Source: Parcalabescu et al. 2022. For ``min_pc_pf`` this is the mean of the instruments' minima. If an instrument
    lacks a metric, the mean is over the others, and the row says over how many.
    """
    found: dict[str, list[float]] = {}
    for task, values in metrics.items():
        for metric, value in values.items() if _under(_VALSE, task) else ():
            found.setdefault(metric, []).append(value)
    of = sum(_under(_VALSE, task) for task in known)
    return {metric: Mean(value=fmean(listed), tasks=len(listed), of=of) for metric, listed in found.items()}


def _under(place: str, task: str) -> bool:
    return task.startswith(f"{place}/")


def _group(values: Mapping[str, float], place: str) -> dict[_Path, float]:
    below = {task.removeprefix(f"{place}/"): value for task, value in values.items() if _under(place, task)}
    return {tuple(task.replace("_", "/").split("/")): value for task, value in below.items()}


def _mean(leaves: Mapping[_Path, float]) -> float:
    if () in leaves:
        return leaves[()]
    branches: dict[str, dict[_Path, float]] = {}
    for (first, *rest), value in leaves.items():
        branches.setdefault(first, {})[tuple(rest)] = value
    return fmean(_mean(branch) for branch in branches.values())
