"""A user's own cases: JSON lines in ``cases.jsonl`` or ``cases/*.jsonl`` of a data folder, one case per line.

Each line is an object with ``task`` (such as ``mine/spatial``), the fields of one kind of case, and optionally ``id``
and ``tags``. Images are named by their paths in the data folder.

- pair: ``image``, ``caption``, ``foil``;
- choice: ``image``, ``caption``, ``foils`` [one or more];
- choice between images: ``image``, ``other_images`` [one or more], ``caption``;
- statement: ``image``, ``statement``, ``is_true``;
- 2x2: ``images`` [a, b], ``captions`` [of a, of b];
- set: ``image``, ``true`` [two sentences], ``false`` [two sentences]; with one sentence as ``false``, two true and one
  false;
- single question: ``image``, ``question``, ``answer`` (yes or no);
- crossed questions: ``images`` [a, b], ``questions`` [two], ``answers`` [[two about a], [two about b]], and optionally
  ``choices``;
- questions: ``image``, ``question``, ``answer``, ``perturbed``, ``perturbed_answer``, ``kind`` ("invariance" if the
  answer must stay the same, "directional" if it must change), and optionally ``choices`` and ``perturbed_image``.
  Without ``choices``, a question whose two answers are yes or no has the choices yes and no;
- twins: ``image``, which is not as usual, ``twin``, the same image as usual, ``question``, ``answer`` [of the image],
  ``prior`` [the answer of the twin], and optionally ``choices``.

A line with texts or a single question about one image may have a ``box``: [left, top, width, height], in pixels. It may
also have ``named``, a list of the boxes of all that the texts name, which a search for smallest changes never covers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError, nearest
from vlgate.images.files import file_image, image_size, missing_image
from vlgate.images.region import region_of
from vlgate.sources.benchmarks.own_kinds import CaseKind, kind_of
from vlgate.sources.benchmarks.own_questions import Find
from vlgate.sources.reading.image_finder import is_plain
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.records import Places, Record, lined_records, passed_over
from vlgate.sources.registry import SOURCES
from vlgate.types import Case, LazyImage, Request, Shape, Task, images_of

REMEDY = (
    'write a line such as {"task": "mine/spatial", "image": "1.jpg", "caption": "a dog left of a cat", '
    '"foil": "a cat left of a dog"}'
)
"""The remedy of an error in a line whose kind of case is not known."""

_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")


def shapes(folders: Sequence[Path]) -> Mapping[str, Shape]:
    """Return the shape of each task in the user's files, by id.

    Raises: DataError, which names the file and line, if a line is not a JSON object, a task's id is not of the form
    ``name/name`` or begins with a benchmark's name, a line has the fields of no kind of case or of several kinds, or
    a task has cases of two kinds.
    """
    return {task: kind.shape for task, kind in _kinds(folders).items()}


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks, each with its cases from all files, in the order of the folders, files and lines.

    The id of a case is its field ``id``; without that field, it is the file's name and the line's number. The
    capability of a pair is foil, that of a 2x2 or a set is compositional, and that of questions is their ``kind``.
    Each entry of the object ``tags`` is a slice.

    Raises: DataError, which names the file and line, in the cases that ``shapes`` lists, and if a field is missing,
    unknown or of a wrong type, an id is repeated in a task, the answers do not fit their kind or choices, what is
    true is also false, a box is outside its image, or an image's name leads out of the data folder.
    """
    kinds = {task: kind for task, kind in _kinds(options.folders).items() if options.wanted(task)}
    cases: dict[str, dict[str, Case]] = {task: {} for task in kinds}
    find = _OwnImages(options.folders).find
    with collector_paused():
        for file in _files(options.folders) if kinds else ():
            for record in lined_records(file, REMEDY):
                if (task := str(record.fields["task"])) in kinds:
                    case = _case(record, kinds[task], find)
                    before = cases[task].setdefault(case.id, case)
                    if before is not case:
                        raise record.error(f"id {case.id!r} is already used in task {task!r} ({before.origin})")
    for task, kind in kinds.items():
        yield Task(id=task, capability=kind.capability, shape=kind.shape, cases=tuple(cases[task].values()))


def _files(folders: Sequence[Path]) -> list[Path]:
    """Return the user's files, each once, even if a folder is given twice."""
    places = [place for folder in folders for place in (folder / "cases.jsonl", *sorted(folder.glob("cases/*.jsonl")))]
    return list({place.resolve(): place for place in places if place.exists()}.values())


def _kinds(folders: Sequence[Path]) -> dict[str, CaseKind]:
    found: dict[str, CaseKind] = {}
    for file in _files(folders):
        status = file.stat()
        for task, (kind, line) in _tasks(file, status.st_mtime_ns, status.st_size, passed_over()).items():
            if found.setdefault(task, kind) is not kind:
                raise DataError(file, line, _two_kinds(task), REMEDY)
    return found


