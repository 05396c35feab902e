"""The records of the inputs, the fields that they are read from, and the texts that no kind can use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.perturb.foils import candidates
from vlgate.sources.reading.records import Record
from vlgate.sources.reading.text_files import read_json

# The records of the inputs. A scene graph is ``vlgate.perturb.scene_graph.SceneGraph``.


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """A caption of an image, and the image's other captions in the same files.

    ``origin`` is the file and record, such as ``captions_val2017.json, annotation 38``.
    """

    id: str
    image: str
    text: str
    origin: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question about an image and its right answer; ``wrong`` are wrong answers that the file offers beside it."""

    id: str
    image: str
    question: str
    answer: str
    origin: str
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog(candidates.Dialog):
    """A dialog about an image."""

    id: str
    image: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A verb and who or what fills its roles in an image, as in SWiG: ``{"agent": "man", "place": "gym"}``.

    ``template`` is imSitu's sentence of the verb ("the AGENT exercises ... at PLACE"), and ``similar`` the name of its
    frame in FrameNet, which verbs that say nearly the same share; both are empty if the files lack them.
    ``boxes`` are [x, y, w, h] by role, for the roles that can be seen. ``size`` is the image's width and height.
    """

    id: str
    image: str
    verb: str
    roles: Mapping[str, str]
    origin: str
    template: str = ""
    similar: str = ""
    boxes: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)
    size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """What a person does to a thing, in HICO's words: "sit_on", "dining_table".

    ``person`` and ``place`` are the left, upper, right and lower edge of the boxes of the person and of the thing.
    """

    verb: str
    thing: str
    person: tuple[float, float, float, float]
    place: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactions:
    """What persons do to things in an image, as in HAKE. ``size`` is the image's width and height.

    Without ``boxed``, the boxes say nothing: the file only lists what is done in the image.
    """

    id: str
    image: str
    done: tuple[Interaction, ...]
    origin: str
    size: tuple[int, int] | None = None
    boxed: bool = True


# What the readers of the inputs share: records of files and of lists, and texts that may be anything.


def whole(file: Path, remedy: str) -> Record:
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "is not an object", remedy)
    return Record(file, "(the whole file)", content, remedy)


def listed(record: Record, field: str, name: str) -> Iterator[Record]:
    """Yield the objects of a list, each named ``name`` and its position from 0."""
    values = record.fields.get(field)
    if type(values) is not list:
        record.reject(field, "a list")
    for position, fields in enumerate(values):
        place = f"{name} {position}"
        if type(fields) is not dict:
            raise DataError(record.file, place, "is not an object", record.remedy)
        yield Record(record.file, place, fields, record.remedy)


def any_text(record: Record, field: str) -> str:
    """Return the string in ``field``, which may be blank: what people wrote is judged later, and counted."""
    value = record.fields.get(field)
    if type(value) is not str:
        record.reject(field, "a string")
    return value


def identity(record: Record, field: str) -> str:
    value: Any = record.fields.get(field)
    return str(value) if type(value) is int else record.text(field)


def lined_identity(record: Record) -> str:
    """Return the id of a record of JSON lines, or its file and line."""
    return identity(record, "id") if "id" in record.fields else f"{record.file.stem} {record.id}"


def origin(record: Record) -> str:
    return f"{record.file.name}, {record.id}"


# Texts that no kind can use, left out before anything is parsed, and counted by reason.

LONGEST = 2_000
"""The most characters of a text; longer ones are not captions, and are not parsed."""

_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]{2,8});")


def unusable(text: str) -> str | None:
    """Say why a text cannot be used; None if it can.

    >>> unusable("  "), unusable("<b>A dog</b>"), unusable("A dog.")
    ('the text is empty', 'the text holds markup', None)
    """
    if not text.strip():
        return "the text is empty"
    if len(text) > LONGEST:
        return f"the text has more than {LONGEST:,} characters"
    if _MARKUP.search(text):
        return "the text holds markup"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "the text holds half of a surrogate pair"
    if not any("a" <= character <= "z" for character in text.lower()):
        return "the text has no Latin letter"
    return None


def screened(inputs: Sequence[Any], left_out: Counter[str]) -> list[Any]:
    """Return the inputs whose texts can be used; the others are counted in ``left_out``.

    An answer may be a number in digits; the question must be a text.
    """
    kept = []
    for one in inputs:
        reason = next((reason for text in _texts(one) if (reason := unusable(text)) is not None), None)
        if reason is None:
            kept.append(one)
        else:
            left_out[reason] += 1
    return kept


def _texts(one: object) -> Iterator[str]:
    if isinstance(one, Caption):
        yield one.text
    elif isinstance(one, Answer):
        yield one.question
    elif isinstance(one, Dialog):
        yield one.caption
