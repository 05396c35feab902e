"""What'sUp: the place of one thing relative to another, in photographs that differ in nothing else, COCO's and GQA's.

Kamath, Hessel, Chang 2023, "What's "up" with vision-language models? Investigating their struggle with spatial
reasoning". The files are read as the authors release them (https://github.com/amitakamath/whatsup_vlms).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder, is_plain, stem
from vlgate.sources.reading.records import Record, each, listed_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json, shown
from vlgate.types import Case, Match, Shape, Task

_CONTROLLED: Mapping[str, str] = MappingProxyType(
    {"whatsup/a": "controlled_images_dataset.json", "whatsup/b": "controlled_clevr_dataset.json"}
)
_PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "whatsup/coco-one": ("whatsup-coco", "coco_qa_one_obj.json"),
        "whatsup/coco-two": ("whatsup-coco", "coco_qa_two_obj.json"),
        "whatsup/gqa-one": ("whatsup-vg", "vg_qa_one_obj.json"),
        "whatsup/gqa-two": ("whatsup-vg", "vg_qa_two_obj.json"),
    },
)
SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "whatsup/a": "choice",
        "whatsup/b": "choice",
        "whatsup/coco-one": "pair",
        "whatsup/coco-two": "pair",
        "whatsup/gqa-one": "pair",
        "whatsup/gqa-two": "pair",
    },
)
_OPPOSITES: Mapping[str, str] = MappingProxyType(
    {
        "left": "left or right",
        "right": "left or right",
        "on": "on or under",
        "under": "on or under",
        "front": "in front or behind",
        "behind": "in front or behind",
    },
)
_OPTIONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    """What the name of a controlled photograph says: ``<object>_<preposition>_<object>``."""

    objects: tuple[str, str]
    preposition: str


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, in ``whatsup/data`` or ``whatsup``.

    A case of ``whatsup/a`` and ``whatsup/b`` is one photograph with four captions, the true one first; its id is the
    photograph's name without extension. ``pair_all`` counts pairs of photographs of the same two things at opposite
    places (left and right, on and under, in front and behind) of which both are right, and ``set_all`` sets of all
    four (section 4). A case of the other tasks is a true and a false caption; its id is the position, from 0.
    """
    for task, name in _CONTROLLED.items():
        if (file := _file(options, task, name)) is not None:
            cases = tuple(_controlled(file, options.images))
            yield Task(id=task, capability="compositional", shape="choice", cases=cases)
    for task, (source, name) in _PAIRS.items():
        if (file := _file(options, task, name)) is not None:
            cases = tuple(_pairs(file, options.images, source))
            yield Task(id=task, capability="foil", shape="pair", cases=cases)


def _file(options: ReadOptions, task: str, name: str) -> Path | None:
    places = f"whatsup/data/{name}", f"whatsup/{name}"
    return only_file(options.folders, *places) if options.wanted(task) else None


def _controlled(file: Path, finder: ImageFinder) -> Iterator[Case]:
    taken: set[str] = set()

    def case(record: Record) -> Case:
        path = record.text("image_path")
        if not is_plain(path):
            record.reject("image_path", "a relative path")
        name = stem(path)
        if name in taken:
            raise record.error(f"image {name!r} is repeated")
        said = _name(record, name)
        image = finder.find("whatsup", path.rpartition("/")[2], file=file, record=record.id)
        things = " and ".join(said.objects)
        texts = record.texts("caption_options", _OPTIONS)
        tags = {
            "preposition": said.preposition,
            "pair_all": f"2 of {things}, {_opposite(record, said.preposition)}",
            "set_all": f"4 of {things}",
        }
        taken.add(name)
        return Case(
            id=name,
            requests=tuple(Match(image=image, text=text) for text in texts),
            truths=(True, *(False,) * (_OPTIONS - 1)),
            tags=tags,
            origin=f"{file.name}, record {record.id}",
        )

    yield from each(case, listed_records(file))


def _name(record: Record, name: str) -> _Name:
    """Read a photograph's name; the things are its first and last part, as in the release's evaluation."""
    first, *middle = name.split("_")
    if len(middle) < 2:  # a preposition and a thing
        record.reject("image_path", "a name such as 'beer-bottle_left_of_armchair.jpeg'")
    return _Name(objects=(first, middle[-1]), preposition=" ".join(middle[:-1]))


def _opposite(record: Record, preposition: str) -> str:
    """The pair of opposites that a preposition is one of: ``left of`` and ``right of``, for example."""
    for word in preposition.replace("-", " ").split():
        if word in _OPPOSITES:
            return _OPPOSITES[word]
    raise record.error(f"the image's name has the preposition {preposition!r}, expected one of {', '.join(_OPPOSITES)}")


def _pairs(file: Path, finder: ImageFinder, source: str) -> Iterator[Case]:
    content = read_json(file)
    if type(content) is not list:
        raise DataError(file, None, f"is {shown(content)}, expected a list of records", FETCH_AGAIN)
    records = each(lambda numbered: _pair_record(file, *numbered), enumerate(content))

    def case(record: Record) -> Case:
        image = finder.find(source, record.text("image"), file=file, record=record.id)
        return Case(
            id=record.id,
            requests=tuple(Match(image=image, text=record.text(field)) for field in ("caption", "foil")),
            truths=(True, False),
            origin=f"{file.name}, record {record.id}",
        )

    yield from each(case, records)


def _pair_record(file: Path, number: int, fields: Any) -> Record:
    if type(fields) is not list or len(fields) != 3:  # id, true, false
        wanted = "a list of an image's id, a true and a false caption"
        raise DataError(file, str(number), f"is {shown(fields)}, expected {wanted}", FETCH_AGAIN)
    given = str(fields[0]) if type(fields[0]) is int else fields[0]
    return Record(file, str(number), {"image": given, "caption": fields[1], "foil": fields[2]})
