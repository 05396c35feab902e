"""What text alone solves of each task, and a model's metric over the cases that nobody solves blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.audit.choices import BoolArray
from vlgate.audit.shortcuts import PROBES, Shortcuts
from vlgate.judging.chance import chance
from vlgate.metrics.compute import metrics
from vlgate.metrics.names import HEADLINE
from vlgate.record.cases import asked_of, case_tables, digest_of, judged_tasks, rows_at
from vlgate.record.folder import RecordedRun
from vlgate.studies.analyses.tables import Analysis, Detail, Row, Table
from vlgate.types import FloatArray, Metric, Task

NAME = "shortcuts"
TEXT_ALONE = "text alone"
"""What stands for the runs if there is none."""
_CHOSEN = (
    "what a probe solves is left out and what it gets wrong stays, so text alone reaches less on the cases that no "
    "probe solves than on all, and may be below chance; a guess that does not follow the texts is at chance on both"
)
_SUBSETS = ("all cases", "no probe solves it", "no probe is sure of it")


def text_tables(tasks: Sequence[Task], found: Mapping[str, Shortcuts], luck: Mapping[str, float]) -> tuple[Table, ...]:
    """Return what text alone solves of each task, and what each probe gets right.

    Args:
        tasks: the tasks.
        found: what the probes reach, by task.
        luck: the share of cases that at least one probe solves if the truths are random, by task.
    """
    run = [task for task in tasks if not found[task.id].note]
    return (_solved(run, found, luck), _reached(run, found))


def notes(tasks: Sequence[Task], found: Mapping[str, Shortcuts]) -> tuple[str, ...]:
    """Return how to read the tables, and which tasks no probe was run on."""
    left_out = (f"{task.id}: {found[task.id].note}" for task in tasks if found[task.id].note)
    return (
        "a probe solves a case if, trained on other images, it holds the truth to be at least 0.75 likely",
        _CHOSEN,
        *left_out,
    )


def _solved(tasks: Sequence[Task], found: Mapping[str, Shortcuts], luck: Mapping[str, float]) -> Table:
    rows = []
    for task in tasks:
        one = found[task.id]
        counts = one.solved_blind
        share = one.share(counts > 0)
        if share is None:
            continue
        more: dict[str, Detail] = {probe: float((one.scores[:, at] >= 0.75).mean()) for at, probe in enumerate(PROBES)}
        more |= {"all three": float((counts == len(PROBES)).mean()), "none": float((counts == 0).mean())}
        more |= {"by luck": None if isnan(luck[task.id]) else luck[task.id]}
        rows.append(_row((task.id,), share, more))
    return Table(
        title="Solved by text alone",
        about="share of the n cases that at least one probe solves, that each of them, all three and none of them "
        "solve, and the share that at least one solves if the truths are drawn at random",
        labels=("task",),
        value="any",
        rows=tuple(rows),
        more=(*PROBES, "all three", "none", "by luck"),
    )


def _reached(tasks: Sequence[Task], found: Mapping[str, Shortcuts]) -> Table:
    rows = [
        _row((task.id, probe), metric, {"chance": chance_of(task)})
        for task in tasks
        for probe in PROBES
        if (metric := found[task.id].reached(probe)) is not None
    ]
    return Table(
        title="Right by text alone",
        about="share of the n cases that a probe gets right as a whole; a tie counts what guessing gives",
        labels=("task", "probe"),
        value="right",
        rows=tuple(rows),
        more=("chance",),
    )


def run_table(
    run: RecordedRun, table: Any, tasks: Sequence[Task], found: Mapping[str, Shortcuts]
) -> tuple[Table, tuple[str, ...]]:
    """Return the headline metric of each task of a run over the cases that no probe solves, beside the whole.

    Args:
        run: the run.
        table: its rows, as ``read_cases`` returns them.
        tasks: the tasks of the run, read again.
        found: what the probes reach on them, by task.

    Returns: the table, and notes on judged cases of the run that the data do not hold as it asked them.
    Raises: OptionError if the rows are not those of the figures.
    """
    judged = judged_tasks(run, case_tables(run, table))
    rows: list[Row] = []
    here = {task.id for task in tasks}
    said = [f"{name}: not among the tasks that were read" for name in judged if name not in here]
    for task in tasks:
        name = HEADLINE[task.shape]
        if found[task.id].note or task.id not in judged or name not in judged[task.id].metrics:
            continue
        places, kept = _joined(_judged_rows(table, task.id), task)
        if lost := int((places < 0).sum()):
            said.append(
                f"{task.id}: {lost:,} of {len(places):,} judged cases are not in the data as the run asked them"
            )
        columns = judged[task.id].columns
        if columns is None or not len(kept):
            continue
        part = _subsets(found[task.id], kept)
        for subset, chosen in part.items():
            there = metrics(columns.take(np.flatnonzero(places >= 0)[chosen])) if chosen.any() else {}
            more = {"chance": chance_of(task, kept[chosen]), TEXT_ALONE: _text_alone(found[task.id], kept[chosen])}
            rows.append(_row((run.model, task.id, name, subset), there.get(name), more))
    return Table(
        title="Cases that nobody solves blind",
        about="the metric of a model over n cases: all, those that no probe solves, and those of which no probe is "
        "sure, rightly or wrongly; beside it what guessing reaches, and the best probe on the same cases",
        labels=("model", "task", "metric", "cases"),
        value="value",
        rows=tuple(rows),
        more=("chance", TEXT_ALONE),
    ), tuple(said)


def analysis(tables: Sequence[Table], said: Sequence[str], tasks: Sequence[Task], run: str = TEXT_ALONE) -> Analysis:
    """Return the tables as an analysis; ``run`` names the model, if there is one."""
    benchmarks = ", ".join(dict.fromkeys(f"{task.benchmark}/*" for task in tasks))
    return Analysis(name=NAME, tasks=f"the tasks {benchmarks}", runs=(run,), tables=tuple(tables), notes=tuple(said))


def _judged_rows(table: Any, task: str) -> Any:
    pairs = zip(table.column("task").to_pylist(), table.column("state").to_pylist(), strict=True)
    return rows_at(table, np.array([row for row, pair in enumerate(pairs) if pair == (task, "judged")], dtype=np.int64))


def _joined(rows: Any, task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place in the task of each judged row, -1 if the task does not have it, and the places of the others."""
    known = {(case.id, asked_of(case.requests, case.truths)): place for place, case in enumerate(task.cases)}
    columns = (rows.column(name).to_pylist() for name in ("case", "images", "texts", "truths"))
    places = np.array(
        [known.get((case, digest_of(*asked)), -1) for case, *asked in zip(*columns, strict=True)], dtype=np.int64
    )
    return places, places[places >= 0]


def _subsets(one: Shortcuts, kept: NDArray[np.int64]) -> dict[str, BoolArray]:
    chosen = (np.ones(len(kept), dtype=np.bool_), one.unsolved[kept], one.unsure[kept])
    return dict(zip(_SUBSETS, chosen, strict=True))


def chance_of(task: Task, rows: NDArray[np.int64] | None = None) -> float | None:
    """Return the chance level of the headline metric of a task, or of the cases at some places; None if unknown."""
    cases = task.cases if rows is None else tuple(task.cases[int(row)] for row in rows)
    return chance(task.shape, task.capability, cases).get(HEADLINE[task.shape]) if cases else None


def _text_alone(one: Shortcuts, rows: NDArray[np.int64]) -> float | None:
    right: FloatArray = one.right[rows]
    return float(right.mean(axis=0).max()) if len(rows) else None


def _row(labels: tuple[str, ...], metric: Metric | None, more: Mapping[str, Detail]) -> Row:
    if metric is None:
        return Row(labels=labels, value=None, low=None, high=None, n=0, more=more)
    return Row(labels=labels, value=metric.value, low=metric.low, high=metric.high, n=metric.n, more=more)
