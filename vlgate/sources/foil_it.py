"""FOIL it!: captions of COCO, each with a copy in which one noun is replaced by another of its supercategory.

Shekhar et al. 2017, "FOIL it! Find One mismatch between Image and Language caption". The files are read as the authors
release them (https://foilunitn.github.io): COCO's own form, a list of images and one of annotations. VALSE's instrument
``valse/foil-it`` is a sample of this test set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.images import PictureFinder, finder_of
from vlgate.sources.json_file import FETCH_AGAIN, collector_paused, read_json
from vlgate.sources.places import only_file
from vlgate.sources.records import Record
from vlgate.types import Case, Match, Picture, Reading, Shape, Table

SHAPES: Mapping[str, Shape] = MappingProxyType({"foil-it/test": "pair", "foil-it/train": "pair"})
"""The shape of each table, by id: the two parts of the release."""

_Captions = Mapping[int, tuple[int, str]]
"""The image and the text of each true caption, by COCO's id of the caption."""


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables whose file, ``foilv1.0_<part>_2017.json``, is in a data folder, in ``foil-it``.

    A case is (picture, true caption), (picture, foil): an annotation with ``foil`` true, in the order of the file, and
    the one with ``foil`` false that has the same ``id``, which is COCO's for the caption. The case's id is the
    ``foil_id``; a further case of that id gets ``-2`` and so on. The slice ``target_word=...`` is the noun that was
    replaced: a name of one of COCO's categories, 67 different ones in the 1,000 foils that VALSE took from this set.

    Raises: DataError, which names the file and the annotation by its position, for a file in two places, one that
    cannot be read, a missing or wrongly typed field, a blank text, an image that is not listed or whose name is no
    plain relative path, and a foil without a true caption for its image, or with two.
    """
    finder = finder_of(reading)
    for table in SHAPES:
        name = f"foilv1.0_{table.removeprefix('foil-it/')}_2017.json"
        places = (f"foil-it/{name}", f"foil-it/annotations/{name}")
        file = only_file(reading.folders, *places) if reading.wanted(table) else None
        if file is not None:
            with collector_paused():
                cases = tuple(_cases(file, finder))
            yield Table(id=table, capability="foil", shape="pair", cases=cases)


def _cases(file: Path, finder: PictureFinder) -> Iterator[Case]:
    content = Record(file, "the whole", _object(file))
    names = {record.count("id"): record.text("file_name") for record in _listed(content, "images")}
    annotations = list(_listed(content, "annotations"))
    captions = _captions(annotations)
    numbers: dict[str, int] = {}
    shared: dict[str, Mapping[str, str]] = {}
    for record in annotations:
        if _is_foil(record):
            number, word = str(record.count("foil_id")), record.text("target_word")
            numbers[number] = numbers.get(number, 0) + 1
            yield Case(
                id=number if numbers[number] == 1 else f"{number}-{numbers[number]}",
                requests=_requests(record, captions, _picture(record, names, finder)),
                truths=(True, False),
                tags=shared.setdefault(word, {"target_word": word}),
                origin=f"{file.name}, record {record.id}",
            )


def _object(file: Path) -> dict[str, Any]:
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "expected an object with 'images' and 'annotations'", FETCH_AGAIN)
    return content


def _listed(content: Record, field: str) -> Iterator[Record]:
    values = content.fields.get(field)
    if type(values) is not list:
        content.reject(field, "a list")
    for position, fields in enumerate(values):
        name = f"{field}[{position}]"
        if type(fields) is not dict:
            raise DataError(content.file, name, "expected an object", FETCH_AGAIN)
        yield Record(content.file, name, fields)


def _is_foil(record: Record) -> bool:
    foil = record.fields.get("foil")
    if type(foil) is not bool:
        record.reject("foil", "true or false")
    return foil


def _captions(annotations: list[Record]) -> _Captions:
    found: dict[int, tuple[int, str]] = {}
    for record in annotations:
        if not _is_foil(record):
            caption = record.count("image_id"), record.text("caption")
            if found.setdefault(record.count("id"), caption) != caption:
                raise record.error("another true caption has the same 'id'")
    return found


def _picture(record: Record, names: Mapping[int, str], finder: PictureFinder) -> Picture:
    image = record.count("image_id")
    if image not in names:
        raise record.error(f"its image_id {image} is in none of 'images'")
    return finder.find("coco", names[image], file=record.file, record=record.id)


def _requests(record: Record, captions: _Captions, picture: Picture) -> tuple[Match, Match]:
    image, caption = captions.get(record.count("id"), (None, ""))
    if image != record.fields["image_id"]:
        raise record.error("no true caption of this image has its 'id'")
    return Match(picture=picture, text=caption), Match(picture=picture, text=record.text("caption"))
