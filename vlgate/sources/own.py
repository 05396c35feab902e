"""A user's own cases: JSON lines in ``cases.jsonl`` or ``cases/*.jsonl`` of a data folder, one case a line.

Each line is an object with ``table`` (``mine/spatial``), the fields of one kind of case, and where wanted ``id`` and
``tags``. Pictures are named by their paths in the data folder.

- pair: ``image``, ``caption``, ``foil``;
- 2x2: ``images`` [a, b], ``captions`` [of a, of b];
- set: ``image``, ``true`` [two sentences], ``false`` [two sentences];
- questions: ``image``, ``question``, ``answer``, ``perturbed``, ``perturbed_answer``, ``kind`` ("invariance" where the
  answer must stay, "directional" where it must change), and where wanted ``choices`` and ``perturbed_image``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from vlgate.answers import normal_answer
from vlgate.errors import DataError, nearest
from vlgate.pictures import file_picture, missing_picture
from vlgate.sources.images import is_plain
from vlgate.sources.json_file import collector_paused
from vlgate.sources.records import Record, lined_records
from vlgate.sources.registry import SOURCES
from vlgate.types import Ask, Capability, Case, Match, Picture, Reading, Request, Shape, Table

REMEDY = "correct it as in the README's recipe for your own cases"
"""What every error here advises: nobody but the user wrote these files."""

_TABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")
_ANYWHERE = ("table", "id", "tags")

_Find = Callable[[Record, str], Picture]
_Asked = tuple[tuple[Request, ...], tuple[bool | str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of case: what its table is, the fields of its lines, and how a line becomes requests and truths."""

    shape: Shape
    capability: Capability
    needed: tuple[str, ...]
    ask: Callable[[Record, _Find], _Asked]
    allowed: tuple[str, ...] = ()


def shapes(folders: Sequence[Path]) -> Mapping[str, Shape]:
    """Return the shape of each table in the users' files, by id.

    Raises: DataError, which names the file and line, for a line that is no JSON object, a table's id that is no
    ``name/name`` or begins as a benchmark's, the fields of no kind of case or of several, and a table of two kinds.
    """
    return {table: kind.shape for table, kind in _kinds(folders).items()}


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables, each with its cases from all files, in the order of the folders, files and lines.

    A case's id is its ``id``, else the file and the line. A pair is a foil, a 2x2 or a set compositional; questions
    say their capability themselves. ``tags`` is an object; each entry of it is a slice.

    Raises: DataError, which names the file and line, as ``shapes`` does, and for a field that is missing, unknown or
    of a wrong type, an id twice in a table, answers that do not fit their kind or choices, and a picture's name that
    leads out of the data folder.
    """
    kinds = {table: kind for table, kind in _kinds(reading.folders).items() if reading.wanted(table)}
    cases: dict[str, dict[str, Case]] = {table: {} for table in kinds}
    find = _Pictures(reading.folders).find
    with collector_paused():
        for file in _files(reading.folders) if kinds else ():
            for record in lined_records(file, REMEDY):
                if (table := str(record.fields["table"])) in kinds:
                    case = _case(record, kinds[table], find)
                    before = cases[table].setdefault(case.id, case)
                    if before is not case:
                        raise record.error(f"table {table!r} has a case {case.id!r} before ({before.origin})")
    for table, kind in kinds.items():
        yield Table(id=table, capability=kind.capability, shape=kind.shape, cases=tuple(cases[table].values()))


def _files(folders: Sequence[Path]) -> list[Path]:
    """The users' files; each once, also where a folder is given twice."""
    places = [place for folder in folders for place in (folder / "cases.jsonl", *sorted(folder.glob("cases/*.jsonl")))]
    return list({place.resolve(): place for place in places if place.exists()}.values())


def _kinds(folders: Sequence[Path]) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for file in _files(folders):
        status = file.stat()
        for table, (kind, line) in _tables(file, status.st_mtime_ns, status.st_size).items():
            if found.setdefault(table, kind) is not kind:
                raise DataError(file, line, _two_kinds(table), REMEDY)
    return found


@lru_cache(maxsize=64)  # a run asks some five times, and 100,000 lines take 0.5 s
def _tables(file: Path, _changed: int, _size: int) -> Mapping[str, tuple[Kind, str]]:
    """The kind of each table in a file, and the line that shows it."""
    found: dict[str, tuple[Kind, str]] = {}
    for record in lined_records(file, REMEDY):
        table, kind = _table(record), _kind(record)
        if found.setdefault(table, (kind, record.id))[0] is not kind:
            raise record.error(_two_kinds(table))
    return MappingProxyType(found)


