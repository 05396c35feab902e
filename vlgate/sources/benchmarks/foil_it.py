"""FOIL it!: captions of COCO, each with a copy in which one noun is replaced by another of its supercategory.

Shekhar et al. 2017, "FOIL it! Find One mismatch between Image and Language caption". The files are read as the authors
release them (https://foilunitn.github.io), in COCO's own format: a list of images and a list of annotations. VALSE's
task ``valse/foil-it`` is a sample of this test set.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.text_files import FETCH_AGAIN, collector_paused, read_json
from vlgate.types import Case, LazyImage, Match, Shape, Task

SHAPES: Mapping[str, Shape] = MappingProxyType({"foil-it/test": "pair", "foil-it/train": "pair"})
"""The shape of each task, by id: the two parts of the release."""

_Captions = Mapping[int, tuple[int, str]]
"""The image and the text of each true caption, by COCO's id of the caption."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file, ``foilv1.0_<part>_2017.json``, is in a data folder, in ``foil-it``.

    A case is (image, true caption), (image, foil), in the order of the foils in the file. A foil is an annotation with
    ``foil`` true; its true caption is the annotation with ``foil`` false that has the same ``id``, which is COCO's id
    of the caption. The case's id is the ``foil_id``; the second case with that id gets ``-2`` and so on. The slice
    ``target_word=...`` is the noun that was replaced: the name of one of COCO's categories (67 different names in the
    1,000 foils that VALSE took from this set).
    """
    finder = options.images
    for task in SHAPES:
        name = f"foilv1.0_{task.removeprefix('foil-it/')}_2017.json"
        places = (f"foil-it/{name}", f"foil-it/annotations/{name}")
        file = only_file(options.folders, *places) if options.wanted(task) else None
        if file is not None:
            with collector_paused():
                cases = tuple(_cases(file, finder))
            yield Task(id=task, capability="foil", shape="pair", cases=cases)


def _cases(file: Path, finder: ImageFinder) -> Iterator[Case]:
    content = Record(file, "(the whole file)", _object(file))
    listed = each(lambda record: (record.count("id"), record.text("file_name")), _listed(content, "images"))
    names = dict(listed)
    annotations = list(each(lambda record: (record, _is_foil(record)), _listed(content, "annotations")))
    captions = _captions([record for record, foil in annotations if not foil])
    numbers: dict[str, int] = {}
    shared: dict[str, Mapping[str, str]] = {}

    def case(record: Record) -> Case:
        number, word = str(record.count("foil_id")), record.text("target_word")
        numbers[number] = numbers.get(number, 0) + 1
        return Case(
            id=number if numbers[number] == 1 else f"{number}-{numbers[number]}",
            requests=_requests(record, captions, _image(record, names, finder)),
            truths=(True, False),
            tags=shared.setdefault(word, {"target_word": word}),
            origin=f"{file.name}, record {record.id}",
        )

    yield from each(case, [record for record, foil in annotations if foil])


def _object(file: Path) -> dict[str, Any]:
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "expected an object with 'images' and 'annotations'", FETCH_AGAIN)
    return content


def _listed(content: Record, field: str) -> Iterator[Record]:
    values = content.fields.get(field)
    if type(values) is not list:
        content.reject(field, "a list")

    def record(numbered: tuple[int, Any]) -> Record:
        position, fields = numbered
        name = f"{field}[{position}]"
        if type(fields) is not dict:
            raise DataError(content.file, name, "expected an object", FETCH_AGAIN)
        return Record(content.file, name, fields)

    yield from each(record, enumerate(values))


def _is_foil(record: Record) -> bool:
    foil = record.fields.get("foil")
    if type(foil) is not bool:
        record.reject("foil", "true or false")
    return foil


def _captions(annotations: list[Record]) -> _Captions:
    found: dict[int, tuple[int, str]] = {}

    def add(record: Record) -> None:
        caption = record.count("image_id"), record.text("caption")
        if found.setdefault(record.count("id"), caption) != caption:
            raise record.error(f"id {record.count('id')} is the 'id' of another true caption, too")

    deque(each(add, annotations), maxlen=0)
    return found


def _image(record: Record, names: Mapping[int, str], finder: ImageFinder) -> LazyImage:
    image = record.count("image_id")
    if image not in names:
        raise record.error(f"image_id {image} is not listed in 'images'")
    return finder.find("coco", names[image], file=record.file, record=record.id)


def _requests(record: Record, captions: _Captions, image: LazyImage) -> tuple[Match, Match]:
    image_id, caption = captions.get(record.count("id"), (None, ""))
    if image_id != record.fields["image_id"]:
        raise record.error(
            f"no true caption of image {record.count('image_id')} has the foil's id {record.count('id')}"
        )
    return Match(image=image, text=caption), Match(image=image, text=record.text("caption"))
