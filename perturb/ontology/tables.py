"""Tables in text files: tab-separated, lines of comment that begin with "#", and a line that names the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TsvRow:
    """One line of a table by its columns, with its file and line number for messages."""

    file: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """Return the cell of a column."""
        return self.cells[column]

    def names(self, column: str) -> tuple[str, ...]:
        """Return the names of a cell, which are separated by "|"; an empty cell has none."""
        return tuple(self[column].split("|")) if self[column] else ()

    def flag(self, column: str) -> bool:
        """Return whether a cell is "yes"; it must be "yes" or "no"."""
        if self[column] not in {"yes", "no"}:
            raise self.error(f"{column}={self[column]!r} must be 'yes' or 'no'")
        return self[column] == "yes"

    def error(self, what: str) -> ValueError:
        """Return an error that names this line."""
        return ValueError(f"{self.file}:{self.line}: {what}")


def rows_of(file: str, text: str, *columns: str) -> Iterator[TsvRow]:
    r"""Read a table."""
    lines = ((at, line) for at, line in enumerate(text.splitlines(), 1) if line and not line.startswith("#"))
    at, header = next(lines, (1, ""))
    if tuple(header.split("\t")) != columns:
        raise ValueError(f"{file}:{at}: columns={header.split(chr(9))!r} must be {list(columns)!r}, with tabs between")
    for at, line in lines:
        cells = line.split("\t")
        row = TsvRow(file=file, line=at, cells=dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns):
            raise row.error(f"{len(cells)} cells; expected {len(columns)}: {', '.join(columns)}")
        if wrong := [cell for cell in cells if cell != cell.strip()]:
            raise row.error(f"{wrong[0]!r} begins or ends with a blank; remove it")
        yield row
