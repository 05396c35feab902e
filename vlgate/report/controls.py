"""The controls of a run as tables, a row per task, and these as lines of text and Markdown."""

from collections.abc import Iterator, Mapping
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
    name: str
    says: str  # what its figures tell
    asked: str  # how much was asked
    brief: str  # in how many tasks each difference is above 0
    table: Table
    meanings: Mapping[str, str]  # what each column is
    notes: tuple[str, ...]  # what was left out, what was found about the model, and what a reader must know


def tables(figures: Mapping[str, Any]) -> tuple[ControlTable, ...]:
    known = known_controls()
    return tuple(_table(name, told, figures) for name, told in figures.get("controls", {}).items() if name in known)


def tables_of(run: RunResult) -> tuple[ControlTable, ...]:
    tasks = {result.task.id: {"controls": of_one_task(run.controls, result.task.id)} for result in run.results}
    return tables({"controls": of_run(run.controls), "tasks": tasks}) if run.controls else ()


def _table(name: str, told: Mapping[str, Any], figures: Mapping[str, Any]) -> ControlTable:
    every = figures["tasks"].items()
    tasks = {task: found["controls"][name] for task, found in every if name in found.get("controls", {})}
    asked = control(name)
    shown = [figure for figure in asked.shown if any(figure in task["figures"] for task in tasks.values())]
    beside = list(dict.fromkeys(figure for task in tasks.values() for figure in task["beside"]))
    cases = sum(task["cases"] for task in tasks.values())
    brief: list[str] = []
    rows: list[tuple[str, ...]] = []
    for figure in (one for one in shown if one in CONTROLLED):
        lows = [task["figures"][figure]["low"] for task in tasks.values() if figure in task["figures"]]
        brief.append(f"{figure} is above 0 in {sum(low > 0 for low in lows)} of {len(lows)} tasks")
    for task, found in tasks.items():
        values = (_figure(figure, found["figures"].get(figure)) for figure in shown)
        others = (f"{found['beside'][figure]:.3f}" if figure in found["beside"] else "-" for figure in beside)
        rows.append((task, f"{found['cases']:,}", *values, *others))
    columns = (*shown, *beside)
    return ControlTable(
        name=name,
        says=asked.says,
        asked=f"{told['requests']:,} requests about {cases:,} cases, at most {told['limit']:,} of a task",
        brief="; ".join(brief),
        table=Table(headings=("task", "n", *columns), rows=rows, numbers=("n", *columns)),
        meanings={figure: {**asked.figures, **asked.beside}[figure] for figure in columns},
        notes=tuple(_notes(told, tasks, asked.of_model)),
    )


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
    took = "" if seconds is None else f", {seconds:.2f}s"
    return [f"{found.says} ({found.asked}{took})", *(found.table.text() if found.table.rows else ()), *found.notes]


def brief_line(found: ControlTable, seconds: float) -> str:
    return f"control {found.name}: {found.brief}; the table is in summary.md ({found.asked}, {seconds:.2f}s)"


def markdown_lines(found: ControlTable) -> list[str]:
    table = found.table.markdown() if found.table.rows else []
    return [f"{found.says} ({found.asked})", "", *table, "", *(f"- {note}" for note in found.notes)]
