"""Records that cannot be read: an error each, unless the caller notes them and reads the others.

A reader makes its cases with ``each``. Without ``noting``, the first record that cannot be read ends the reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from vlgate.errors import DataError

Record = TypeVar("Record")
Made = TypeVar("Made")

_NOTED: ContextVar[list[DataError] | None] = ContextVar("_NOTED", default=None)


@contextmanager
def noting() -> Iterator[list[DataError]]:
    """Read on after a record that cannot be read, and note its error in the list that is given.

    An outer ``noting`` gets the errors, too, when the inner one ends.
    """
    outer = _NOTED.get()
    noted: list[DataError] = []
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)
        if outer is not None:
            outer += noted


def leave_out(error: DataError) -> None:
    """Note the error of one record.

    Raises: DataError, the error itself, if nobody notes errors, or if it is about a whole file.
    """
    noted = _NOTED.get()
    if noted is None or error.record is None:
        raise error
    noted.append(error)


def each(make: Callable[[Record], Made], records: Iterable[Record]) -> Iterator[Made]:
    """Yield what ``make`` makes of each record; a record that it cannot read is left out and noted.

    >>> def number(text):
    ...     if not text.isdecimal():
    ...         raise DataError("a.json", text, "expected a number", "correct it")
    ...     return int(text)
    >>> with noting() as errors:
    ...     list(each(number, ["1", "x", "3"])), [error.record for error in errors]
    ([1, 3], ['x'])

    Raises: DataError for the first such record, if nobody notes errors.
    """
    for record in records:
        try:
            made = make(record)
        except DataError as error:
            leave_out(error)
        else:
            yield made
