"""Tables in text files: tab-separated, lines of comment that begin with "#", and a line that names the columns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from vlgate.perturb.text.grammar import either_number

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class TsvRow:
    file: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def names(self, column: str) -> tuple[str, ...]:
        """Return the names of a cell, which are separated by "|"; an empty cell has none."""
        return tuple(self[column].split("|")) if self[column] else ()

    def flag(self, column: str) -> bool:
        if self[column] not in {"yes", "no"}:
            raise self.error(f"{column}={self[column]!r} must be 'yes' or 'no'")
        return self[column] == "yes"

    def error(self, what: str) -> ValueError:
        return ValueError(f"{self.file}:{self.line}: {what}")


def once(items: Iterable[tuple[Key, Value, TsvRow]]) -> Mapping[Key, Value]:
    """Values by key; ValueError, which names the line, for a key that is listed twice."""
    values: dict[Key, Value] = {}
    for key, value, row in items:
        if key in values:
            raise row.error(f"{key!r} is listed already; keep one of the lines")
        values[key] = value
    return MappingProxyType(values)


def both_numbers(names: Iterable[str]) -> frozenset[str]:
    """The names and their plurals: in a scene graph "dogs" are "animals" and "dog" is an "animal"."""
    return frozenset().union(*map(either_number, names))


def rows_in(file: Path, *columns: str) -> Iterator[TsvRow]:
    return rows_of(file.name, file.read_text(encoding="utf-8"), *columns)


def rows_of(file: str, text: str, *columns: str) -> Iterator[TsvRow]:
    lines = ((at, line) for at, line in enumerate(text.splitlines(), 1) if line and not line.startswith("#"))
    at, header = next(lines, (1, ""))
    if tuple(header.split("\t")) != columns:
        raise ValueError(f"{file}:{at}: columns={header.split(chr(9))!r} must be {list(columns)!r}, with tabs between")
    for at, line in lines:
        cells = line.split("\t")
        row = TsvRow(file=file, line=at, cells=dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns):
            raise row.error(f"{len(cells)} cells; expected {len(columns)}: {', '.join(columns)}")
        if [*map(str.strip, cells)] != cells:
            wrong = next(cell for cell in cells if cell != cell.strip())
            raise row.error(f"{wrong!r} begins or ends with a blank; remove it")
        yield row
