"""Read all data folders as a run does, but go on after an error, so that every wrong record is found at once.

A reader stops at its first error. It is started again without the record that the error names, until it ends. A file
that cannot be read as a whole is left out with its tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from vlgate.errors import DataError
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.records import passing_over
from vlgate.sources.registry import SOURCES, read_source, shapes_of
from vlgate.types import Shape, Task

MOST = 50
"""The most errors that are looked for in one source; a file with more has one mistake many times."""


@dataclass(slots=True, kw_only=True)
class Found:
    """What the folders hold: the tasks without the wrong records, and the errors of these by their messages."""

    tasks: list[Task] = field(default_factory=list)
    errors: dict[str, DataError] = field(default_factory=dict)


def read_everything(options: ReadOptions) -> Found:
    """Read the wanted tasks of all sources.

    Returns: the tasks in the order of their ids, and every error.
    """
    found = Found()
    for source in SOURCES:
        passed: set[tuple[str, str]] = set()
        known: dict[str, Shape] = {}
        _again(partial(_shapes, source, options, known), passed, found)
        wanted = [task for task in known if options.wanted(task)]
        if not wanted or _again(partial(_read, source, options, wanted, found), passed, found):
            continue
        for task in wanted:  # a file is broken as a whole: the tasks from other files can be read
            _again(partial(_read, source, options, [task], found), passed, found)
    found.tasks.sort(key=lambda task: task.id)
    return found


def _shapes(source: str, options: ReadOptions, known: dict[str, Shape]) -> None:
    known.update(shapes_of(source, options.folders))


def _read(source: str, options: ReadOptions, wanted: list[str], found: Found) -> None:
    some = ReadOptions(
        folders=options.folders,
        seed=options.seed,
        wanted=wanted.__contains__,
        protocols=options.protocols,
        pairs=options.pairs,
    )
    found.tasks += list(read_source(source, some))


def _again(read: Callable[[], None], passed: set[tuple[str, str]], found: Found) -> bool:
    """Call ``read`` until it ends, each time without the record of the last error; False if a file must be left out."""
    for _ in range(MOST):
        try:
            with passing_over(frozenset(passed)):
                read()
        except DataError as error:
            found.errors[str(error)] = error
            place = (str(error.file), error.record or "")
            if not error.record or place in passed:
                return False
            passed.add(place)
        else:
            return True
    return False
