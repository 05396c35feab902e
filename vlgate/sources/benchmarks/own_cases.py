"""A user's own cases: JSON lines in ``cases.jsonl`` or ``cases/*.jsonl`` of a data folder, one case per line.

Each line is an object with ``task`` (such as ``mine/spatial``), the fields of one kind of case, and optionally ``id``
and ``tags``. Images are named by their paths in the data folder.

- pair: ``image``, ``caption``, ``foil``;
- 2x2: ``images`` [a, b], ``captions`` [of a, of b];
- set: ``image``, ``true`` [two sentences], ``false`` [two sentences];
- questions: ``image``, ``question``, ``answer``, ``perturbed``, ``perturbed_answer``, ``kind`` ("invariance" if the
  answer must stay the same, "directional" if it must change), and optionally ``choices`` and ``perturbed_image``.
  Without ``choices``, a question whose two answers are yes or no has the choices yes and no;
- twins: ``image``, which is not as usual, ``twin``, the same image as usual, ``question``, ``answer`` [of the image],
  ``prior`` [the answer of the twin], and optionally ``choices``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError, nearest
from vlgate.images.files import file_image, missing_image
from vlgate.sources.benchmarks.own_questions import Asked, Find, question_pair, twins
from vlgate.sources.reading.image_finder import is_plain
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.records import Places, Record, lined_records, passed_over
from vlgate.sources.registry import SOURCES
from vlgate.types import Capability, Case, LazyImage, Match, Shape, Task

REMEDY = (
    'write a line such as {"task": "mine/spatial", "image": "1.jpg", "caption": "a dog left of a cat", '
    '"foil": "a cat left of a dog"}'
)
"""The remedy of an error in a line whose kind of case is not known."""

_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")
_ANYWHERE = ("task", "id", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKind:
    """A kind of case: the shape and capability of its task, the fields of a line, and what turns a line into requests.

    ``needed`` are the fields that a line must have, ``allowed`` those that it may have. ``ask`` returns the requests
    and the truths of a line.
    """

    shape: Shape
    capability: Capability
    needed: tuple[str, ...]
    ask: Callable[[Record, Find], Asked]
    allowed: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """The remedy of an error in a line of this kind: the fields that it must and may have."""
        may = ", ".join((*_ANYWHERE[1:], *self.allowed))
        return f"write a line with the fields task, {', '.join(self.needed)}, and perhaps {may}"


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
    unknown or of a wrong type, an id is repeated in a task, the answers do not fit their kind or choices, or an
    image's name leads out of the data folder.
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
        task, kind = _task(record), _kind(record)
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


def _kind(record: Record) -> CaseKind:
    marks = [mark for mark in (*_KINDS, "question") if mark in record.fields]
    marks = ["prior"] if marks == ["prior", "question"] else marks
    if len(marks) != 1:
        raise record.error(_no_kind(record))
    if marks == ["question"]:
        if record.text("kind") not in _QUESTIONS:
            record.reject("kind", " or ".join(map(repr, _QUESTIONS)))
        return _QUESTIONS[record.text("kind")]
    return _KINDS[marks[0]]


def _no_kind(record: Record) -> str:
    """Say which fields each kind of case has; before that, which field is probably misspelled."""
    every = (*_KINDS.values(), *_QUESTIONS.values())
    known = dict.fromkeys((*_ANYWHERE, *(field for kind in every for field in (*kind.needed, *kind.allowed))))
    misspelled = (field for field in record.fields if field not in known and get_close_matches(field, known))
    hint = next((f"field {field!r} is unknown ({nearest(field, known)}); " for field in misspelled), "")
    kinds = "; ".join(dict.fromkeys(", ".join(kind.needed) for kind in every))
    return f"{hint}expected the fields of one kind of case ({kinds}), not {', '.join(record.fields)}"


def _case(record: Record, kind: CaseKind, find: Find) -> Case:
    record = replace(record, remedy=kind.remedy)
    known = (*_ANYWHERE, *kind.needed, *kind.allowed)
    for field in record.fields:
        if field not in known:
            raise record.error(f"field {field!r} is unknown ({nearest(field, known)})")
    requests, truths = kind.ask(record, find)
    return Case(
        id=_id(record),
        requests=requests,
        truths=truths,
        tags=_tags(record),
        origin=f"{record.file.name}, record {record.id}",
    )


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


def _both(record: Record, field: str) -> tuple[str, str]:
    values = record.fields.get(field)
    if type(values) is not list or len(values) != 2:
        record.reject(field, "a list of two strings")
    part = replace(record, id=f"{record.id}, field {field!r}", fields={"0": values[0], "1": values[1]})
    return part.text("0"), part.text("1")


def _pair(record: Record, find: Find) -> Asked:
    image = find(record, record.text("image"))
    return tuple(Match(image=image, text=record.text(field)) for field in ("caption", "foil")), (True, False)


def _quad(record: Record, find: Find) -> Asked:
    images = [find(record, name) for name in _both(record, "images")]
    captions = _both(record, "captions")
    return tuple(Match(image=p, text=text) for p in images for text in captions), (True, False, False, True)


def _set(record: Record, find: Find) -> Asked:
    image = find(record, record.text("image"))
    sentences = (*_both(record, "true"), *_both(record, "false"))
    return tuple(Match(image=image, text=text) for text in sentences), (True, True, False, False)


_KINDS: Mapping[str, CaseKind] = {
    "foil": CaseKind(shape="pair", capability="foil", needed=("image", "caption", "foil"), ask=_pair),
    "captions": CaseKind(shape="quad", capability="compositional", needed=("images", "captions"), ask=_quad),
    "true": CaseKind(shape="set", capability="compositional", needed=("image", "true", "false"), ask=_set),
    "prior": CaseKind(
        shape="twin_questions",
        capability="directional",
        needed=("image", "twin", "question", "answer", "prior"),
        ask=twins,
        allowed=("choices",),
    ),
}
"""The kinds of case, each by the field that no other kind has."""

_ASKED = ("image", "question", "answer", "perturbed", "perturbed_answer", "kind")
_OPTIONAL = ("choices", "perturbed_image")
_QUESTIONS: Mapping[str, CaseKind] = {
    "invariance": CaseKind(
        shape="questions", capability="invariance", needed=_ASKED, ask=question_pair, allowed=_OPTIONAL
    ),
    "directional": CaseKind(
        shape="questions", capability="directional", needed=_ASKED, ask=question_pair, allowed=_OPTIONAL
    ),
}


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