def _two_kinds(table: str) -> str:
    return f"a case of another kind stands in table {table!r} before, and a table has one kind"


def _table(record: Record) -> str:
    table = record.text("table")
    if not _TABLE.fullmatch(table):
        record.reject("table", "a name of two or more parts, as 'mine/spatial',")
    taken = table.partition("/")[0]
    if taken in SOURCES and SOURCES[taken] != __name__:
        raise record.error(f"the table's name {table!r} begins with that of a benchmark, {taken!r}")
    return table


def _kind(record: Record) -> Kind:
    marks = [mark for mark in (*_KINDS, "question") if mark in record.fields]
    if len(marks) != 1:
        kinds = "; ".join(", ".join(kind.needed) for kind in (*_KINDS.values(), *_QUESTIONS.values()))
        raise record.error(f"expected the fields of one kind of case ({kinds}), not {', '.join(record.fields)}")
    if marks == ["question"]:
        if record.text("kind") not in _QUESTIONS:
            record.reject("kind", " or ".join(map(repr, _QUESTIONS)))
        return _QUESTIONS[record.text("kind")]
    return _KINDS[marks[0]]


def _case(record: Record, kind: Kind, find: _Find) -> Case:
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


def _pair(record: Record, find: _Find) -> _Asked:
    picture = find(record, record.text("image"))
    return tuple(Match(picture=picture, text=record.text(field)) for field in ("caption", "foil")), (True, False)


def _quad(record: Record, find: _Find) -> _Asked:
    pictures = [find(record, name) for name in _both(record, "images")]
    captions = _both(record, "captions")
    return tuple(Match(picture=p, text=text) for p in pictures for text in captions), (True, False, False, True)


def _set(record: Record, find: _Find) -> _Asked:
    picture = find(record, record.text("image"))
    sentences = (*_both(record, "true"), *_both(record, "false"))
    return tuple(Match(picture=picture, text=text) for text in sentences), (True, True, False, False)


def _questions(record: Record, find: _Find) -> _Asked:
    choices = record.fields.get("choices", [])
    if type(choices) is not list or any(type(choice) is not str or not choice.strip() for choice in choices):
        record.reject("choices", "a list of strings")
    answers = record.text("answer"), record.text("perturbed_answer")
    plain = [normal_answer(answer) for answer in answers]
    if choices and not set(plain) <= set(map(normal_answer, choices)):
        raise record.error(f"the answers {answers} are not all among the choices {choices}")
    if (plain[0] == plain[1]) != (record.fields["kind"] == "invariance"):
        raise record.error(f"kind is {record.fields['kind']!r}, which the answers {answers} are not")
    image = record.text("image")
    second = record.text("perturbed_image") if "perturbed_image" in record.fields else image
    asked = ((image, record.text("question")), (second, record.text("perturbed")))
    return tuple(Ask(picture=find(record, p), question=text, choices=tuple(choices)) for p, text in asked), answers


_KINDS: Mapping[str, Kind] = {
    "foil": Kind(shape="pair", capability="foil", needed=("image", "caption", "foil"), ask=_pair),
    "captions": Kind(shape="quad", capability="compositional", needed=("images", "captions"), ask=_quad),
    "true": Kind(shape="set", capability="compositional", needed=("image", "true", "false"), ask=_set),
}
"""By the field that none of the others has."""

_ASKED = ("image", "question", "answer", "perturbed", "perturbed_answer", "kind")
_OPTIONAL = ("choices", "perturbed_image")
_QUESTIONS: Mapping[str, Kind] = {
    "invariance": Kind(shape="questions", capability="invariance", needed=_ASKED, ask=_questions, allowed=_OPTIONAL),
    "directional": Kind(shape="questions", capability="directional", needed=_ASKED, ask=_questions, allowed=_OPTIONAL),
}


class _Pictures:
    """Finds pictures by their paths in the data folders; the same object for the same name."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._found: dict[str, Picture] = {}

    def find(self, record: Record, name: str) -> Picture:
        """The picture of that path in a data folder; the same object for the same name."""
        if name not in self._found:
            if not is_plain(name):
                raise record.error(f"the picture's name is {name!r} where a path in the data folder was expected")
            places = tuple(folder / name for folder in self._folders)
            path = next((place for place in places if place.exists()), None)
            self._found[name] = missing_picture(name, places) if path is None else file_picture(name, path)
        return self._found[name]
