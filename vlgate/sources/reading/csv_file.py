"""Reading a table of comma- or tab-separated values: anything wrong with it raises a DataError that names the line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from vlgate.errors import DataError, nearest
from vlgate.sources.reading.json_file import read_text, shown

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_EXCEL = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # a first line with which Excel names the separator


def read_cells(file: Path, column: str, remedy: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line that it begins on, from 1, and its cells by column.

    The first line names the columns. Values are separated by commas, semicolons or tabs: by those with which the first
    line has a column named ``column``, or if that is empty, by those with which it has the most columns. Blank cells
    and blank lines are left out.

    Raises: DataError with ``remedy`` if the file is not UTF-8, has no such column or a column twice, a row has more
        cells than there are columns, or a quotation mark is not closed.
    """
    text = read_text(file, remedy)
    excel = _EXCEL.match(text)
    lines_before = 1 if excel else 0
    text = text[excel.end() :] if excel else text
    separator, columns = _columns(file, text, column, remedy)
    rows = _rows(file, text, separator, lines_before, remedy)
    next(rows)
    for line, cells in rows:
        if any(cell.strip() for cell in cells[len(columns) :]):
            problem = f"has {len(cells)} cells, but there are {len(columns)} columns"
            quotes = f"put a text that holds {_SEPARATORS[separator]} into quotation marks"
            raise DataError(file, f"on line {line}", problem, quotes)
        named = {name: cell for name, cell in zip(columns, cells, strict=False) if name and cell.strip()}
        if named:
            yield line, named


def _columns(file: Path, text: str, column: str, remedy: str) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    heads: dict[str, list[str]] = {}
    for separator in _SEPARATORS:
        _, cells = next(_rows(file, text, separator, 0, remedy, strict=False), (1, []))
        heads[separator] = [cell.strip() for cell in cells]
    most = max(heads, key=lambda separator: len(heads[separator]))
    separator = next((mark for mark, names in heads.items() if column and column in names), most)
    columns = heads[separator]
    if column and column not in columns:
        problem = f"names no column {column!r} ({nearest(column, list(filter(None, columns)))})"
        raise DataError(file, "on line 1", problem, remedy)
    check_columns(file, columns)
    return separator, columns


def check_columns(file: Path, columns: Sequence[str]) -> None:
    """Raise a DataError if a table has two columns of one name."""
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice is not None:
        raise DataError(file, "on line 1", f"has the column {twice!r} twice", "rename one of them")


def _rows(
    file: Path, text: str, separator: str, before: int, remedy: str, *, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty; ``before`` lines of the file come before the text."""
    # The default is smaller than an image in base64. The limit is one of the process, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=strict)
    start = before + 1
    try:
        for cells in rows:
            if cells:
                yield start, cells
            start = before + rows.line_num + 1
    except csv.Error as error:
        problem = f"is not a row of a table ({shown(str(error))})"
        raise DataError(file, f"on line {start}", problem, remedy) from None
