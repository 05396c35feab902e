"""The sources of tasks: one line per benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from vlgate.errors import DataError
from vlgate.sources.other_files import other_files
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.unreadable import noting
from vlgate.types import UNREADABLE, Shape, Task

# Modules by name: a source is imported only when one of its tasks is wanted.
SOURCES: Mapping[str, str] = {
    "carets": "vlgate.sources.benchmarks.carets",
    "counterfactual": "vlgate.sources.benchmarks.counterfactual",
    "scenes": "vlgate.sources.benchmarks.scenes",
    "valse": "vlgate.sources.benchmarks.valse",
    "vl-checklist": "vlgate.sources.benchmarks.vl_checklist",
    "winoground": "vlgate.sources.benchmarks.winoground",
    "bla": "vlgate.sources.benchmarks.bla",
    "sugarcrepe": "vlgate.sources.benchmarks.sugarcrepe",
    "foil-it": "vlgate.sources.benchmarks.foil_it",
    "aro": "vlgate.sources.further.aro",
    "bivlc": "vlgate.sources.further.bivlc",
    "cola": "vlgate.sources.further.cola",
    "colorswap": "vlgate.sources.further.colorswap",
    "mmvp": "vlgate.sources.further.mmvp",
    "naturalbench": "vlgate.sources.further.naturalbench",
    "pope": "vlgate.sources.further.pope",
    "sugarcrepe-pp": "vlgate.sources.further.sugarcrepe_pp",
    "vismin": "vlgate.sources.further.vismin",
    "vsr": "vlgate.sources.further.vsr",
    "whatsup": "vlgate.sources.further.whatsup",
    "scene-graphs": "vlgate.sources.scene_graphs.generated",
    "own": "vlgate.sources.benchmarks.own_cases",
}

PROTOCOLS: Mapping[str, str] = {
    "carets_default_yml": "CARETS: with the three files of choice questions that default.yml adds to ontological-inv",
    "bivlc_hub": "BiVLC: from the Hugging Face hub",
    "colorswap_hub": "ColorSwap: from the Hugging Face hub, with your own token",
    "naturalbench_hub": "NaturalBench: from the Hugging Face hub",
    "vismin_hub": "VisMin: from the Hugging Face hub, with your own token",
    "valse_all": "VALSE: all records, not only those that at least two of three annotators found valid",
    "winoground_hub": "Winoground: from the Hugging Face hub, with your own token",
    "vlchecklist_paper": "VL-CheckList: only the first 1,000 items of each file, and the first text of each item",
}
"""The ways to read a benchmark that are not the default, by the name that ``--protocol`` takes."""


_OWN = "own"  # the user can correct these cases
_NAMED = 3  # the records that a task's note names


class Source(Protocol):
    """A module that makes tasks: it has ``read``, and in ``SHAPES`` the shape of each task by id.

    If the task ids are in the user's files, the module has a function ``shapes(folders)`` instead of ``SHAPES``.
    """

    SHAPES: Mapping[str, Shape]

    def read(self, options: ReadOptions) -> Iterable[Task]:
        """Make the tasks of this source that are wanted and whose data are in the folders."""


def shapes(folders: tuple[Path, ...] = ()) -> dict[str, Shape]:
    """Return the shape of every task that a source can make, by id, with the user's own tasks in these data folders.

    Raises: DataError if a user's own task cannot be read.
    """
    return {task: shape for name in SOURCES for task, shape in shapes_of(name, folders).items()}


def read_tasks(options: ReadOptions) -> list[Task]:
    """Return all wanted tasks whose data are in the folders, in the order of their ids.

    Raises: DataError if the data of a source cannot be read; see ``readable_tasks``.
    """
    wanted = [name for name in SOURCES if any(map(options.wanted, shapes_of(name, options.folders)))]
    tasks = [task for name in wanted for task in readable_tasks(name, options)]
    return sorted(tasks, key=lambda task: task.id)


def readable_tasks(name: str, options: ReadOptions, *, even_few: bool = False) -> list[Task]:
    """Make the wanted tasks of one source from all records that can be read.

    Args:
        name: the source.
        options: what to read.
        even_few: whether a task may lose more records than it has cases.

    Returns: the tasks. ``left_out`` of a task counts the other records under ``UNREADABLE``, and its note names some.
    Raises: DataError if a file cannot be read as a whole, if a task loses more records than it has cases, because then
        the file has another form, and for the first record of the user's own cases that cannot be read.
    """
    if name == _OWN:
        return list(read_source(name, options))
    with noting() as errors:
        tasks = list(read_source(name, options))
    if not errors:
        return tasks or _none(name, options)
    found: list[Task] = []
    lost: dict[str, DataError] = {}
    counted: set[str] = set()
    for task in filter(options.wanted, shapes_of(name, options.folders)):  # a record is lost to the tasks of its file
        with noting() as errors:
            alone = list(read_source(name, replace(options, wanted={task}.__contains__)))
        lost |= {str(error): error for error in errors}
        for one in alone:
            if len(errors) > len(one.cases) and not even_few:
                raise _another_form(errors, len(one.cases))
            found.append(_lacking(one, errors) if errors else one)
            counted |= set(map(str, errors))
    if not even_few and (nowhere := [error for message, error in lost.items() if message not in counted]):
        raise _another_form(nowhere, 0)
    return found


def _none(name: str, options: ReadOptions) -> list[Task]:
    """A task without cases that says which files are not read, if a benchmark's folder holds nothing else."""
    note = other_files(name, options.folders)
    known = shapes_of(name, options.folders)
    first = next(filter(options.wanted, known), None)
    if first is None or not note or _has_others(name, options):
        return []
    return [Task(id=first, capability="foil", shape=known[first], cases=(), note=note)]


def _has_others(name: str, options: ReadOptions) -> bool:
    """Whether the folders hold a file of a task of the source that is not wanted."""
    try:
        others = replace(options, wanted=lambda task: not options.wanted(task))
        return next(iter(read_source(name, others)), None) is not None
    except DataError:
        return True


def _another_form(errors: Sequence[DataError], cases: int) -> DataError:
    first = errors[0]
    if len(errors) == 1:
        return first
    problem = f"{len(errors):,} of {len(errors) + cases:,} records cannot be read; the first is {first.record}: "
    return DataError(first.file, None, problem + first.expected, first.remedy)


def _lacking(task: Task, errors: Sequence[DataError]) -> Task:
    some = "; ".join(f"{one.record}: {one.expected}" for one in errors[:_NAMED])
    more = f", and {len(errors) - _NAMED:,} more, which vlgate check lists" if len(errors) > _NAMED else ""
    note = f"{len(errors):,} of its records cannot be read ({some}{more})"
    left_out = {**task.left_out, UNREADABLE: len(errors)}
    return replace(task, left_out=left_out, note="; ".join(filter(None, (task.note, note))))


def read_source(name: str, options: ReadOptions) -> Iterable[Task]:
    """Make the wanted tasks of one source; see ``Source.read``."""
    return _source(name).read(options)


def shapes_of(name: str, folders: tuple[Path, ...]) -> Mapping[str, Shape]:
    """Return the shape of each task of one source, by id.

    Raises: DataError if a user's own task cannot be read.
    """
    module = _source(name)
    found: Mapping[str, Shape] = module.shapes(folders) if hasattr(module, "shapes") else module.SHAPES
    return found


def _source(name: str) -> Source:
    return cast("Source", import_module(SOURCES[name]))
