"""The records of a JSON file or a table: fields read with a check of their type, wrong records raised or noted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from vlgate.errors import DataError, instead_of
from vlgate.sources.reading.text_files import FETCH_AGAIN, parsed, read_json, read_lines, read_members, read_text, shown

# A reader makes its cases with ``each``. The first record that cannot be read ends the reading, unless somebody notes
# these errors: then the others are read.

Raw = TypeVar("Raw")
Made = TypeVar("Made")

_NOTED: ContextVar[list[DataError] | None] = ContextVar("_NOTED", default=None)


@contextmanager
def noting() -> Iterator[list[DataError]]:
    """Note the errors of records that cannot be read, and read on; an outer ``noting`` gets them, too, at the end."""
    outer = _NOTED.get()
    noted: list[DataError] = []
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)
        if outer is not None:
            outer += noted


def noted() -> bool:
    return _NOTED.get() is not None


def leave_out(error: DataError) -> None:
    noted = _NOTED.get()
    if noted is None or error.record is None:
        raise error
    noted.append(error)


def each(make: Callable[[Raw], Made], records: Iterable[Raw]) -> Iterator[Made]:
    for record in records:
        try:
            made = make(record)
        except DataError as error:
            leave_out(error)
        else:
            yield made


_COUNTED = ("no", "one", "two", "three", "four")
_UNPAIRED = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Record:
    file: Path
    name: str | int  # an integer is a line
    fields: Mapping[str, Any]
    remedy: str = FETCH_AGAIN

    @property
    def id(self) -> str:
        return f"on line {self.name}" if isinstance(self.name, int) else self.name

    def text(self, field: str) -> str:
        value = self.fields.get(field)
        if type(value) is not str:
            self.reject(field, "a string")
        if not value or value.isspace():
            raise self.error(f"field {field!r} is blank, expected a text")
        if not value.isascii() and _UNPAIRED.search(value):
            raise self.error(f"field {field!r} holds half of a surrogate pair: {value!r}")
        return value

    def count(self, field: str) -> int:
        value = self.fields.get(field)
        if type(value) is not int or value < 0:
            self.reject(field, "an integer of at least 0")
        return value

    def number(self, field: str) -> int:
        value = self.fields.get(field)
        return int(value) if type(value) is str and re.fullmatch("[0-9]{1,18}", value) else self.count(field)

    def nested(self, field: str) -> Record:
        value = self.fields.get(field)
        if type(value) is not dict:
            self.reject(field, "an object")
        return Record(self.file, f"{self.id}, field {field!r}", value, self.remedy)

    def texts(self, field: str, number: int | None = None) -> tuple[str, ...]:
        values = self.fields.get(field)
        if type(values) is not list or not values or (number is not None and len(values) != number):
            self.reject(field, "a list of strings" if number is None else f"a list of {_COUNTED[number]} strings")
        names = [str(index) for index in range(len(values))]
        part = Record(self.file, f"{self.id}, field {field!r}", dict(zip(names, values, strict=True)), self.remedy)
        return tuple(part.text(name) for name in names)

    @property
    def record(self) -> Record:
        return self

    def error(self, expected: str, remedy: str = "") -> DataError:
        return DataError(self.file, self.id, expected, remedy or self.remedy)

    def reject(self, field: str, wanted: str, remedy: str = "") -> NoReturn:
        if field not in self.fields:
            raise self.error(f"field {field!r} is missing ({instead_of(field, self.fields)})")
        raise self.error(f"field {field!r} is {shown(self.fields[field])}, expected {wanted}", remedy)


def keyed_records(file: Path, remedy: str = FETCH_AGAIN) -> Iterator[Record]:
    yield from each(lambda member: record_of(file, *member, remedy), read_members(file, remedy))


def listed_records(file: Path, remedy: str = FETCH_AGAIN, fields: Sequence[str] = ()) -> Iterator[Record]:
    """Yield the records of a list, with their positions from 0 as ids; lists of values get the names ``fields``."""
    content = read_json(file, remedy)
    if type(content) is not list:
        raise DataError(file, None, f"is {shown(content)}, expected a list of records", remedy)

    def record(member: tuple[int, Any]) -> Record:
        name, value = str(member[0]), member[1]
        if not fields:
            return record_of(file, name, value, remedy)
        if type(value) is not list or len(value) != len(fields):
            raise DataError(file, name, f"is {shown(value)}, expected a list of {', '.join(fields)}", remedy)
        return Record(file, name, dict(zip(fields, value, strict=True)), remedy)

    yield from each(record, enumerate(content))


def lined_records(file: Path, remedy: str = FETCH_AGAIN) -> Iterator[Record]:
    """Yield the records of a file of JSON lines; the id of a record is its line, from 1. Blank lines are skipped."""
    text, end = "", 0
    for number, line in enumerate(read_lines(file, remedy), 1):
        start, end = end, end + len(line)
        if line.isspace():
            continue
        try:
            try:
                fields = parsed(file, line, slice(0, len(line)), remedy)
            except DataError:
                text = text or read_text(file, remedy)  # the place in the file is part of the message
                fields = parsed(file, text, slice(start, end - line.endswith("\n")), remedy)
            record = record_of(file, number, fields, remedy)
        except DataError as error:
            is_json = error.record is not None  # if not, its message names the column, too
            error.record = f"on line {number}"
            if not is_json and remedy == FETCH_AGAIN and not text[end:].strip():  # a cut download lacks more
                raise
            leave_out(error)
        else:
            yield record


def record_of(file: Path, name: str | int, fields: Any, remedy: str = FETCH_AGAIN) -> Record:
    record = Record(file, name, fields, remedy)
    if type(fields) is not dict:
        raise record.error(f"is {shown(fields)}, expected an object")
    if isinstance(name, str) and not name.isascii() and _UNPAIRED.search(name):
        raise DataError(file, repr(name), "the record's id holds half of a surrogate pair", remedy)
    return record
