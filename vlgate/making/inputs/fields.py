"""What the readers of the inputs share: records of files and of lists, and texts that may be anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.reading.json_file import read_json
from vlgate.sources.reading.records import Record


def whole(file: Path, remedy: str) -> Record:
    """Return a file that is one JSON object as a record.

    Raises: DataError, which names the file and the place, if it is not JSON or not an object.
    """
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "is not an object", remedy)
    return Record(file, "(the whole file)", content, remedy)


def listed(record: Record, field: str, name: str) -> Iterator[Record]:
    """Yield the objects of a list, each named ``name`` and its position from 0.

    Raises: DataError, which names the file and record, if the field is missing or not a list of objects.
    """
    values = record.fields.get(field)
    if type(values) is not list:
        record.reject(field, "a list")
    for position, fields in enumerate(values):
        place = f"{name} {position}"
        if type(fields) is not dict:
            raise DataError(record.file, place, "is not an object", record.remedy)
        yield Record(record.file, place, fields, record.remedy)


def any_text(record: Record, field: str) -> str:
    """Return the string in ``field``, which may be blank: what people wrote is judged later, and counted.

    Raises: DataError, which names the file and record, if the field is missing or not a string.
    """
    value = record.fields.get(field)
    if type(value) is not str:
        record.reject(field, "a string")
    return value


def identity(record: Record, field: str) -> str:
    """Return the integer or text in ``field`` as a text.

    Raises: DataError, which names the file and record, if the field is missing or neither.
    """
    value: Any = record.fields.get(field)
    return str(value) if type(value) is int else record.text(field)


def origin(record: Record) -> str:
    """Return the name of a record's file, and the record."""
    return f"{record.file.name}, {record.id}"
