"""Reads JSON, and tables of comma- or tab-separated values: a DataError names the place and the remedy."""

import csv
import gc
import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, NoReturn, TextIO

from vlgate.errors import DataError, nearest

FETCH_AGAIN = "download the file again from the benchmark's release"

_PART = 2**18  # characters that are read at once
_BLANK = " \t\n\r"
_OPENING = re.compile(r"[ \t\n\r]*\{[ \t\n\r]*").match
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*").match
_NEXT = re.compile(r"[ \t\n\r]*(,|\}(?=[ \t\n\r]*\Z))[ \t\n\r]*").match
_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "an integer", float: "a number"}
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}]|NaN|-?Infinity', re.DOTALL)


def is_there(path: Path) -> bool:
    """Whether there is a file or folder; a link to none on its path is an error: its cases would be left out."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        link = next((part for part in (path, *path.parents) if part.is_symlink() and not part.exists()), None)
        if link is None:
            return False
        remedy = "fetch what the link leads to (git annex get, dvc pull), or remove the link"
        raise DataError(link, None, "is a link that leads to no file", remedy) from None
    except OSError as error:
        raise DataError(path, None, f"cannot be read ({error.strerror})", "make it readable, or remove it") from None
    return True


def matching(place: Path) -> list[Path]:
    """Return the paths in a folder that the last part of a path matches, such as ``cases/*.json``, sorted."""
    folder = place.parent
    try:
        paths = sorted(folder.iterdir()) if is_there(folder) and folder.is_dir() else []
    except OSError as error:
        raise DataError(folder, None, f"cannot be listed ({error.strerror})", "make it a readable folder") from None
    return [path for path in paths if path.match(place.name)]


def read_json(file: Path, remedy: str = FETCH_AGAIN) -> Any:
    """Return what a JSON file holds; repeated keys in an object, NaN and Infinity are errors."""
    text = read_text(file, remedy)
    with collector_paused():
        return parsed(file, text, slice(0, len(text)), remedy)


def read_members(file: Path, remedy: str = FETCH_AGAIN) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the object in a JSON file one by one, so that few are in memory at once."""
    try:
        with _opened(file) as stream:
            yield from _members(stream)
    except (OSError, ValueError, RecursionError):  # parse the whole text, to say where and why
        text = read_text(file, remedy)
        content = parsed(file, text, slice(0, len(text)), remedy)
        if content != {}:
            raise DataError(file, None, f"is {shown(content)}, expected an object {{id: record}}", remedy) from None


def read_lines(file: Path, remedy: str) -> Iterator[str]:
    """Yield the lines of a text, each with its end, so that few are in memory at once."""
    blank, failed = True, False
    try:
        with _opened(file) as stream:
            for line in stream:
                blank = blank and line.isspace()
                yield line
    except (OSError, ValueError):
        failed = True
    if blank or failed:
        read_text(file, remedy)  # raises: it says what is wrong
    if failed:
        raise DataError(file, None, "changed while it was read", "start again")


def _opened(file: Path) -> TextIO:
    if not file.is_file():  # reading a pipe would block for ever
        raise _UnwantedError
    return file.open(encoding="utf-8-sig", newline="\n")


def _members(stream: TextIO) -> Iterator[tuple[str, Any]]:
    names: set[str] = set()
    text, mark = stream.read(_PART).lstrip(_BLANK), ","
    while not text and (more := stream.read(_PART)):
        text = more.lstrip(_BLANK)
    place = _found(_OPENING(text)).end()
    while mark == ",":
        try:
            name, end = _strict.raw_decode(text, place)
            value, end = _strict.raw_decode(text, _found(_COLON(text, end)).end())
            gap = _found(_NEXT(text, end))
        except ValueError:  # perhaps because the part of the file that was read ends here
            more = stream.read(max(_PART, len(text)))
            if not more:
                raise
            text, place = (text[place:] + more).lstrip(_BLANK), 0
            continue
        if type(name) is not str or name in names:
            raise _UnwantedError
        names.add(name)
        mark, place = gap[1], gap.end()
        yield name, value
    if stream.read().strip(_BLANK):
        raise _UnwantedError


def _found(match: re.Match[str] | None) -> re.Match[str]:
    if match is None:
        raise _UnwantedError
    return match


def shown(value: Any) -> str:
    text = repr(value)
    return f"{_NAMES.get(type(value), 'null')} ({text if len(text) <= 60 else text[:57] + '...'})"


@contextmanager
def collector_paused() -> Iterator[None]:
    # Reading and judging make no reference cycles, but the collector scans everything that was made again and again:
    # parsing 54 MB took 1.3 to 2.7 s with the collector and 0.5 s without it.
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
    try:
        return (_lenient if constants else _strict).decode(text[part])
    except json.JSONDecodeError as error:
        position = part.start + error.pos
        if position >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            problem = f"is cut off: it ends in the middle of a record ({error.msg}, {_place(text, position)})"
        else:
            line = text[position : position + 30].partition("\n")[0]
            problem = f"is not JSON: {error.msg} at {_place(text, position)}, which reads {line!r}"
    except _UnwantedError:
        problem = _unwanted(text, constants=constants)
    except RecursionError:
        problem = "is nested too deeply to be a benchmark's file"
    except ValueError as error:  # a number of more than 4,300 digits
        problem = f"holds a number that cannot be read ({error})"
    raise DataError(file, None, problem, remedy)


def read_text(file: Path, remedy: str) -> str:
    try:
        if file.exists() and not file.is_file() and not file.is_dir():  # reading a pipe would block for ever
            raise DataError(file, None, "is not a regular file", "put a file in its place")
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        remedy = "check the path, or download it from the benchmark's release"
        raise DataError(file, None, "there is no such file", remedy) from None
    except UnicodeDecodeError as error:
        place = _place(error.object[: error.start].decode("utf-8-sig"), error.start)
        remedy = remedy if remedy == FETCH_AGAIN or "UTF-8" in remedy else "save the file in UTF-8"
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


_lenient = json.JSONDecoder(object_pairs_hook=_unique)  # made once: making one takes as long as a record
_strict = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


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


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_EXCEL = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # a first line with which Excel names the separator


def read_cells(
    file: Path, column: str, remedy: str, blank: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line that it begins on, from 1, and its cells by column."""
    # Values are separated by commas, semicolons or tabs: by those with which the first line has a column named
    # ``column``, or if that is empty, by those with which it has the most columns. Blank lines are left out, and blank
    # cells, but for those of the columns ``blank``.
    text = read_text(file, remedy)
    excel = _EXCEL.match(text)
    text = text[excel.end() :] if excel else text
    heads: dict[str, list[str]] = {}
    for mark in _SEPARATORS:
        _, cells = next(_rows(file, text, mark, 0, remedy, strict=False), (1, []))
        heads[mark] = [cell.strip() for cell in cells]
    most = max(heads, key=lambda mark: len(heads[mark]))
    separator = next((mark for mark, names in heads.items() if column and column in names), most)
    columns = heads[separator]
    if column and column not in columns:
        problem = f"names no column {column!r} ({nearest(column, list(filter(None, columns)))})"
        raise DataError(file, "on line 1", problem, remedy)
    check_columns(file, columns)
    rows = _rows(file, text, separator, 1 if excel else 0, remedy)
    next(rows)
    for line, cells in rows:
        if any(cell.strip() for cell in cells[len(columns) :]):
            problem = f"has {len(cells)} cells, but there are {len(columns)} columns"
            quotes = f"put a text that holds {_SEPARATORS[separator]} into quotation marks"
            raise DataError(file, f"on line {line}", problem, quotes)
        named = {name: cell for name, cell in zip_longest(columns, cells[: len(columns)], fillvalue="") if name}
        if any(map(str.strip, named.values())):
            yield line, {name: cell for name, cell in named.items() if name in blank or cell.strip()}


def check_columns(file: Path, columns: Sequence[str]) -> None:
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice is not None:
        raise DataError(file, "on line 1", f"has the column {twice!r} twice", "rename one of them")


def _rows(
    file: Path, text: str, separator: str, before: int, remedy: str, *, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
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
