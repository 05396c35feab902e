"""Reads JSON, and tables of comma- or tab-separated values: a DataError names the place and the remedy."""

from __future__ import annotations

import csv
import gc
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

from vlgate.errors import DataError, nearest

# Reading a benchmark's JSON file: anything wrong with it raises a DataError that names the place and the remedy.

FETCH_AGAIN = "download the file again from the benchmark's release"

_OPENING = re.compile(r"[ \t\n\r]*\{[ \t\n\r]*").match
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*").match
_NEXT = re.compile(r"[ \t\n\r]*(,|\}(?=[ \t\n\r]*\Z))[ \t\n\r]*").match
_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "an integer", float: "a number"}
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}]|NaN|-?Infinity', re.DOTALL)


def read_json(file: Path, remedy: str = FETCH_AGAIN) -> Any:
    """Return what a JSON file holds; ``remedy`` is for a broken file.

    This is stricter than ``json.load``: a repeated key in an object is an error, and so are NaN and Infinity, which
    JSON does not have. A byte order mark is allowed.
    """
    text = read_text(file, remedy)
    with collector_paused():
        return parsed(file, text, slice(0, len(text)), remedy)


def read_members(file: Path, remedy: str = FETCH_AGAIN) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the object in a JSON file one by one, so that few are in memory at once."""
    text = read_text(file, remedy)
    try:
        yield from _members(text)
    except (ValueError, RecursionError):  # parse the whole text, to say where and why
        content = parsed(file, text, slice(0, len(text)), remedy)
        if content != {}:
            raise DataError(file, None, f"is {shown(content)}, expected an object {{id: record}}", remedy) from None


def _members(text: str) -> Iterator[tuple[str, Any]]:
    """The members of the object in a text; a ValueError if it has none or is something else, without saying what."""
    decode = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant).raw_decode
    names: set[str] = set()
    opening = _OPENING(text)
    if opening is None:
        raise _UnwantedError
    mark, place = ",", opening.end()
    while mark == ",":
        name, place = decode(text, place)
        colon = _COLON(text, place)
        if type(name) is not str or name in names or colon is None:
            raise _UnwantedError
        names.add(name)
        value, place = decode(text, colon.end())
        gap = _NEXT(text, place)
        if gap is None:
            raise _UnwantedError
        mark, place = gap[1], gap.end()
        yield name, value


def shown(value: Any) -> str:
    """Return a value and its type for a message, cut to 60 characters."""
    text = repr(value)
    return f"{_NAMES.get(type(value), 'null')} ({text if len(text) <= 60 else text[:57] + '...'})"


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while many records are made at once.

    Reading and judging make no reference cycles, but the collector scans everything that was made again and again:
    parsing 54 MB took 1.3 to 2.7 s with the collector and 0.5 s without it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _UnwantedError(ValueError):
    """A repeated key in one object, or a constant that JSON does not have."""


def parsed(file: Path, text: str, part: slice, remedy: str, *, constants: bool = False) -> Any:
    """Return the value that a part of a file's text holds; ``constants`` allows NaN and Infinity."""
    try:
        return json.loads(text[part], object_pairs_hook=_unique, parse_constant=None if constants else _no_constant)
    except json.JSONDecodeError as error:
        raise DataError(file, None, _no_json(text, part.start + error.pos, error.msg), remedy) from None
    except _UnwantedError:
        raise DataError(file, None, _unwanted(text, constants=constants), remedy) from None
    except RecursionError:
        raise DataError(file, None, "is nested too deeply to be a benchmark's file", remedy) from None
    except ValueError as error:  # a number of more than 4,300 digits
        raise DataError(file, None, f"holds a number that cannot be read ({error})", remedy) from None


def read_text(file: Path, remedy: str) -> str:
    try:
        if file.exists() and not file.is_file() and not file.is_dir():  # reading a pipe would block for ever
            raise DataError(file, None, "is not a regular file", "put a file in its place")
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(
            file, None, "there is no such file", "check the path, or download it from the benchmark's release"
        ) from None
    except UnicodeDecodeError as error:
        place = _place(error.object[: error.start].decode("utf-8-sig"), error.start)
        raise DataError(file, None, f"{place} is not UTF-8", remedy) from None
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "make it a readable file") from None
    if not text or text.isspace():
        raise DataError(file, None, "is empty", remedy)
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _UnwantedError
    return fields


def _no_constant(_: str) -> NoReturn:
    raise _UnwantedError


def _no_json(text: str, position: int, problem: str) -> str:
    if position >= len(text.rstrip()) or problem.startswith("Unterminated string"):
        return f"is cut off: it ends in the middle of a record ({problem}, {_place(text, position)})"
    line = text[position : position + 30].partition("\n")[0]
    return f"is not JSON: {problem} at {_place(text, position)}, which reads {line!r}"


def _unwanted(text: str, *, constants: bool) -> str:
    """Describe the first repeated key or constant; this slow second pass runs for a broken file only."""
    open_objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        mark, string, colon = token.group(0, 1, 2)
        if mark == "{":
            open_objects.append(set())
        elif mark == "}":
            open_objects.pop()
        elif colon:
            key = json.loads(string)
            if key in open_objects[-1]:
                return f"{_place(text, token.start())} repeats the key {key!r} of the same object"
            open_objects[-1].add(key)
        elif not string and not constants:
            return f"{_place(text, token.start())} holds {mark}, which JSON does not have"
    raise AssertionError("unreachable: the parser has found one")


def _place(text: str, position: int) -> str:
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


# Reading a table of comma- or tab-separated values: anything wrong with it raises a DataError that names the line.

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_EXCEL = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # a first line with which Excel names the separator


def read_cells(file: Path, column: str, remedy: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line that it begins on, from 1, and its cells by column.

    The first line names the columns. Values are separated by commas, semicolons or tabs: by those with which the first
    line has a column named ``column``, or if that is empty, by those with which it has the most columns. Blank cells
    and blank lines are left out.
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
