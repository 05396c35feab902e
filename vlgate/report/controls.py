"""The controls of a run as tables, a row per task, and these as lines of text and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlgate.metrics.names import CONTROLLED
from vlgate.probes.controls.registry import control, known_controls
from vlgate.record.controls import of_one_task, of_run
from vlgate.record.results import RunResult
from vlgate.report.rows import named
from vlgate.report.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTable:
    """What a control found in a run.

    ``says`` is what its figures tell; ``asked`` how much was asked. ``brief`` says in how many tasks each difference
    is above 0. ``meanings`` say what each column is. ``notes`` say what was left out, what was found about the model,
    and what a reader must know.
    """

    name: str
    says: str
    asked: str
    brief: str
    table: Table
    meanings: Mapping[str, str]
    notes: tuple[str, ...]


def tables(figures: Mapping[str, Any]) -> tuple[ControlTable, ...]:
    """Return a table for each control that a run asked; ``figures`` is the content of ``metrics.json``."""
    known = known_controls()
    return tuple(_table(name, told, figures) for name, told in figures.get("controls", {}).items() if name in known)


def tables_of(run: RunResult) -> tuple[ControlTable, ...]:
    """Return a table for each control of a run that has just ended."""
    if not run.controls:
        return ()
    tasks = {one.task.id: {"controls": of_one_task(run.controls, one.task.id)} for one in run.results}
    return tables({"controls": of_run(run.controls), "tasks": tasks})


def _table(name: str, told: Mapping[str, Any], figures: Mapping[str, Any]) -> ControlTable:
    tasks = {
        task: found["controls"][name] for task, found in figures["tasks"].items() if name in found.get("controls", {})
    }
    asked = control(name)
    shown = [one for one in asked.shown if any(one in task["figures"] for task in tasks.values())]
    beside = list(dict.fromkeys(one for task in tasks.values() for one in task["beside"]))
    cases = sum(task["cases"] for task in tasks.values())
    return ControlTable(
        name=name,
        says=asked.says,
        asked=f"{told['requests']:,} requests about {cases:,} cases, at most {told['limit']:,} of a task",
        brief="; ".join(_above(name, list(tasks.values())) for name in shown if name in CONTROLLED),
        table=Table(
            headings=("task", "n", *shown, *beside),
            rows=[_row(task, found, shown, beside) for task, found in tasks.items()],
            numbers=("n", *shown, *beside),
        ),
        meanings={one: {**asked.figures, **asked.beside}[one] for one in (*shown, *beside)},
        notes=tuple(_notes(told, tasks, asked.of_model)),
    )


def _above(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    known = [one["figures"][name] for one in tasks if name in one["figures"]]
    return f"{name} is above 0 in {sum(one['low'] > 0 for one in known)} of {len(known)} tasks"


def _row(task: str, found: Mapping[str, Any], shown: Sequence[str], beside: Sequence[str]) -> tuple[str, ...]:
    figures = (_figure(name, found["figures"].get(name)) for name in shown)
    known = (f"{found['beside'][name]:.3f}" if name in found["beside"] else "-" for name in beside)
    return task, f"{found['cases']:,}", *figures, *known


def _figure(name: str, found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "-"
    form = "{:+.3f}" if found["difference"] else "{:.3f}"
    value = form.format(found["value"])
    return f"{value} ({form.format(found['low'])} to {form.format(found['high'])})" if name in CONTROLLED else value


def _notes(
    told: Mapping[str, Any], tasks: Mapping[str, Mapping[str, Any]], of_model: Mapping[str, str]
) -> Iterator[str]:
    if told["lacking"]:
        yield f"not all was asked: {told['lacking']}"
    for name, found in told.get("model", {}).get("figures", {}).items():
        interval = f"{found['low']:.3f} to {found['high']:.3f}"
        yield f"{name} {found['value']:.3f} ({interval}) of {found['n']:,}: {of_model[name]}"
    yield from told.get("model", {}).get("notes", ())
    reasons: dict[str, int] = {}
    notes: dict[str, list[str]] = {}
    for task, found in tasks.items():
        for why, number in found["left_out"].items():
            reasons[why] = reasons.get(why, 0) + number
        for note in found["notes"]:
            notes.setdefault(note, []).append(task)
    if reasons:
        yield f"left out: {'; '.join(f'{number:,} {why}' for why, number in reasons.items())}"
    for note, ids in notes.items():
        yield f"{named(ids)}: {note}"


def table_lines(found: ControlTable, seconds: float | None = None) -> list[str]:
    """Return a control as lines for the terminal; ``seconds`` is how long it took."""
    took = "" if seconds is None else f", {seconds:.2f}s"
    return [f"{found.says} ({found.asked}{took})", *(found.table.text() if found.table.rows else ()), *found.notes]


def brief_line(found: ControlTable, seconds: float) -> str:
    """Return what a control found in a line, for one that the user did not name."""
    return f"control {found.name}: {found.brief}; the table is in summary.md ({found.asked}, {seconds:.2f}s)"


def markdown_lines(found: ControlTable) -> list[str]:
    """Return a control as lines of Markdown: its sentence, its table and its notes."""
    table = found.table.markdown() if found.table.rows else []
    return [f"{found.says} ({found.asked})", "", *table, "", *(f"- {note}" for note in found.notes)]
