"""What text alone solves of each task, and a model's metric over the cases that nobody solves blind."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.audit.shortcuts import PROBES, Shortcuts
from vlgate.judging.chance import chance
from vlgate.metrics.compute import metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.record.cases import asked_of, case_tables, digest_of, judged_tasks, rows_at
from vlgate.record.folder import RecordedRun
from vlgate.studies.analyses.tables import Analysis, Detail, Row, Table, measured, table
from vlgate.types import Task

NAME = "shortcuts"
TEXT_ALONE = "text alone"  # what stands for the runs if there is none
_CHOSEN = (
    "what a probe solves is left out and what it gets wrong stays, so text alone reaches less on the cases that no "
    "probe solves than on all, and may be below chance; a guess that does not follow the texts is at chance on both"
)
_SUBSETS = ("all cases", "no probe solves it", "no probe is sure of it")


def text_tables(tasks: Sequence[Task], found: Mapping[str, Shortcuts], luck: Mapping[str, float]) -> tuple[Table, ...]:
    run = [task for task in tasks if not found[task.id].note]
    solved: list[Row] = []
    for task in run:
        one = found[task.id]
        counts = one.solved_blind
        more: dict[str, Detail] = {probe: float((one.scores[:, at] >= 0.75).mean()) for at, probe in enumerate(PROBES)}
        more |= {"all three": float((counts == len(PROBES)).mean()), "none": float((counts == 0).mean())}
        more |= {"by luck": None if isnan(luck[task.id]) else luck[task.id]}
        solved += measured((task.id,), one.share(counts > 0), more)
    reached: list[Row] = []
    for task, probe in product(run, PROBES):
        reached += measured((task.id, probe), found[task.id].reached(probe), {"chance": chance_of(task)})
    return table("shortcuts-solved", solved), table("shortcuts-reached", reached)


def notes(tasks: Sequence[Task], found: Mapping[str, Shortcuts]) -> tuple[str, ...]:
    left_out = (f"{task.id}: {found[task.id].note}" for task in tasks if found[task.id].note)
    solves = "a probe solves a case if, trained on other images, it holds the truth to be at least 0.75 likely"
    return solves, _CHOSEN, *left_out


def run_table(
    run: RecordedRun, rows: Any, tasks: Sequence[Task], found: Mapping[str, Shortcuts]
) -> tuple[Table, tuple[str, ...]]:
    # ``rows`` are those of ``read_cases``; OptionError if they are not those of the figures. ``found`` is what the
    # probes reach on the tasks, which are read again. The notes are on judged cases that the data do not hold as the
    # run asked.
    judged = judged_tasks(run, case_tables(run, rows))
    values: list[Row] = []
    here = {task.id for task in tasks}
    remarks = [f"{name}: not among the tasks that were read" for name in judged if name not in here]
    asked = list(zip(rows.column("task").to_pylist(), rows.column("state").to_pylist(), strict=True))
    for task in tasks:
        name, one = SHAPES[task.shape].headline, found[task.id]
        if one.note or task.id not in judged or name not in judged[task.id].metrics:
            continue
        own = [row for row, pair in enumerate(asked) if pair == (task.id, "judged")]
        own_rows = rows_at(rows, np.array(own, dtype=np.int64))
        known = {(case.id, asked_of(case.requests, case.truths)): index for index, case in enumerate(task.cases)}
        parts = (own_rows.column(part).to_pylist() for part in ("case", "images", "texts", "truths"))
        indices = [known.get((case, digest_of(*requests)), -1) for case, *requests in zip(*parts, strict=True)]
        places = np.array(indices, dtype=np.int64)
        kept = places[places >= 0]
        if lost := len(places) - len(kept):
            share = f"{lost:,} of {len(places):,} judged cases"
            remarks.append(f"{task.id}: {share} are not in the data as the run asked them")
        columns = judged[task.id].columns
        if columns is None or not len(kept):
            continue
        chosen_of_subset = (np.ones(len(kept), dtype=np.bool_), one.unsolved[kept], one.unsure[kept])
        for subset, chosen in zip(_SUBSETS, chosen_of_subset, strict=True):
            right = one.right[kept[chosen]]
            there = metrics(columns.take(np.flatnonzero(places >= 0)[chosen])) if len(right) else {}
            best = float(right.mean(axis=0).max()) if len(right) else None
            more = {"chance": chance_of(task, kept[chosen]), TEXT_ALONE: best}
            labels = (run.model, task.id, name, subset)
            empty = Row(labels=labels, value=None, low=None, high=None, n=0, more=more)
            values += measured(labels, there.get(name), more) or [empty]
    return table("shortcuts-run", values), tuple(remarks)


def analysis(tables: Sequence[Table], said: Sequence[str], tasks: Sequence[Task], run: str = TEXT_ALONE) -> Analysis:
    benchmarks = ", ".join(dict.fromkeys(f"{task.benchmark}/*" for task in tasks))
    return Analysis(name=NAME, tasks=f"the tasks {benchmarks}", runs=(run,), tables=tuple(tables), notes=tuple(said))


def chance_of(task: Task, rows: NDArray[np.int64] | None = None) -> float | None:
    cases = task.cases if rows is None else tuple(task.cases[int(row)] for row in rows)
    return chance(task.shape, task.capability, cases).get(SHAPES[task.shape].headline) if cases else None
