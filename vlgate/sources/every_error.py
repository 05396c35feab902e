"""Read all data folders as a run does, but go on after an error, so that every wrong record is found at once.

The records of a benchmark that cannot be read are noted in one reading. In the user's own cases, a reader stops at its
first error, and is started again without the record that the error names, until it ends. A file that cannot be read as
a whole is left out with its tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from vlgate.errors import DataError, short
from vlgate.sources.reading.json_file import FETCH_AGAIN
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.records import passing_over
from vlgate.sources.reading.unreadable import noting
from vlgate.sources.registry import SOURCES, readable_tasks, shapes_of
from vlgate.types import Shape, Task

ALIKE = 3
"""The most errors of the same words in one file that have a line each."""
MOST = 50
"""The most errors of one file that are listed; a file with more has one mistake many times."""


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


def grouped(errors: Iterable[DataError]) -> list[str]:
    """Return the messages of errors; more than ``ALIKE`` that differ in their record only have one line."""
    alike: dict[tuple[object, str], list[DataError]] = {}
    for error in errors:
        alike.setdefault((error.file, error.expected), []).append(error)
    lines: list[str] = []
    for (file, expected), same in alike.items():
        if len(same) <= ALIKE or same[0].record is None:
            lines += map(str, same)
            continue
        least = "at least " if len(same) == MOST else ""
        said = f"{least}{len(same):,} records, the first {short(same[0].record, 120)}: {expected}"
        lines.append(str(DataError(file, None, said, same[0].remedy)))
    return lines


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
    found.tasks += readable_tasks(source, some, even_few=True)


def _again(read: Callable[[], None], passed: set[tuple[str, str]], found: Found) -> bool:
    """Call ``read`` until it ends, each time without the record of the last error; False if a file must be left out."""
    for _ in range(MOST):
        errors: list[DataError] = []
        try:
            with passing_over(frozenset(passed)), noting() as errors:
                read()
        except DataError as error:
            _keep([*errors, error], found)
            place = (str(error.file), error.record or "")
            if not error.record or place in passed:
                return False
            passed.add(place)
        else:
            _keep(errors, found)
            return True
    return False


def _keep(errors: Sequence[DataError], found: Found) -> None:
    """Keep the errors by their messages: of each file, the first ``MOST`` records and how many more there are."""
    unlike = {str(error): error for error in errors}
    numbers: Counter[object] = Counter()
    for message, error in unlike.items():
        numbers[error.file] += error.record is not None
        if numbers[error.file] <= MOST:
            found.errors[message] = error
    for file, number in numbers.items():
        if number > MOST:
            more = DataError(file, None, f"{number - MOST:,} more records cannot be read", FETCH_AGAIN)
            found.errors[str(more)] = more
