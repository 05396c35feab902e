"""Means of a metric over tasks, as the papers print them: VL-CheckList's hierarchy and the column Avg. of VALSE."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean

_CHECKLIST = "vl-checklist"
_VALSE = "valse"
_ENDS = (("object/location", "center", "margin"), ("object/size", "large", "small"))

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over ``tasks`` tasks; with all data of the benchmark, it would be over ``of`` tasks.

    The value can be compared with a published one only if both numbers are equal.
    """

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

    Args:
        values: the values of one metric, by task id; other benchmarks are ignored.
        known: the ids of all tasks of the benchmark, for the counts.

    Returns: rows by the ids of the inner levels, each before those below it: ``vl-checklist``,
        ``vl-checklist/attribute``, ``vl-checklist/attribute/action``, ...; none if there are no values.

    >>> values = {"vl-checklist/relation/action/swig": 0.5, "vl-checklist/relation/spatial/vg": 0.75}
    >>> checklist_rows(values, values)["vl-checklist/relation"]
    Mean(value=0.625, tasks=2, of=2)
    """
    parts = [task.split("/")[:-1] for task in values if _under(_CHECKLIST, task)]
    places = {"/".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)}
    return {
        place: Mean(
            value=_mean(_group(values, place)),
            tasks=sum(_under(place, task) for task in values),
            of=sum(_under(place, task) for task in known),
        )
        for place in sorted(places)
    }


def checklist_gaps(values: Mapping[str, float]) -> dict[str, Gap]:
    """Compute how much better a model is on central than on marginal objects, and on large than on small ones.

    Source: Zhao et al. 2022, Table 4 ("variance") and §5.1. Both ends of a gap are means over files and datasets as in
    ``checklist_rows``, over the files that have a value at both ends; with all data these are all files.

    Args:
        values: the values of one metric, by task id; other benchmarks are ignored.

    Returns: gaps by name, ``vl-checklist/object/location:center-margin`` and ``vl-checklist/object/size:large-small``;
        a gap is absent if its ends have no file in common.

    >>> checklist_gaps({"vl-checklist/object/size/large/hake": 0.75, "vl-checklist/object/size/small/hake": 0.5})
    {'vl-checklist/object/size:large-small': Gap(value=0.25, tasks=1)}
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

    Args:
        metrics: the values of each task's metrics, by task id; other benchmarks are ignored.
        known: the ids of all tasks of the benchmark, for the counts.

    Returns: rows by metric, in the order of the metrics' first appearance.

    >>> valse_averages({"valse/existence": {"acc_r": 0.5}, "valse/foil-it": {"acc_r": 1.0}}, ["valse/plurality"] * 11)
    {'acc_r': Mean(value=0.75, tasks=2, of=11)}
    """
    found: dict[str, list[float]] = {}
    for task, values in metrics.items():
        for metric, value in values.items() if _under(_VALSE, task) else ():
            found.setdefault(metric, []).append(value)
    of = sum(_under(_VALSE, task) for task in known)
    return {metric: Mean(value=fmean(listed), tasks=len(listed), of=of) for metric, listed in found.items()}


def _under(place: str, task: str) -> bool:
    return task.startswith(f"{place}/")


def _path(task: str, place: str) -> _Path:
    """The path from a place down to a task; a file's name holds its dataset and, in some cases, its role in it."""
    return tuple(task.removeprefix(f"{place}/").replace("_", "/").split("/"))


def _group(values: Mapping[str, float], place: str) -> dict[_Path, float]:
    return {_path(task, place): value for task, value in values.items() if _under(place, task)}


def _mean(leaves: Mapping[_Path, float]) -> float:
    """The mean over the branches of a tree; the value of a branch is the mean over its own branches."""
    if () in leaves:
        return leaves[()]
    branches: dict[str, dict[_Path, float]] = {}
    for (first, *rest), value in leaves.items():
        branches.setdefault(first, {})[tuple(rest)] = value
    return fmean(_mean(branch) for branch in branches.values())
