"""The records of a JSON file: fields are read with a check of their type, and a DataError says which one is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from vlgate.errors import DataError, nearest
from vlgate.sources.json_file import FETCH_AGAIN, parsed, read_json, read_text

_UNPAIRED = re.compile("[\ud800-\udfff]")
_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "an integer", float: "a number"}


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file, whose fields are read with a check of their type.

    >>> record = Record(Path("existence.json"), "existence_1", {"caption": "There are no people."})
    >>> record.text("caption")
    'There are no people.'
    """

    file: Path
    id: str
    fields: Mapping[str, Any]
    remedy: str = FETCH_AGAIN

    def text(self, field: str) -> str:
        """Return the string in ``field``.

        Raises: DataError where it is missing, no string, blank, or holds half of a surrogate pair, which JSON can
        write but UTF-8 cannot.
        """
        value = self.fields.get(field)
        if type(value) is not str:
            self.reject(field, "a string")
        if not value or value.isspace():
            raise self.error(f"field {field!r} is blank where a text was expected")
        if not value.isascii() and _UNPAIRED.search(value):
            raise self.error(f"field {field!r} holds half of a surrogate pair: {value!r}")
        return value

    def count(self, field: str) -> int:
        """Return the integer of at least 0 in ``field``.

        Raises: DataError where it is missing, no integer (true and false are none) or negative.
        """
        value = self.fields.get(field)
        if type(value) is not int or value < 0:
            self.reject(field, "an integer of at least 0")
        return value

    def nested(self, field: str) -> Record:
        """Return the object in ``field`` as a record of its own.

        Raises: DataError where it is missing or no object.
        """
        value = self.fields.get(field)
        if type(value) is not dict:
            self.reject(field, "an object")
        return Record(self.file, f"{self.id}, field {field!r}", value, self.remedy)

    def error(self, expected: str, remedy: str = "") -> DataError:
        """Return the error that names this file and record, for the caller to raise."""
        return DataError(self.file, self.id, expected, remedy or self.remedy)

    def reject(self, field: str, wanted: str) -> NoReturn:
        """Say that ``field`` is missing, or what it holds where ``wanted`` was expected.

        Raises: DataError, always.
        """
        if field not in self.fields:
            raise self.error(f"field {field!r} is missing ({nearest(field, self.fields.keys())})")
        raise self.error(f"field {field!r} is {_shown(self.fields[field])} where {wanted} was expected")


def keyed_records(file: Path) -> Iterator[Record]:
    """Yield the records of a file that is one object ``{id: record}``, in the file's order.

    Raises: DataError, as ``read_json`` does, and where the file or a record is no object.
    """
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, f"is {_shown(content)} where an object {{id: record}} was expected", FETCH_AGAIN)
    for name, fields in content.items():
        yield _record(file, name, fields)


def listed_records(file: Path) -> Iterator[Record]:
    """Yield the records of a file that is one list; each is named by its position, from 0.

    Raises: DataError, as ``read_json`` does, and where the file is no list or a record no object.
    """
    content = read_json(file)
    if type(content) is not list:
        raise DataError(file, None, f"is {_shown(content)} where a list of records was expected", FETCH_AGAIN)
    for position, fields in enumerate(content):
        yield _record(file, str(position), fields)


def lined_records(file: Path, remedy: str = FETCH_AGAIN) -> Iterator[Record]:
    """Yield the records of a file of JSON lines; each is named by its line, from 1. Blank lines are passed over.

    Raises: DataError, as ``read_json`` does, and where a line is no object; it says ``remedy``.
    """
    text = read_text(file, remedy)
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            fields = parsed(file, text, slice(start, start + len(line)), remedy)
            yield _record(file, f"on line {number}", fields, remedy)
        start += len(line) + 1


def _record(file: Path, name: str, fields: Any, remedy: str = FETCH_AGAIN) -> Record:
    if type(fields) is not dict:
        raise DataError(file, name, f"is {_shown(fields)} where an object was expected", remedy)
    if not name.isascii() and _UNPAIRED.search(name):
        raise DataError(file, repr(name), "the record's id holds half of a surrogate pair", remedy)
    return Record(file, name, fields, remedy)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{_NAMES.get(type(value), 'null')} ({text if len(text) <= 60 else text[:57] + '...'})"
