"""The tables of controls as lines of text: for the terminal, and as Markdown for ``summary.md``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vlgate.report.controlled.tables import ControlTable


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
    """The cells of a row; all but the first are numbers, which stand to the right."""
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if place else cell.ljust(width)
