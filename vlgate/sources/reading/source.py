"""What each source starts from: the options of the run, its files in the data folders, the cases of its records."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.text_files import is_there
from vlgate.types import Capability, Case, LazyImage, Match, Matches, Request, Shape, Task, match_of


class WithRecord(Protocol):
    """A record, or an item that has one, which errors name."""

    @property
    def record(self) -> Record: ...


Item = TypeVar("Item", bound=WithRecord)


@dataclass(frozen=True, kw_only=True)  # not slotted: the finder is kept once it is made
class ReadOptions:
    folders: tuple[Path, ...]  # each once, sorted: the order in which they are given decides nothing
    seed: int  # decides every random choice
    wanted: Callable[[str], bool]  # by a task's id; a source reads no other tasks
    protocols: frozenset[str] = frozenset()  # other ways to read a benchmark
    pairs: int | None = 1000  # of questions in a task made from scene graphs; None for as many as in the paper
    missing_images: Literal["fail", "skip"] = "fail"  # skip: cases whose image is missing may be left out

    def __post_init__(self) -> None:
        once = {os.path.realpath(folder): folder for folder in reversed(self.folders)}
        object.__setattr__(self, "folders", tuple(once[real] for real in sorted(once)))

    def wants(self, rows: Mapping[str, TaskRow]) -> bool:
        return any(self.wanted(row.id) for row in rows.values())

    @cached_property
    def images(self) -> ImageFinder:
        """The finder of images in the folders; all sources share it, so each folder is listed once."""
        return ImageFinder(self.folders)

    def find(self, source: str) -> Find:
        return lambda record, name: self.images.find(source, name, file=record.file, record=record.id)


def only_file(folders: Iterable[Path], *names: str) -> Path | None:
    paths = [folder / name for folder in folders for name in names]
    files = list({path.resolve(): path for path in paths if is_there(path)}.values())  # a file reached twice is one
    if len(files) > 1:
        raise DataError(files[0], None, f"is also in {files[1]}", "keep one of them, or give one data folder only")
    return files[0] if files else None


# Sources of tasks, and the table of those whose files hold one case per record.

Find = Callable[[Record, str], LazyImage]  # returns the image that a record calls by a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    read: Callable[[ReadOptions], Iterable[Task]]  # makes the wanted tasks whose files are in the data folders
    # The shape of each task by id; a function of the data folders if the ids are in a user's files.
    shapes: Mapping[str, Shape] | Callable[[tuple[Path, ...]], Mapping[str, Shape]]
    take: str = ""  # the files to take for a benchmark whose folder holds only others


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    id: str
    shape: Shape
    capability: Capability
    places: tuple[str, ...] = ()  # the paths that its file may have in a data folder, if it has one of its own
    images: str = ""  # a name in ``image_finder.SOURCES``

    def file(self, options: ReadOptions) -> Path | None:
        return only_file(options.folders, *self.places) if options.wanted(self.id) else None

    def task(self, cases: Iterable[Case], note: str = "", left_out: Mapping[str, int] | None = None) -> Task:
        made, lost = tuple(cases), left_out or {}
        return Task(id=self.id, capability=self.capability, shape=self.shape, cases=made, note=note, left_out=lost)


def task_rows(
    task: str,
    names: Iterable[str] | Mapping[str, str],
    places: str = "",
    *,
    shape: Shape,
    capability: Capability,
    images: str = "",
) -> dict[str, TaskRow]:
    """Return rows by name: it replaces ``{}`` in ``task``, its value or itself those in ``places``, apart by spaces."""
    values = names if isinstance(names, Mapping) else {name: name for name in names}
    rows = {}
    for name, value in values.items():
        paths = tuple(word.replace("{}", value) for word in places.split())
        rows[name] = TaskRow(id=task.format(name), shape=shape, capability=capability, places=paths, images=images)
    return rows


def shapes_of(rows: Iterable[TaskRow]) -> dict[str, Shape]:
    return {row.id: row.shape for row in rows}


def present(options: ReadOptions, rows: Iterable[TaskRow]) -> Iterator[tuple[TaskRow, Path]]:
    for row in rows:
        if (file := row.file(options)) is not None:
            yield row, file


def of_files(rows: Collection[TaskRow], cases: Callable[[TaskRow, Path, Find], Iterable[Case]], take: str) -> Source:
    def read(options: ReadOptions) -> Iterator[Task]:
        for row, file in present(options, rows):
            yield row.task(cases(row, file, options.find(row.images)))

    return Source(read=read, shapes=shapes_of(rows), take=take)


NOTHING: Mapping[str, Any] = Case(id="", requests=(), truths=()).tags  # one object for all cases


def case_of(
    record: Record,
    requests: Iterable[Request],
    truths: tuple[bool | str, ...],
    *,
    name: str | None = None,
    tags: Mapping[str, str] = NOTHING,
) -> Case:
    return Case(
        id=record.id if name is None else name,
        requests=requests if isinstance(requests, Matches) else tuple(requests),
        truths=truths,
        tags=tags,
        file=record.file.name,
        record=record.name,
    )


def texts_about(image: LazyImage, texts: Iterable[str]) -> Sequence[Match]:
    some = tuple(texts)
    if "\0" in "".join(some):
        return tuple(match_of(image, text) for text in some)
    return Matches(image, some)


def pair_of(record: Record, image: LazyImage, fields: tuple[str, str], tags: Mapping[str, str] = NOTHING) -> Case:
    return case_of(record, texts_about(image, map(record.text, fields)), (True, False), tags=tags)


def distinct(make: Callable[[Item], Case], items: Iterable[Item], field: str = "id") -> Iterator[Case]:
    """Yield the case of each item; an id that an earlier case has, called ``field`` in messages, cannot be read."""
    taken: set[str] = set()

    def case(item: Item) -> Case:
        made = make(item)
        if made.id in taken:
            raise item.record.error(f"{field} {made.id} is repeated")
        taken.add(made.id)
        return made

    yield from each(case, items)


# The requests of two images and a caption of each, in the order that the shape ``quad`` fixes.

QUAD_TRUTHS = (True, False, False, True)  # of these requests: each caption is true of its own image


def quad_requests(images: Sequence[LazyImage], captions: Sequence[str]) -> tuple[Match, ...]:
    """Return (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1)."""
    return tuple(Match(image=image, text=caption) for image in images for caption in captions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictured:
    record: Record
    images: tuple[LazyImage, ...]

    def quad(self, captions: tuple[str, str], name: str | None = None, tags: Mapping[str, str] = NOTHING) -> Case:
        requests = quad_requests(self.images, [self.record.text(field) for field in captions])
        return case_of(self.record, requests, QUAD_TRUTHS, name=name, tags=tags)
