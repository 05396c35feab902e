"""The cases that a page shows: chosen from the rows of a run, with their images and what earlier runs replied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError
from vlgate.recorded.cases import read_cases
from vlgate.recorded.folder import CASES, RecordedRun
from vlgate.report.page.cards import CardMaker
from vlgate.report.page.changes import quota
from vlgate.report.page.earlier import History, Release, names, release
from vlgate.report.page.pictures import Pictures
from vlgate.report.page.records import Card
from vlgate.report.page.rows import Row, TaskRows, Wanted, task_rows
from vlgate.report.page.sections import headline_of
from vlgate.types import Case, Task

CARDS = 600
"""The most missed cases of a page."""
CARDS_A_TASK = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCases:
    """What makes the cards of a page: one maker per task that has rows.

    ``baseline`` is the name of the run that this one is compared with, and ``problem`` says why its replies cannot be
    shown; each is empty if there is none.
    """

    makers: Mapping[str, CardMaker]
    pictures: Pictures
    baseline: str = ""
    problem: str = ""

    def broken(self) -> dict[str, tuple[Card, ...]]:
        """Return the cards of newly broken cases that stand at the top, by task."""
        return {
            name: tuple(maker.card(row, kept=True) for row in maker.rows.broken) for name, maker in self.makers.items()
        }


def shown_cases(run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path]) -> ShownCases:
    """Choose the cases that a page shows.

    Args:
        run: the run; without ``cases.parquet`` in its folder, there are no cases.
        tasks: the tasks of the run with their images.
        earlier: the folders of earlier runs, the oldest first; by default the baseline of the run alone.

    Raises: OptionError if the rows of the run or of an earlier one cannot be read.
    """
    figures = run.figures
    known, comparison = figures["tasks"], figures.get("baseline")
    wanted = Wanted(
        most=max(2, min(CARDS_A_TASK, CARDS // max(1, len(known)))),
        seed=figures["run"]["seed"],
        broken={name: frozenset(task["broken"]) for name, task in comparison["tasks"].items()} if comparison else {},
        quota=quota(comparison),
    )
    headlines = {name: headline_of(task) for name, task in known.items()}
    table = read_cases(run) if (run.folder / CASES).exists() else None
    found = {} if table is None else task_rows(table, headlines, wanted)
    history, baseline, problem = _history(comparison, wanted.broken, found, earlier)
    pictures, again = Pictures(), {task.id: task for task in tasks}
    makers = {
        name: CardMaker(
            task=name,
            capability=known[name]["capability"],
            headline=headlines[name],
            rows=rows,
            cases=_cases(again.get(name), rows),
            pictures=pictures,
            options={"model": figures["model"]["name"], **run.options},
            history=history,
        )
        for name, rows in found.items()
        if name in known
    }
    return ShownCases(makers=makers, pictures=pictures, baseline=baseline, problem=problem)


def _history(
    comparison: Mapping[str, Any] | None,
    broken: Mapping[str, frozenset[str]],
    found: Mapping[str, TaskRows],
    earlier: Sequence[Path],
) -> tuple[History, str, str]:
    """What earlier runs replied, the name of the baseline, and why its replies are not there."""
    base = None if comparison is None else Path(comparison["folder"])
    folders = list(dict.fromkeys([*earlier, *([base] if base else [])]))
    named = dict(zip(folders, names(folders), strict=True))
    ids = {task: [row["case"] for row in _shown(rows)] for task, rows in found.items()}
    read = {folder: release(folder, named[folder], "--earlier", ids) for folder in earlier}
    problem = ""
    if base is not None and base not in read:
        try:
            read[base] = release(base, named[base], "--baseline", ids)
        except OptionError as error:
            problem = str(error)
    history = History(
        baseline=read.get(base) if base else None,
        broken=broken,
        releases=tuple(read[folder] for folder in earlier) or _only(read.get(base) if base else None),
    )
    return history, named[base] if base else "", problem


def _only(one: Release | None) -> tuple[Release, ...]:
    return () if one is None else (one,)


def _shown(rows: TaskRows) -> Iterator[Row]:
    yield from (*([rows.example] if rows.example else []), *rows.missed, *rows.unscored)


def _cases(task: Task | None, rows: TaskRows) -> dict[str, Case]:
    """The cases of a task that are shown, by id."""
    shown = {row["case"] for row in _shown(rows)}
    return {} if task is None else {case.id: case for case in task.cases if case.id in shown}
