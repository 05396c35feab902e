"""What is wrong with data folders: one that holds no data, and every record that cannot be read."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from vlgate.errors import DataError, short
from vlgate.images.files import EXTENSIONS
from vlgate.sources.own.cases import SUFFIXES, own_files
from vlgate.sources.reading.records import noting
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import SOURCES, readable_tasks, shapes_of
from vlgate.types import Task

Made = TypeVar("Made")
# The names of folders within a data folder, in lower case.
PARTS = frozenset({*SOURCES, "images", "annotations", "cases", "gqa", "vg", "vl_checklist", "foil"}) - {"own"}
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
    whole = next((number for number, parent in enumerate(folder.absolute().parents[:2]) if _is_data(parent)), None)
    if whole is not None or folder.name.lower() in PARTS:
        parents = folder.parents if len(folder.parents) > (whole or 0) else folder.absolute().parents
        return f"{folder} looks like a part of a data folder: did you mean --data {parents[whole or 0]}?"
    names = _names(folder)
    inside = next((folder / name for name in names if (folder / name).is_dir() and _is_data(folder / name)), None)
    if inside is not None:
        return f"{inside} looks like a data folder: did you mean --data {inside}?"
    if misnamed := _misnamed(folder):
        return misnamed
    if not EXTENSIONS.isdisjoint(map(_end, names)):
        return f"{folder} holds images, but no cases: write them to {folder}/cases.jsonl"
    return ""


def _end(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _misnamed(folder: Path) -> str:
    cases = next((name for name in _names(folder) if _end(name) in SUFFIXES and name not in _CASES), "")
    rename = f"call it {folder}/cases.{_end(cases)}, or put it into {folder}/cases"
    return f"{folder / cases} is not read under this name: {rename}" if cases else ""


def own_cases(folders: Sequence[Path]) -> str:
    """Say from which files own cases were read, and which file is not read under its name."""
    read = ", ".join(map(str, own_files(folders))) or f"none of cases.{', cases.'.join(SUFFIXES)}"
    return "; ".join(filter(None, (f"own cases were read from {read}", *map(_misnamed, folders))))


def _is_data(folder: Path) -> bool:
    inside = _names(folder)
    own = any(name.rpartition(".")[2] in SUFFIXES for name in _names(folder / "cases"))
    return own or any(name in _CASES or (name.lower() in SOURCES and (folder / name).is_dir()) for name in inside)


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return sorted(path.name for _, path in zip(range(_MOST), folder.iterdir(), strict=False))
    return []


ALIKE = 3  # the most errors of the same words in one file that have a line each
MEND = "mend the first ones, and check again"
MOST = 50  # the most errors of one file that are listed; a file with more has one mistake many times


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryError:
    tasks: list[Task]  # without the wrong records
    errors: dict[str, DataError]  # by their messages


# As a run does, but going on after an error, so that every wrong record is found at once. A file that cannot be read as
# a whole is left out with its tasks.
def read_everything(options: ReadOptions) -> EveryError:
    every: list[Task] = []
    errors: dict[str, DataError] = {}
    for source in SOURCES:
        known = _noted(partial(shapes_of, source, options.folders), errors) or {}
        wanted = list(filter(options.wanted, known))
        tasks = _noted(partial(_read, source, options, wanted), errors) if wanted else []
        if tasks is None:  # a file is broken as a whole: the tasks from other files can be read
            alone = (_noted(partial(_read, source, options, [task]), errors) for task in wanted)
            tasks = [task for some in alone for task in some or ()]
        every += tasks
    kept: dict[str, DataError] = {}  # the first ``MOST`` records of each file, and how many more there are
    numbers: Counter[object] = Counter()
    for message, error in errors.items():
        numbers[error.file] += error.record is not None
        if numbers[error.file] <= MOST:
            kept[message] = error
    for file, number in numbers.items():
        if number > MOST:
            more = DataError(file, None, f"{number - MOST:,} more records cannot be read", MEND)
            kept[str(more)] = more
    return EveryError(tasks=sorted(every, key=lambda task: task.id), errors=kept)


def _read(source: str, options: ReadOptions, wanted: list[str]) -> list[Task]:
    return readable_tasks(source, replace(options, wanted=wanted.__contains__), even_few=True)


def _noted(read: Callable[[], Made], noted: dict[str, DataError]) -> Made | None:
    made = None
    with noting() as errors:
        try:
            made = read()
        except DataError as error:
            errors.append(error)
    noted |= {str(error): error for error in errors}
    return made


def grouped(errors: Iterable[DataError]) -> list[str]:
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
