"""What is wrong with data folders: one that holds no data, and every record that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from vlgate.errors import DataError, short
from vlgate.sources.own.cases import SUFFIXES
from vlgate.sources.reading.image_finder import EXTENSIONS
from vlgate.sources.reading.records import noting
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.reading.text_files import FETCH_AGAIN
from vlgate.sources.registry import SOURCES, readable_tasks, shapes_of
from vlgate.types import Shape, Task

# What a data folder looks like, to propose the right one for one that holds no data.

PARTS = frozenset({*SOURCES, "images", "annotations", "cases", "gqa", "vg", "vl_checklist", "foil"}) - {"own"}
"""The names of folders within a data folder, in lower case."""
_CASES = frozenset(f"cases.{end}" for end in SUFFIXES)
_MOST = 10_000  # entries of a folder that are looked at


def another_folder(folders: Sequence[Path]) -> str:
    """Propose a remedy if one of some data folders is part of one, holds one, or lacks only the right name of a file.

    >>> another_folder([Path("data/valse")])
    'data/valse looks like a part of a data folder: did you mean --data data?'
    """
    return next((hint for folder in folders if not _is_data(folder) and (hint := _hint(folder))), "")


def _hint(folder: Path) -> str:
    if folder.is_file():
        parent = folder.parent.parent if folder.parent.name == "cases" else folder.parent
        return f"{folder} is a file: did you mean --data {parent}?"
    return _above(folder) or _below(folder, _names(folder))


def _above(folder: Path) -> str:
    whole = next((number for number, parent in enumerate(folder.absolute().parents[:2]) if _is_data(parent)), None)
    if whole is None and folder.name.lower() not in PARTS:
        return ""
    parents = folder.parents if len(folder.parents) > (whole or 0) else folder.absolute().parents
    return f"{folder} looks like a part of a data folder: did you mean --data {parents[whole or 0]}?"


def _below(folder: Path, names: Sequence[str]) -> str:
    inside = next((folder / name for name in names if (folder / name).is_dir() and _is_data(folder / name)), None)
    if inside is not None:
        return f"{inside} looks like a data folder: did you mean --data {inside}?"
    cases = [name for name in names if name.rpartition(".")[2].lower() in SUFFIXES]
    if cases:
        end = cases[0].rpartition(".")[2].lower()
        rename = f"call it {folder}/cases.{end}, or put it into {folder}/cases"
        return f"{folder / cases[0]} is not read under this name: {rename}"
    if any(name.rpartition(".")[2].lower() in EXTENSIONS for name in names):
        return f"{folder} holds images, but no cases: write them to {folder}/cases.jsonl"
    return ""


def _is_data(folder: Path) -> bool:
    inside = _names(folder)
    own = any(name.rpartition(".")[2] in SUFFIXES for name in _names(folder / "cases"))
    return own or any(name in _CASES or (name.lower() in SOURCES and (folder / name).is_dir()) for name in inside)


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return sorted(path.name for _, path in zip(range(_MOST), folder.iterdir(), strict=False))
    return []


# Read all data folders as a run does, but go on after an error, so that every wrong record is found at once. A file
# that cannot be read as a whole is left out with its tasks.

ALIKE = 3
"""The most errors of the same words in one file that have a line each."""
MOST = 50
"""The most errors of one file that are listed; a file with more has one mistake many times."""


@dataclass(slots=True, kw_only=True)
class EveryError:
    """What the folders hold: the tasks without the wrong records, and the errors of these by their messages."""

    tasks: list[Task] = field(default_factory=list)
    errors: dict[str, DataError] = field(default_factory=dict)


def read_everything(options: ReadOptions) -> EveryError:
    found = EveryError()
    for source in SOURCES:
        known: dict[str, Shape] = {}
        _noted(partial(_shapes, source, options, known), found)
        wanted = [task for task in known if options.wanted(task)]
        if not wanted or _noted(partial(_read, source, options, wanted, found), found):
            continue
        for task in wanted:  # a file is broken as a whole: the tasks from other files can be read
            _noted(partial(_read, source, options, [task], found), found)
    found.tasks.sort(key=lambda task: task.id)
    found.errors = _fewer(found.errors)
    return found


def _shapes(source: str, options: ReadOptions, known: dict[str, Shape]) -> None:
    known.update(shapes_of(source, options.folders))


def _read(source: str, options: ReadOptions, wanted: list[str], found: EveryError) -> None:
    found.tasks += readable_tasks(source, replace(options, wanted=wanted.__contains__), even_few=True)


def _noted(read: Callable[[], None], found: EveryError) -> bool:
    """Call ``read`` and keep its errors; False if a file cannot be read as a whole."""
    whole = True
    with noting() as errors:
        try:
            read()
        except DataError as error:
            errors.append(error)
            whole = False
    found.errors |= {str(error): error for error in errors}
    return whole


def _fewer(errors: Mapping[str, DataError]) -> dict[str, DataError]:
    """Keep the first ``MOST`` records of each file, and say how many more there are."""
    kept: dict[str, DataError] = {}
    numbers: Counter[object] = Counter()
    for message, error in errors.items():
        numbers[error.file] += error.record is not None
        if numbers[error.file] <= MOST:
            kept[message] = error
    for file, number in numbers.items():
        if number > MOST:
            more = DataError(file, None, f"{number - MOST:,} more records cannot be read", FETCH_AGAIN)
            kept[str(more)] = more
    return kept


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
        problem = f"{least}{len(same):,} records, the first {short(same[0].record, 120)}: {expected}"
        lines.append(str(DataError(file, None, problem, same[0].remedy)))
    return lines
