"""The analyses of VL-CheckList (Zhao et al. 2022, §3.1, §5): by type, and by the object's location and size."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vlgate.errors import DataError
from vlgate.metrics.clusters import clusters
from vlgate.metrics.macro import checklist_gaps, checklist_rows
from vlgate.perturb.scene_graph import Box, place_of, size_of
from vlgate.record.cases import CaseTable
from vlgate.sources.reading.text_files import read_text
from vlgate.studies.analyses.runs import Run, studied
from vlgate.studies.analyses.tables import Analysis, Detail, Row, combined, measured, number_in, share, table
from vlgate.types import Metric

LOCATIONS = ("center", "mid", "margin")
SIZES = ("large", "medium", "small")

_NUMBERS = ("x", "y", "w", "h", "width", "height")
_TITLES = ("task", "case", *_NUMBERS)
_REMEDY = f"name a file with commas between the cells and the titles {', '.join(_TITLES)}"
_OF_TASK = re.compile(r"(?:^|/)object[/-](location|size)(?:/(\w+))?(?:/|$)")

Placed = Mapping[tuple[str, str], Mapping[str, str]]
"""The ``location`` and ``size`` of the object of each case, by task and case."""


def read_boxes(file: Path) -> dict[tuple[str, str], dict[str, str]]:
    # The first line has the titles ``task,case,x,y,w,h,width,height``: the box's upper left corner, its width and
    # height, and those of the image. Up to a third of half the diagonal from the image's centre an object is in the
    # ``center``, up to two thirds ``mid``, else at the ``margin``; up to 1,024 square pixels it is ``small``, up to
    # 9,216 ``medium``, else ``large``. So the size depends on the resolution of the image.
    rows = csv.DictReader(read_text(file, _REMEDY).splitlines())
    if set(rows.fieldnames or ()) != set(_TITLES):
        raise DataError(file, None, f"has the titles {', '.join(rows.fieldnames or ())[:60]!r}", _REMEDY)
    found: dict[tuple[str, str], dict[str, str]] = {}
    for number, row in enumerate(rows, 2):
        x, y, w, h, width, height = (number_in(file, number, name, row[name], _REMEDY) for name in _NUMBERS)
        if min(w, h, width, height) <= 0:
            raise DataError(file, f"on line {number}", "a width or height is not above 0", "correct that line")
        box = Box(x=x, y=y, w=w, h=h)
        found[row["task"], row["case"]] = {"location": place_of(box, (width, height)), "size": size_of(box)}
    return found


def classes_of(task: str, tags: Mapping[str, str]) -> dict[str, str]:
    named = _OF_TASK.search(task)
    if named is None:
        return {}
    kind, value = named[1], named[2] or tags.get(named[1], "")
    return {kind: value} if value in {*LOCATIONS, *SIZES} else {}


HEADLINE = "acc_r"
BENCHMARK = "vl-checklist"
_KINDS: Mapping[str, tuple[str, ...]] = {"location": LOCATIONS, "size": SIZES}


def analyse(runs: Sequence[Run], placed: Placed | None = None, tasks: str | None = None) -> Analysis:
    study = studied(runs, BENCHMARK, HEADLINE, tasks)
    found = [(run, study.of(run)) for run in runs]
    classes = table("checklist-classes", _class_rows(found, placed or {}))
    of_kinds = ((run, gap_of(of_run, kind, placed or {})) for run, of_run in found for kind in _KINDS)
    gaps = (replace(row, labels=(run.name, *row.labels)) for run, row in of_kinds if row is not None)
    tables = [table("checklist-types", _by_type(found)), classes, table("checklist-gaps", gaps)]
    notes = ["shares are of all pairs together; means are over files, then datasets, then levels, as in the paper"]
    if not classes.rows:
        notes.append("location and size: no task says them; give the boxes of the objects with --boxes FILE")
    return study.analysis(tables, notes)


def by_class(tasks: Mapping[str, CaseTable], kind: str, placed: Placed) -> dict[str, Metric]:
    by_name: dict[str, list[tuple[float, str]]] = {}
    for (name, _), values in _classed(tasks, kind, placed).items():
        by_name.setdefault(name, []).extend(values)
    return {name: _of(by_name[name]) for name in _KINDS[kind] if name in by_name}


def gap_of(tasks: Mapping[str, CaseTable], kind: str, placed: Placed) -> Row | None:
    """Return how much better the pairs of the first class are than those of the last, as Table 4 has it."""
    # Files differ in how hard they are, and in how many pairs of a class they have. So the gap is the mean over the
    # files, then over the datasets, that have pairs of both classes; a task that is not VL-CheckList's is a file. The
    # row has the labels ``(gap,)``; None if no file has both.
    upper, lower = _KINDS[kind][0], _KINDS[kind][-1]
    place, ends = f"{BENCHMARK}/object/{kind}", (upper, lower)
    classed = _classed(tasks, kind, placed).items()
    files = {f"{place}/{one}/{file}": _of(values) for (one, file), values in classed if one in ends}
    name = f"{place}:{upper}-{lower}"
    whole = checklist_gaps({file: metric.value for file, metric in files.items()}).get(name)
    if whole is None:
        return None
    # The gap is a weighted sum over files; the weight of a file is the gap if it alone has a value.
    weights = {file: checklist_gaps({**dict.fromkeys(files, 0.0), file: 1.0})[name].value for file in files}
    value, low, high = combined([(weights[file], metric) for file, metric in files.items()])
    used = {file: metric.n for file, metric in files.items() if weights[file]}
    each = " and ".join(f"{sum(n for file, n in used.items() if f'/{one}/' in file):,}" for one in (upper, lower))
    more: dict[str, Detail] = {"n of each": each, "files": whole.tasks}
    return Row(labels=(f"{upper} - {lower}",), value=value, low=low, high=high, n=sum(used.values()), more=more)


def _classed(
    tasks: Mapping[str, CaseTable], kind: str, placed: Placed
) -> dict[tuple[str, str], list[tuple[float, str]]]:
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for task, cases in tasks.items():
        file = task.rpartition("/")[2] if task.startswith(f"{BENCHMARK}/") else re.sub(r"\W|_", "-", task)
        for row, name in enumerate(cases.ids):
            one = (placed.get((task, name)) or classes_of(task, cases.tags[row])).get(kind)
            if one is not None:
                value = float(cases.case_metrics[HEADLINE][row]), cases.clusters[row]
                found.setdefault((one, file), []).append(value)
    return found


def _of(values: Sequence[tuple[float, str]]) -> Metric:
    metric = share(np.array([value for value, _ in values]), clusters([image for _, image in values]))
    if metric is None:
        raise ValueError("a class has no cases: expected at least one")
    return metric


_Runs = Sequence[tuple[Run, Mapping[str, CaseTable]]]


def _by_type(runs: _Runs) -> Iterator[Row]:
    for run, tasks in runs:
        means = _means(tasks)
        for mean in [*means, *tasks]:
            under = [cases for task, cases in tasks.items() if task == mean or task.startswith(f"{mean}/")]
            both = ((cases.case_metrics[HEADLINE].tolist(), cases.clusters) for cases in under)
            pairs = [pair for values, images in both for pair in zip(values, images, strict=True)]
            more = {"mean over files": means.get(mean), "tasks": len(under)}
            yield from measured((run.name, mean), _of(pairs), more)


def _class_rows(runs: _Runs, placed: Placed) -> Iterator[Row]:
    for run, tasks in runs:
        means = _means(tasks)
        for kind in _KINDS:
            for name, metric in by_class(tasks, kind, placed).items():
                more = {"mean over files": means.get(f"{BENCHMARK}/object/{kind}/{name}")}
                yield from measured((run.name, kind, name), metric, more)


def _means(tasks: Mapping[str, CaseTable]) -> dict[str, float]:
    values = {task: float(cases.case_metrics[HEADLINE].mean()) for task, cases in tasks.items()}
    return {place: mean.value for place, mean in checklist_rows(values, values).items()}
