"""The analyses of VL-CheckList (Zhao et al. 2022, §5): by type, and by the location and size of the object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vlgate.analyses.boxes import LOCATIONS, SIZES, Placed, classes_of
from vlgate.analyses.records import Analysis, Detail, Row, Table, measured
from vlgate.analyses.resampling import gap, share
from vlgate.analyses.runs import Cases, Run, chosen, pattern_of
from vlgate.metrics.clusters import clusters
from vlgate.metrics.hierarchy import checklist_gaps, checklist_rows
from vlgate.types import FloatArray, Metric

HEADLINE = "acc_r"
BENCHMARK = "vl-checklist"
_SOURCE = "Zhao et al. 2022"
_KINDS: Mapping[str, tuple[str, ...]] = {"location": LOCATIONS, "size": SIZES}


def analyse(runs: Sequence[Run], placed: Placed | None = None, tasks: str | None = None) -> Analysis:
    """Analyse the pairs of some runs.

    Args:
        runs: the runs of models.
        placed: the location and size of the object of each case, by task and case; None for what the tasks say.
        tasks: a pattern of task ids; None for those of VL-CheckList, or all pairs if no run has these.

    Raises: OptionError if no run has pairs.
    """
    pattern = pattern_of(runs, BENCHMARK, HEADLINE, tasks)
    found = [(run, chosen(run, pattern, HEADLINE)) for run in runs]
    classed = [(run.name, kind, by_class(there, kind, placed or {})) for run, there in found for kind in _KINDS]
    tables = [_by_type(found), _by_class(found, classed), _gaps(found, classed)]
    notes = ["the shares are of all pairs together; the paper's means are over files, then datasets, then levels"]
    if not any(classes for _, _, classes in classed):
        notes.append("location and size: no task says them; give the boxes of the objects with --boxes FILE")
    return Analysis(name=BENCHMARK, runs=tuple(run.name for run in runs), tables=tuple(tables), notes=tuple(notes))


def by_class(tasks: Mapping[str, Cases], kind: str, placed: Placed) -> dict[str, Metric]:
    """Return the share of right pairs for each class of the objects' locations or sizes, over some tasks.

    Args:
        tasks: the cases by task.
        kind: ``location`` or ``size``.
        placed: what a file says of the cases; a case that it does not have has the class of its task or tags.
    """
    values: dict[str, list[float]] = {}
    images: dict[str, list[str]] = {}
    for task, cases in tasks.items():
        for row, name in enumerate(cases.ids):
            one = (placed.get((task, name)) or classes_of(task, cases.tags[row])).get(kind)
            if one is not None:
                values.setdefault(one, []).append(float(cases.facts[HEADLINE][row]))
                images.setdefault(one, []).append(cases.images[row][0] or name)
    order = [one for one in _KINDS[kind] if one in values]
    return {one: _of(np.array(values[one]), images[one]) for one in order}


def _of(values: FloatArray, images: Sequence[str]) -> Metric:
    found = share(values, clusters(images))
    if found is None:
        raise ValueError("a class has no cases: expected at least one")
    return found


_Found = Sequence[tuple[Run, Mapping[str, Cases]]]
_Classed = Sequence[tuple[str, str, Mapping[str, Metric]]]


def _by_type(found: _Found) -> Table:
    rows: list[Row] = []
    for run, tasks in found:
        means = _means(tasks)
        for place in [*means, *tasks]:
            under = [cases for task, cases in tasks.items() if task == place or task.startswith(f"{place}/")]
            right = np.concatenate([cases.facts[HEADLINE] for cases in under])
            images = [key[0] or name for cases in under for key, name in zip(cases.images, cases.ids, strict=True)]
            more = {"mean over files": means.get(place), "tasks": len(under)}
            rows.append(measured((run.name, place), _of(right, images), more))
    return Table(
        title="By type",
        about=f"share of the n pairs whose true text scores higher, by the taxonomy ({_SOURCE}, Tables 2, 3, 5 and 6)",
        labels=("model", "type"),
        value=HEADLINE,
        rows=tuple(rows),
        more=("mean over files", "tasks"),
    )


def _by_class(found: _Found, classed: _Classed) -> Table:
    means = {run.name: _means(tasks) for run, tasks in found}
    rows = tuple(
        measured((name, kind, one), metric, {"mean over files": means[name].get(f"{BENCHMARK}/object/{kind}/{one}")})
        for name, kind, classes in classed
        for one, metric in classes.items()
    )
    return Table(
        title="Location and size of the object",
        about=f"share of the n pairs about an object of that class whose true text scores higher ({_SOURCE}, Table 3)",
        labels=("model", "by", "class"),
        value=HEADLINE,
        rows=rows,
        more=("mean over files",),
    )


def _gaps(found: _Found, classed: _Classed) -> Table:
    paper = {run.name: checklist_gaps(_values(tasks)) for run, tasks in found}
    rows: list[Row] = []
    for name, kind, classes in classed:
        upper, lower = _KINDS[kind][0], _KINDS[kind][-1]
        if upper in classes and lower in classes:
            value, low, high = gap(classes[upper], classes[lower])
            mean = paper[name].get(f"{BENCHMARK}/object/{kind}:{upper}-{lower}")
            n = classes[upper].n + classes[lower].n
            each = f"{classes[upper].n:,} and {classes[lower].n:,}"
            more: dict[str, Detail] = {"n of each": each, "mean over files": None if mean is None else mean.value}
            rows.append(Row(labels=(name, f"{upper} - {lower}"), value=value, low=low, high=high, n=n, more=more))
    return Table(
        title="Gaps",
        about=f"difference of {HEADLINE} between the two ends, over n pairs ({_SOURCE}, Table 4: variance)",
        labels=("model", "gap"),
        value="gap",
        rows=tuple(rows),
        more=("n of each", "mean over files"),
    )


def _values(tasks: Mapping[str, Cases]) -> dict[str, float]:
    return {task: float(cases.facts[HEADLINE].mean()) for task, cases in tasks.items()}


def _means(tasks: Mapping[str, Cases]) -> dict[str, float]:
    values = _values(tasks)
    return {place: mean.value for place, mean in checklist_rows(values, values).items()}