@lru_cache(maxsize=64)  # a run calls this about five times, and 100,000 lines take 0.5 s
def _tasks(file: Path, _changed: int, _size: int, _passed: Places) -> Mapping[str, tuple[CaseKind, str]]:
    """Return the kind of each task in a file, and the first line of that task."""
    found: dict[str, tuple[CaseKind, str]] = {}
    for record in lined_records(file, REMEDY):
        task, kind = _task(record), kind_of(record)
        if found.setdefault(task, (kind, record.id))[0] is not kind:
            raise record.error(_two_kinds(task))
    return MappingProxyType(found)


def _two_kinds(task: str) -> str:
    return f"task {task!r} has an earlier case of another kind, but all cases of a task must be of one kind"


def _task(record: Record) -> str:
    task = record.text("task")
    if not _TASK.fullmatch(task):
        record.reject("task", "a name of two or more parts such as 'mine/spatial'")
    taken = task.partition("/")[0]
    if taken in SOURCES and SOURCES[taken] != __name__:
        raise record.error(f"task {task!r} begins with {taken!r}, which is the name of a benchmark")
    return task


def _case(record: Record, kind: CaseKind, find: Find) -> Case:
    record = replace(record, remedy=kind.remedy)
    for field in record.fields:
        if field not in kind.fields:
            raise record.error(f"field {field!r} is unknown ({nearest(field, kind.fields)})")
    requests, truths = kind.ask(record, _boxed(record, find) if "box" in record.fields else find)
    return Case(
        id=_id(record),
        requests=requests,
        truths=truths,
        tags=_tags(record),
        origin=f"{record.file.name}, record {record.id}",
        named=_named(record, requests) if "named" in record.fields else {},
    )


def _named(record: Record, requests: Sequence[Request]) -> dict[str, tuple[tuple[int, ...], ...]]:
    """The boxes of what the texts of a line name, on its one image."""
    if "box" in record.fields:
        raise record.error("has both 'box' and 'named', but named boxes are those of a whole image")
    boxes = record.fields["named"]
    if type(boxes) is not list or not boxes or not all(_is_box(box) for box in boxes):
        record.reject("named", "a list of one or more boxes, each [left, top, width, height] in pixels")
    keys = {image.key for request in requests for image in images_of(request)}
    return {key: tuple(tuple(box) for box in boxes) for key in keys}


def _is_box(box: object) -> bool:
    """Whether a value is a box of at least 1 x 1 pixels."""
    sides = box if type(box) is list and len(box) == 4 else [-1]
    return all(type(side) is int and side >= 0 for side in sides) and all(sides[2:])


def _boxed(record: Record, find: Find) -> Find:
    """Find the region of an image that a line names."""
    box = record.fields["box"]
    if type(box) is not list or len(box) != 4 or any(type(side) is not int or side < 0 for side in box):
        record.reject("box", "a list of four whole numbers, [left, top, width, height] in pixels")
    left, top, width, height = box
    if not width or not height:
        raise record.error(f"box {box} is {width} x {height} pixels, expected at least 1 x 1")

    def region(record: Record, name: str) -> LazyImage:
        """Return the region of an image."""
        image = find(record, name)
        size = _size(image.where) if image.where else None
        if size is not None and (left >= size[0] or top >= size[1]):
            raise record.error(f"box {box} is outside the image, which has {size[0]} x {size[1]} pixels")
        return region_of(image, (left, top, width, height))

    return region


@lru_cache(maxsize=4096)  # the lines about an image follow each other
def _size(path: str) -> tuple[int, int] | None:
    return image_size(path)


def _id(record: Record) -> str:
    given = record.fields.get("id", f"{record.file.stem} {record.id}")
    if type(given) is int:
        return str(given)
    if type(given) is not str or not given.strip() or not given.isprintable():
        record.reject("id", "an integer or a string of printable characters")
    return given


def _tags(record: Record) -> dict[str, str]:
    tags = record.fields.get("tags", {})
    values = tags.values() if type(tags) is dict else [None]
    if any(type(value) not in {str, int, float, bool} for value in values) or not "".join(tags).isprintable():
        record.reject("tags", "an object of strings, numbers or booleans")
    texts = record.nested("tags") if tags else record
    return {name: texts.text(name) if type(value) is str else json.dumps(value) for name, value in tags.items()}


class _OwnImages:
    """Finds images by their paths in the data folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._found: dict[str, LazyImage] = {}

    def find(self, record: Record, name: str) -> LazyImage:
        """Return the image with that path in a data folder; the same object for the same name."""
        if name not in self._found:
            if not is_plain(name):
                raise record.error(f"the image's name is {name!r}, expected a relative path in the data folder")
            places = tuple(folder / name for folder in self._folders)
            path = next((place for place in places if os.path.exists(place)), None)  # noqa: PTH110  # a name that is too long is in no folder
            self._found[name] = missing_image(name, places) if path is None else file_image(name, path)
        return self._found[name]
