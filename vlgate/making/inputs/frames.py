"""Role frames: SWiG's ``train.json`` with imSitu's ``imsitu_space.json``, or lines of ``{"image", "verb", "roles"}``.

SWiG (Pratt et al. 2020, https://github.com/allenai/swig) gives each image a verb, boxes [x1, y1, x2, y2] by role (-1
if a role has none), and three annotators' frames, whose nouns are ids of WordNet ("n10287213") or empty. The
space has each noun's ``gloss``, a list of words, and each verb's ``abstract``, a sentence with its roles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.making.inputs.fields import any_text, identity, origin, whole
from vlgate.making.inputs.records import Frame
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.records import Record, lined_records

_SWIG = "name a file of SWiG, {image: {verb, frames, bb}}"
_SPACE = "name imSitu's imsitu_space.json, with nouns and verbs"
_LINES = 'write a line such as {"image": "1.jpg", "verb": "jumping", "roles": {"agent": "man", "place": "gym"}}'

_Verbs = Mapping[str, tuple[str, str]]
_UNKNOWN = "", ""
_Box = tuple[float, float, float, float]


def read_frames(files: Sequence[Path], lines: Sequence[bool], spaces: Sequence[Path]) -> list[Frame]:
    """Read the frames of files; ``lines`` says which files are JSON lines, ``spaces`` are imSitu's.

    A role has the noun that most annotators gave it, the first one's if they disagree; a role without a noun is left
    out.

    Returns: the frames in the order of the files.
    Raises: DataError, which names the file, the record and the remedy; of a file of SWiG also if there is no space.
    """
    with collector_paused():
        nouns, verbs = _space(spaces)
        found: list[Frame] = []
        for file, each in zip(files, lines, strict=True):
            if not each and not nouns:
                raise DataError(file, None, "names its nouns by ids of WordNet", "add imsitu_space.json to --from")
            found += _lined(file, verbs) if each else _swig(file, nouns, verbs)
    return found


def _space(files: Sequence[Path]) -> tuple[dict[str, str], _Verbs]:
    nouns: dict[str, str] = {}
    verbs: dict[str, tuple[str, str]] = {}
    for file in files:
        content = whole(file, _SPACE)
        part = content.nested("nouns")
        for name in part.fields:
            gloss = part.nested(name).fields.get("gloss")
            if type(gloss) is not list or not gloss or type(gloss[0]) is not str:
                part.nested(name).reject("gloss", "a list of words")
            nouns[name] = gloss[0]
        part = content.nested("verbs")
        for name in part.fields:
            verb = part.nested(name)
            verbs[name] = any_text(verb, "abstract"), str(verb.fields.get("framenet") or "")
    return nouns, verbs


def _swig(file: Path, nouns: Mapping[str, str], verbs: _Verbs) -> Iterator[Frame]:
    content = whole(file, _SWIG)
    for image in content.fields:
        record = Record(file, image, content.nested(image).fields, _SWIG)
        verb = record.text("verb")
        yield Frame(
            id=image,
            image=image,
            verb=verb,
            roles=_roles(record, nouns),
            origin=f"{file.name}, {image}",
            template=verbs.get(verb, _UNKNOWN)[0],
            similar=verbs.get(verb, _UNKNOWN)[1],
            boxes=_boxes(record),
            size=(record.count("width"), record.count("height")) if "width" in record.fields else None,
        )


def _roles(record: Record, nouns: Mapping[str, str]) -> dict[str, str]:
    frames = record.fields.get("frames")
    if type(frames) is not list or not frames or any(type(frame) is not dict for frame in frames):
        record.reject("frames", "a list of objects {role: noun}")
    found = {}
    for role in dict.fromkeys(role for frame in frames for role in frame):
        given = [frame[role] for frame in frames if frame.get(role)]
        if given:
            noun = Counter(map(str, given)).most_common(1)[0][0]
            if noun not in nouns:
                raise record.error(f"role {role!r} has the noun {noun!r}, which the space lacks", _SPACE)
            found[role] = nouns[noun]
    return found


def _boxes(record: Record) -> dict[str, _Box]:
    boxes = record.nested("bb").fields if "bb" in record.fields else {}
    return {role: found for role, box in boxes.items() if (found := _box(record, role, box)) is not None}


def _box(record: Record, role: str, box: Any) -> _Box | None:
    if type(box) is not list or len(box) != 4 or any(type(value) not in {int, float} for value in box):
        raise record.error(f"the box of {role!r} is {box!r}, expected four numbers")
    left, top, right, bottom = box
    return (left, top, right - left, bottom - top) if right > left >= 0 and bottom > top >= 0 else None


def _lined(file: Path, verbs: _Verbs) -> Iterator[Frame]:
    for record in lined_records(file, _LINES):
        roles, verb = record.nested("roles"), record.text("verb")
        yield Frame(
            id=identity(record, "id") if "id" in record.fields else f"{file.stem} {record.id}",
            image=record.text("image"),
            verb=verb,
            roles={role: roles.text(role) for role in roles.fields},
            origin=origin(record),
            template=any_text(record, "template") if "template" in record.fields else verbs.get(verb, _UNKNOWN)[0],
            similar=verbs.get(verb, _UNKNOWN)[1],
        )
