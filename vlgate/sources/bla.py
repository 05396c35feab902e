"""BLA: two true and two false sentences about a picture, with active and passive voice, coordination, relative clauses.

Chen, Fernandez, Pezzelle 2023, "The BLA Benchmark: Investigating Basic Language Abilities of Pre-Trained Multimodal
Models"; and Chen's master's thesis of 2022, which has the metrics (section 5.3) and analyses (chapter 7). The files are
read as the authors release them (https://github.com/shin-ee-chen/BLA, ``annotations/``), in both of their forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.images import PictureFinder, finder_of
from vlgate.sources.json_file import FETCH_AGAIN, read_json
from vlgate.sources.places import only_file
from vlgate.sources.records import Record
from vlgate.types import Case, Match, Reading, Shape, Table

FILES: Mapping[str, str] = MappingProxyType(
    {
        "bla/active-passive": "active_passive_captions.json",
        "bla/coordination": "coordination_captions.json",
        "bla/relative-clause": "relative_clause_captions.json",
    },
)
"""The release's file of each table (section 4.1)."""

SHAPES: Mapping[str, Shape] = MappingProxyType(
    {"bla/active-passive": "voices", "bla/coordination": "set", "bla/relative-clause": "set"},
)
"""The shape of each table, by id: it names the preferences as the thesis does (Tables 7.1 and 7.4)."""

SENTENCES = ("True1", "True2", "False1", "False2")
"""The fields of a set; in active-passive they are the true active, true passive, false active and false passive."""


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables whose file is in a data folder, as ``bla/annotations/<file>`` or ``bla/<file>``.

    A case is a set: (picture, True1), (picture, True2), (picture, False1), (picture, False2). Its id is the image's,
    and the image's with ``-2`` and so on where an image has several sets. The picture is ``bla/images/<image id>`` with
    any extension, else the one of that id in ``images/vg``. The slice ``verb=...`` is the set's ``predicate``
    (section 7.1.3), where the file has it.

    Raises: DataError, which names the file and record, for a file in two places, one that cannot be read, a missing
    or wrongly typed field, or a blank sentence.
    """
    finder = finder_of(reading)
    for table, name in FILES.items():
        file = only_file(reading.folders, f"bla/annotations/{name}", f"bla/{name}") if reading.wanted(table) else None
        if file is not None:
            cases = tuple(_cases(file, finder))
            yield Table(id=table, capability="compositional", shape=SHAPES[table], cases=cases)


def _cases(file: Path, finder: PictureFinder) -> Iterator[Case]:
    sets: dict[str, int] = {}
    for image, record in _sets(file):
        picture = finder.find("bla", image, file=file, record=record.id)
        sets[image] = sets.get(image, 0) + 1
        yield Case(
            id=image if sets[image] == 1 else f"{image}-{sets[image]}",
            requests=tuple(Match(picture=picture, text=record.text(field)) for field in SENTENCES),
            truths=(True, True, False, False),
            tags={"verb": record.text("predicate")} if "predicate" in record.fields else {},
            origin=f"{file.name}, record {record.id}",
        )


def _sets(file: Path) -> Iterator[tuple[str, Record]]:
    """The image's id and the four sentences of each set, from either form of the release."""
    content = read_json(file)
    if type(content) is dict:  # {image id: the four sentences}
        for image, sentences in content.items():
            yield image, _named(file, image, sentences)
    elif type(content) is list:  # [{"image_id": ..., "caption_group": [{"True1": ..., ...}]}]
        for position, fields in enumerate(content):
            yield from _grouped(file, str(position), fields)
    else:
        raise DataError(file, None, "expected a list of records or an object {image id: sentences}", FETCH_AGAIN)


def _named(file: Path, image: str, sentences: Any) -> Record:
    if type(sentences) is not list or len(sentences) != len(SENTENCES):
        raise DataError(file, image, "expected a list of four sentences, two true and two false", FETCH_AGAIN)
    return Record(file, image, dict(zip(SENTENCES, sentences, strict=True)))


def _grouped(file: Path, position: str, fields: Any) -> Iterator[tuple[str, Record]]:
    if type(fields) is not dict:
        raise DataError(file, position, "expected an object with 'image_id' and 'caption_group'", FETCH_AGAIN)
    record = Record(file, position, fields)
    # The release writes the ids of active-passive as strings, the others as integers.
    image = str(record.count("image_id")) if type(fields.get("image_id")) is int else record.text("image_id")
    groups = fields.get("caption_group")
    if type(groups) is not list or not groups or any(type(group) is not dict for group in groups):
        record.reject("caption_group", "a list of objects")
    for group in groups:
        yield image, Record(file, position, group)
