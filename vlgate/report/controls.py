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

# The controls of a run as tables, from the content of its ``metrics.json``: a row per task.


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTable:
    """What a control found in a run.

    ``says`` is what its figures tell; ``asked`` how much was asked. ``brief`` says in how many tasks each difference
    is above 0. ``rows`` have a cell per heading. ``meanings`` say what each column is. ``notes`` say what was left out,
    what was found about the model, and what a reader must know.
    """

    name: str
    says: str
    asked: str
    brief: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
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
        headings=("task", "n", *shown, *beside),
        rows=tuple(_row(task, found, shown, beside) for task, found in tasks.items()),
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


# The tables of controls as lines of text: for the terminal, and as Markdown for ``summary.md``.


def table_lines(table: ControlTable, seconds: float | None = None) -> list[str]:
    """Return a control as lines for the terminal; ``seconds`` is how long it took."""
    rows = [table.headings, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    took = "" if seconds is None else f", {seconds:.2f}s"
    return [
        f"{table.says} ({table.asked}{took})",
        *(("  ".join(_aligned(row, widths)).rstrip() for row in rows) if table.rows else ()),
        *table.notes,
    ]


def brief_line(table: ControlTable, seconds: float) -> str:
    """Return what a control found in a line, for one that the user did not name."""
    return f"control {table.name}: {table.brief}; the table is in summary.md ({table.asked}, {seconds:.2f}s)"


def markdown_lines(table: ControlTable) -> list[str]:
    """Return a control as lines of Markdown: its sentence, its table and its notes."""
    rows = [table.headings, ("---",) * len(table.headings), *table.rows]
    return [
        f"{table.says} ({table.asked})",
        "",
        *(f"| {' | '.join(row)} |" for row in rows if table.rows),
        "",
        *(f"- {note}" for note in table.notes),
    ]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    # The cells of a row; all but the first are numbers, which stand to the right
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if place else cell.ljust(width)
