"""What an analysis finds: tables of numbers with intervals, as Markdown for people and as a record for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vlgate.types import Difference, Metric

# What an analysis finds: tables of numbers, each with its interval and the number of cases that it is made from.

SMALL = 30
"""A number from fewer cases than this is marked."""

DRAWN = "scenes/*"
"""The tasks that an analysis takes if no run has its benchmark."""

Detail = float | int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A number of a table.

    Attributes:
        labels: what the number is about, one entry per label of the table.
        value: the number; None if it is not defined, for example the correlation of a constant.
        low: the lower end of its interval; None if it has none.
        high: the upper end.
        n: how many cases, sentences, pairs or models it is made from, as the table says.
        more: further numbers beside it, by the names in the table's ``more``.
    """

    labels: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None
    n: int
    more: Mapping[str, Detail] = field(default_factory=dict)

    @property
    def small(self) -> bool:
        """Whether the number is made from few cases."""
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
    """The analysis of a paper: its tables, and notes on what is left out and why.

    ``tasks`` is the pattern of the tasks that it took.
    """

    name: str
    tasks: str
    runs: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def measured(
    labels: tuple[str, ...], metric: Metric | Difference | None, more: Mapping[str, Detail] | None = None
) -> list[Row]:
    """Return the row of a metric; none without a metric."""
    if metric is None:
        return []
    return [Row(labels=labels, value=metric.value, low=metric.low, high=metric.high, n=metric.n, more=more or {})]


# An analysis as Markdown, for people, and as a record, for programs.

_MARK = "*"


def markdown(analysis: Analysis, most: int | None = None) -> str:
    """Return the analysis as Markdown: a section per table, and the notes.

    - ``most``: the most rows of a table; None for all.
    """
    lines = [f"# {analysis.name} on {_tasks(analysis)}: {', '.join(analysis.runs)}"]
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
    return {
        "analysis": analysis.name,
        "tasks": analysis.tasks,
        "runs": list(analysis.runs),
        "tables": [
            {
                "title": table.title,
                "about": table.about,
                "labels": list(table.labels),
                "value": table.value,
                "more": list(table.more),
                "rows": [_row(table, row) for row in table.rows],
            }
            for table in analysis.tables
        ],
        "notes": list(analysis.notes),
    }


def _tasks(analysis: Analysis) -> str:
    """The tasks of an analysis; if they are not its benchmark's, that is said, because the figures are not either."""
    if analysis.tasks == DRAWN:
        return f"{DRAWN}, the drawn scenes, because no run has {analysis.name}/*"
    return analysis.tasks


def _row(table: Table, row: Row) -> dict[str, Any]:
    labels = dict(zip(table.labels, row.labels, strict=True))
    numbers = {"value": row.value, "low": row.low, "high": row.high, "n": row.n, "small": row.small}
    return {**labels, **numbers, **row.more}


def _lines(table: Table, most: int | None) -> list[str]:
    if not table.rows:
        return ["Nothing to show."]
    heads = (*table.labels, "n", table.value, "interval", *table.more)
    shown = table.rows[:most]
    lines = [_cells(heads), _cells(["---"] * len(table.labels) + ["---:"] * (len(heads) - len(table.labels)))]
    lines += [_cells([*map(_plain, row.labels), *_numbers(row), *_more(table, row)]) for row in shown]
    left = len(table.rows) - len(shown)
    return [*lines, "", f"And {left:,} more rows; --json has all."] if left else lines


def _numbers(row: Row) -> tuple[str, str, str]:
    interval = "-" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
    return f"{row.n:,}{_MARK if row.small else ''}", _number(row.value), interval


def _more(table: Table, row: Row) -> list[str]:
    found: Mapping[str, Detail] = row.more
    return [_number(found.get(name)) for name in table.more]


def _number(value: Detail) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.1e}"
    return "-" if value is None else _plain(str(value))


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()).replace("|", "\\|")


def _cells(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
