"""Role frames of SWiG with imSitu's list of roles, and human-object interactions of HAKE."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.making.inputs.records import (
    Frame,
    Interaction,
    Interactions,
    any_text,
    checked_image,
    image_name,
    lined_identity,
    listed,
    origin,
    rows,
    whole,
)
from vlgate.sources.graphs.checks import Mode
from vlgate.sources.reading.records import Record
from vlgate.sources.reading.text_files import read_text

# Role frames: SWiG's ``train.json`` with imSitu's ``imsitu_space.json``, or rows of ``{"image", "verb", "roles"}``.
# SWiG (Pratt et al. 2020, https://github.com/allenai/swig) gives each image a verb, boxes [x1, y1, x2, y2] by role (-1
# if a role has none), and three annotators' frames, whose nouns are ids of WordNet ("n10287213") or empty. The space
# has each noun's ``gloss``, a list of words, and each verb's ``abstract``, a sentence with its roles.

_SWIG = "name a file of SWiG, {image: {verb, frames, bb}}"
_SPACE = "name imSitu's imsitu_space.json, with nouns and verbs"
_LINES = 'write a line such as {"image": "1.jpg", "verb": "jumping", "roles": {"agent": "man", "place": "gym"}}'

_Verbs = Mapping[str, tuple[str, str]]
_UNKNOWN = "", ""
_Box = tuple[float, float, float, float]


def frames_reader(spaces: Sequence[Path], is_lines: Callable[[Path], bool]) -> Callable[[Path], Iterator[Frame]]:
    nouns, verbs = _space(spaces)

    def read(file: Path) -> Iterator[Frame]:
        if is_lines(file):
            return _lined(file, verbs)
        if not nouns:
            raise DataError(file, None, "names its nouns by ids of WordNet", "add imsitu_space.json to --from")
        return _swig(file, nouns, verbs)

    return read


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
        template, similar = verbs.get(verb, _UNKNOWN)
        boxes = record.nested("bb").fields if "bb" in record.fields else {}
        yield Frame(
            id=image,
            image=checked_image(record, image),
            verb=verb,
            roles=_roles(record, nouns),
            origin=f"{file.name}, {image}",
            template=template,
            similar=similar,
            boxes={role: found for role, box in boxes.items() if (found := _box(record, role, box)) is not None},
            size=(record.count("width"), record.count("height")) if "width" in record.fields else None,
        )


def _roles(record: Record, nouns: Mapping[str, str]) -> dict[str, str]:
    """A role has the noun that most annotators gave it, the first one's if they disagree; one without is left out."""
    frames = record.fields.get("frames")
    if type(frames) is not list or not frames or any(type(frame) is not dict for frame in frames):
        record.reject("frames", "a list of objects {role: noun}")
    roles = {}
    for role in dict.fromkeys(role for frame in frames for role in frame):
        given = [frame[role] for frame in frames if frame.get(role)]
        if given:
            noun = Counter(map(str, given)).most_common(1)[0][0]
            if noun not in nouns:
                raise record.error(f"role {role!r} has the noun {noun!r}, which the space lacks", _SPACE)
            roles[role] = nouns[noun]
    return roles


def _box(record: Record, role: str, box: Any) -> _Box | None:
    if type(box) is not list or len(box) != 4 or any(type(value) not in {int, float} for value in box):
        raise record.error(f"the box of {role!r} is {box!r}, expected four numbers")
    left, top, right, bottom = box
    return (left, top, right - left, bottom - top) if right > left >= 0 and bottom > top >= 0 else None


def _lined(file: Path, verbs: _Verbs) -> Iterator[Frame]:
    for record in rows(file, _LINES):
        roles, verb = record.nested("roles"), record.text("verb")
        template, similar = verbs.get(verb, _UNKNOWN)
        yield Frame(
            id=lined_identity(record),
            image=image_name(record),
            verb=verb,
            roles={role: roles.text(role) for role in roles.fields},
            origin=origin(record),
            template=any_text(record, "template") if "template" in record.fields else template,
            similar=similar,
        )


# Human-object interactions: HAKE's files, of instances or of whole images, with its list of interactions.
# HAKE (Li et al. 2020, https://github.com/DirtyHarryLYL/HAKE) names each interaction by its number in HICO's list,
# ``hico_hoi_list.txt``, whose lines are a number from 1, an object and a verb. The files of instances
# (``hico-det-*-instance-level.json``, ``hake_large_annotation.json``) give each one the boxes [x1, y1, x2, y2] of the
# person and of the object; those of images (``hico-*-image-level.json``) only list the numbers.

LINE = re.compile(r"[ \t]*(\d{1,9})[ \t]+([^\s\d]\S*)[ \t]+([^\s\d]\S*)[ \t]*")
"""A line of HICO's list: ``001  airplane        board``."""


