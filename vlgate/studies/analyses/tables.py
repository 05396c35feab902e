"""What an analysis finds: tables of numbers with intervals, as Markdown for people and as a record for programs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from vlgate.types import Difference, Metric

SMALL = 30
"""A number from fewer cases than this is marked."""
DRAWN = "scenes/*"
"""The tasks that an analysis takes if no run has its benchmark."""
_MARK = "*"

Detail = float | int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A number of a table, from ``n`` cases, sentences, pairs or models; ``more`` stands beside it by name.

    ``value`` is None if the number is not defined, for example the correlation of a constant.
    """

    labels: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None
    n: int
    more: Mapping[str, Detail] = field(default_factory=dict)

    @property
    def small(self) -> bool:
        return self.n < SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of an analysis.

    ``about`` says what is measured, of what ``n`` counts, and where the paper has it. ``labels`` head the labels of the
    rows, ``value`` heads the number, and ``more`` the further numbers.
    """

    title: str
    about: str
    labels: tuple[str, ...]
    value: str
    rows: tuple[Row, ...]
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The analysis of a paper: the pattern of its tasks, its tables, and notes on what is left out and why."""

    name: str
    tasks: str
    runs: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


@cache
def _heads() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def table(name: str, rows: Iterable[Row], **given: object) -> Table:
    """Return rows under the head that ``tables.toml`` has by that name; ``given`` fills the places in its texts."""
    head = _heads()[name]
    title, about, value = (head[part].format(**given) for part in ("title", "about", "value"))
    labels, more = (tuple(text.format(**given) for text in head.get(part, ())) for part in ("labels", "more"))
    return Table(title=title, about=about, labels=labels, value=value, rows=tuple(rows), more=more)


def measured(
    labels: tuple[str, ...], metric: Metric | Difference | None, more: Mapping[str, Detail] | None = None
) -> list[Row]:
    if metric is None:
        return []
    return [Row(labels=labels, value=metric.value, low=metric.low, high=metric.high, n=metric.n, more=more or {})]


def markdown(analysis: Analysis, most: int | None = None) -> str:
    """Return the analysis as Markdown, a section per table with at most so many rows, and the notes."""
    tasks = analysis.tasks
    if tasks == DRAWN:  # said, because the figures are not the benchmark's either
        tasks = f"{DRAWN}, the drawn scenes, because no run has {analysis.name}/*"
    lines = [f"# {analysis.name} on {tasks}: {', '.join(analysis.runs)}"]
    for table in analysis.tables:
        lines += ["", f"## {table.title}", "", f"{table.about[0].upper()}{table.about[1:]}.", "", *_lines(table, most)]
    if any(row.small for table in analysis.tables for row in table.rows):
        lines += ["", f"{_MARK} fewer than {SMALL}: too few to rely on"]
    if any("p" in table.more for table in analysis.tables):
        lines += ["", "p takes the cases as independent, as the paper does; intervals take those of an image together."]
    if analysis.notes:
        lines += ["", *(f"- {note}" for note in analysis.notes)]
    return "\n".join(lines) + "\n"


def record(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis for JSON: each row with its labels, value, interval, n, and whether n is small."""
    tables = []
    for table in analysis.tables:
        rows = []
        for row in table.rows:
            labels = dict(zip(table.labels, row.labels, strict=True))
            numbers = {"value": row.value, "low": row.low, "high": row.high, "n": row.n, "small": row.small}
            rows.append({**labels, **numbers, **row.more})
        texts = {"title": table.title, "about": table.about, "labels": list(table.labels), "value": table.value}
        tables.append({**texts, "more": list(table.more), "rows": rows})
    return {
        "analysis": analysis.name,
        "tasks": analysis.tasks,
        "runs": list(analysis.runs),
        "tables": tables,
        "notes": list(analysis.notes),
    }


def _lines(table: Table, most: int | None) -> list[str]:
    if not table.rows:
        return ["Nothing to show."]
    heads = (*table.labels, "n", table.value, "interval", *table.more)
    shown = table.rows[:most]
    lines = [_cells(heads), _cells(["---"] * len(table.labels) + ["---:"] * (len(heads) - len(table.labels)))]
    for row in shown:
        n = f"{row.n:,}{_MARK if row.small else ''}"
        interval = "-" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
        more = (_number(row.more.get(name)) for name in table.more)
        lines.append(_cells([*map(_plain, row.labels), n, _number(row.value), interval, *more]))
    left = len(table.rows) - len(shown)
    return [*lines, "", f"And {left:,} more rows; --json has all."] if left else lines


def _number(value: Detail) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.1e}"
    return "-" if value is None else _plain(str(value))


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()).replace("|", "\\|")


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
