"""BLA: two true and two false sentences about an image, with active and passive voice, coordination, relative clauses.

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
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json
from vlgate.types import Case, Match, Shape, Task

FILES: Mapping[str, str] = MappingProxyType(
    {
        "bla/active-passive": "active_passive_captions.json",
        "bla/coordination": "coordination_captions.json",
        "bla/relative-clause": "relative_clause_captions.json",
    },
)
"""The release's file of each task (section 4.1)."""

SHAPES: Mapping[str, Shape] = MappingProxyType(
    {"bla/active-passive": "active_passive_set", "bla/coordination": "set", "bla/relative-clause": "set"},
)
"""The shape of each task, by id: it names the preferences as the thesis does (Tables 7.1 and 7.4)."""

SENTENCES = ("True1", "True2", "False1", "False2")
"""The fields of a set; in active-passive they are the true active, true passive, false active and false passive."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``bla/annotations/<file>`` or ``bla/<file>``.

    A case is a set: (image, True1), (image, True2), (image, False1), (image, False2). Its id is the image's id; if an
    image has several sets, the second set's id ends with ``-2`` and so on. The image is ``bla/images/<image id>`` with
    any extension, or else the image with that id in ``images/vg``. If the file has the field ``predicate``
    (section 7.1.3), it makes the slice ``verb=...``.
    """
    finder = options.images
    for task, name in FILES.items():
        file = only_file(options.folders, f"bla/annotations/{name}", f"bla/{name}") if options.wanted(task) else None
        if file is not None:
            cases = tuple(_cases(file, finder))
            yield Task(id=task, capability="compositional", shape=SHAPES[task], cases=cases)


def _cases(file: Path, finder: ImageFinder) -> Iterator[Case]:
    sets: dict[str, int] = {}

    def case(named: tuple[str, Record]) -> Case:
        name, record = named
        sets[name] = sets.get(name, 0) + 1
        image = finder.find("bla", name, file=file, record=record.id)
        return Case(
            id=name if sets[name] == 1 else f"{name}-{sets[name]}",
            requests=tuple(Match(image=image, text=record.text(field)) for field in SENTENCES),
            truths=(True, True, False, False),
            tags={"verb": record.text("predicate")} if "predicate" in record.fields else {},
            origin=f"{file.name}, record {record.id}",
        )

    yield from each(case, _sets(file))


def _sets(file: Path) -> Iterator[tuple[str, Record]]:
    """Yield the image's id and the four sentences of each set, from either form of the release."""
    content = read_json(file)
    if type(content) is dict:  # {image id: the four sentences}
        yield from each(lambda named: _named(file, *named), content.items())
    elif type(content) is list:  # [{"image_id": ..., "caption_group": [{"True1": ..., ...}]}]
        for sets in each(lambda numbered: _grouped(file, *numbered), enumerate(content)):
            yield from sets
    else:
        raise DataError(file, None, "expected a list of records or an object {image id: sentences}", FETCH_AGAIN)


def _named(file: Path, image: str, sentences: Any) -> tuple[str, Record]:
    if type(sentences) is not list or len(sentences) != len(SENTENCES):
        raise DataError(file, image, "expected a list of four sentences, two true and two false", FETCH_AGAIN)
    return image, Record(file, image, dict(zip(SENTENCES, sentences, strict=True)))


def _grouped(file: Path, number: int, fields: Any) -> list[tuple[str, Record]]:
    position = str(number)
    if type(fields) is not dict:
        raise DataError(file, position, "expected an object with 'image_id' and 'caption_group'", FETCH_AGAIN)
    record = Record(file, position, fields)
    # The release writes the ids of active-passive as strings, the others as integers.
    image = str(record.count("image_id")) if type(fields.get("image_id")) is int else record.text("image_id")
    groups = fields.get("caption_group")
    if type(groups) is not list or not groups or any(type(group) is not dict for group in groups):
        record.reject("caption_group", "a list of objects")
    return [(image, Record(file, position, group)) for group in groups]