_HAKE = "name a file of HAKE, {image: {labels, path_prefix}} or {image: {hoi_id}}"
_LIST = "name HAKE's Config/hico_hoi_list.txt, with a number, an object and a verb on each line"
_NO_AREA = "an interaction with a box without an area"
_NONE = "no_interaction"
_LARGEST = 1_000_000  # pixels of a side

_Names = Mapping[int, tuple[str, str]]
_WHOLE = 0.0, 0.0, 1.0, 1.0


def interactions_reader(
    lists: Sequence[Path], faults: Mode, left_out: Counter[str], lost: Counter[Path]
) -> Callable[[Path], Iterator[Interactions]]:
    names = {number: name for file in lists for number, name in _listed(file)}

    def read(file: Path) -> Iterator[Interactions]:
        if not names:
            remedy = "add HAKE's Config/hico_hoi_list.txt to --from"
            raise DataError(file, None, "names interactions by numbers", remedy)
        content = whole(file, _HAKE)
        for name in content.fields:
            image = _image(Record(file, name, content.nested(name).fields, _HAKE), names, faults, left_out)
            if image.done:
                yield image
            else:
                left_out["an image without interactions"] += 1
                lost[file] += 1

    return read


def _listed(file: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """The number, object and verb of each line; titles and rules above the first number are skipped."""
    seen: set[int] = set()
    for index, line in enumerate(read_text(file, _LIST).splitlines(), 1):
        match = LINE.fullmatch(line)
        if not line.strip() or (match is None and not seen):
            continue
        if match is None or int(match[1]) in seen:
            what = "is not a number, an object and a verb" if match is None else f"repeats the number {int(match[1])}"
            raise DataError(file, f"on line {index}", what, _LIST)
        seen.add(int(match[1]))
        yield int(match[1]), (match[3], match[2])


def _image(record: Record, names: _Names, faults: Mode, left_out: Counter[str]) -> Interactions:
    image, done, sizes = record.id, list[Interaction](), set[tuple[int, int]]()
    boxed = "labels" in record.fields
    if boxed:
        prefix = record.text("path_prefix").strip("/") if "path_prefix" in record.fields else ""
        image = f"{prefix}/{record.id}" if prefix else record.id
        for label in listed(record, "labels", f"{record.id}, label"):
            # HAKE's larger files have no box of the object for what a person does alone.
            if label.fields.get("object_bbox") in (None, []):
                left_out["an interaction without a box of its object"] += 1
                continue
            named = _named(label, label.count("hoi_id"), names)
            boxes = _corners(label, "human_bbox"), _corners(label, "object_bbox")
            sizes.add((_side(label, "width"), _side(label, "height")))
            if all(right > left and bottom > top for left, top, right, bottom in boxes):
                done.append(Interaction(verb=named[0], thing=named[1], person=boxes[0], place=boxes[1]))
            elif faults == "fail":
                remedy = "correct it, or leave such parts out with --faults leave-out"
                raise label.error(f"has {_NO_AREA}: {boxes}", remedy)
            else:
                left_out[_NO_AREA] += 1
        if len(sizes) > 1:
            raise record.error(f"has labels with {len(sizes)} sizes of the image: {sorted(sizes)}")
    else:
        numbers = record.fields.get("hoi_id")
        if type(numbers) is not list or any(type(number) is not int for number in numbers):
            record.reject("hoi_id", "a list of numbers")
        named_all = [_named(record, number, names) for number in numbers]
        done = [Interaction(verb=verb, thing=thing, person=_WHOLE, place=_WHOLE) for verb, thing in named_all]
    done = [one for one in done if one.verb != _NONE]
    size = next(iter(sizes), None)
    image = checked_image(record, image)
    return Interactions(id=record.id, image=image, done=tuple(done), origin=origin(record), size=size, boxed=boxed)


def _named(record: Record, number: int, names: _Names) -> tuple[str, str]:
    if number not in names:
        raise record.error(f"hoi_id {number} is not in the list of {len(names)} interactions", _LIST)
    return names[number]


def _side(record: Record, field: str) -> int:
    if not 0 < record.count(field) <= _LARGEST:
        record.reject(field, f"a number from 1 to {_LARGEST:,}")
    return record.count(field)


def _corners(record: Record, field: str) -> tuple[float, float, float, float]:
    box = record.fields.get(field)
    if type(box) is not list or len(box) != 4 or any(type(one) not in {int, float} for one in box):
        record.reject(field, "four numbers")
    if max(map(abs, box)) > _LARGEST:
        record.reject(field, f"four numbers up to {_LARGEST:,}")
    left, top, right, bottom = (float(max(one, 0)) for one in box)
    return left, top, right, bottom
