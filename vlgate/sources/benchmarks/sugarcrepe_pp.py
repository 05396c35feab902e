"""SugarCrepe++: two true captions in other words, and one false caption whose words are near to both.

Dumpala et al. 2024, "SUGARCREPE++ Dataset: Vision-Language Model Sensitivity to Semantic and Lexical Alterations". The
files are read as the authors release them (https://github.com/Sri-Harsha/scpp, ``data/``; the same files are
``Aman-J/SugarCrepe_pp`` of the Hugging Face hub). The paper's text-only task compares texts with texts, which no
request here asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each, listed_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.types import Case, Match, Shape, Task

KINDS = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
"""The kinds of false captions; each is a file of the release."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"sugarcrepe-pp/{kind}": "two_true" for kind in KINDS})
"""The shape of each task, by id."""

_FOLDERS = (
    "sugarcrepe-pp/data",
    "sugarcrepe-pp",
    "scpp/data",
    "SugarCrepe_pp/data",
    "sugarcrepe-pp/SugarCrepe_pp/data",
)
_FIELDS = ("caption", "caption2", "negative_caption")


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``sugarcrepe-pp/data/<kind>.json`` or without ``data``.

    A case is (image, caption), (image, caption2), (image, negative caption); its id is the record's position, from 0,
    which is its ``id`` in the release. The images are COCO's (val2017). In the release, two
    negative captions of ``swap_obj`` equal the caption: these cases are never right.
    """
    for kind in KINDS:
        task = f"sugarcrepe-pp/{kind}"
        places = tuple(f"{folder}/{kind}.json" for folder in _FOLDERS)
        file = only_file(options.folders, *places) if options.wanted(task) else None
        if file is not None:
            cases = tuple(each(partial(_case, finder=options.images), listed_records(file)))
            yield Task(id=task, capability="foil", shape="two_true", cases=cases)


def _case(record: Record, finder: ImageFinder) -> Case:
    image = finder.find("coco", record.text("filename"), file=record.file, record=record.id)
    return Case(
        id=record.id,
        requests=tuple(Match(image=image, text=record.text(field)) for field in _FIELDS),
        truths=(True, True, False),
        origin=f"{record.file.name}, record {record.id}",
    )
