"""ARO: who does what to whom, and which thing has which attribute, in regions of Visual Genome.

Yuksekgonul et al. 2023, "When and Why Vision-Language Models Behave like Bags-Of-Words, and What to Do About It?". The
files are read as the authors release them (https://github.com/mertyg/vision-language-models-are-bows):
``visual_genome_relation.json`` and ``visual_genome_attribution.json``. Their orders of COCO and Flickr30k are shuffles
that were never released.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from vlgate.images.files import region_of
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each, listed_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.tables import other_form
from vlgate.sources.reading.text_files import collector_paused
from vlgate.types import Case, LazyImage, Match, Shape, Task

RELATION, ATTRIBUTION = "aro/relation", "aro/attribution"
SHAPES: Mapping[str, Shape] = MappingProxyType({RELATION: "pair", ATTRIBUTION: "pair"})
"""The shape of each task, by id."""

_FILES: Mapping[str, str] = MappingProxyType(
    {RELATION: "visual_genome_relation.json", ATTRIBUTION: "visual_genome_attribution.json"}
)
_LEAST = 25
"""Cases of a pair of attributes that is in the macro mean, as in the release."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in ``aro`` of a data folder.

    A case is a true and a false caption of a region of an image, which is cut out; its id is the position, from 0. The
    published figure is ``macro``: the mean over relations, without those that the authors' notebook leaves out as
    symmetric, or over pairs of attributes with at least 25 cases. ``macro_all`` is the mean over all of them, and
    ``acc_r`` the share of all cases. The images are GQA's, in ``images/gqa`` or ``aro/images``.
    """
    for task, name in _FILES.items():
        file = only_file(options.folders, f"aro/{name}", f"aro/data/{name}") if options.wanted(task) else None
        if file is not None:
            with collector_paused():
                cases = tuple(_cases(task, file, options.images))
            yield Task(id=task, capability="compositional", shape="pair", cases=cases)
        elif options.wanted(task) and (mirror := other_form(options, "aro/*.parquet", "aro/data/*.parquet")):
            note = f"{mirror} is a copy without regions and classes; take {name} of the authors"
            yield Task(id=task, capability="compositional", shape="pair", cases=(), note=note)


@cache
def symmetric() -> frozenset[str]:
    """Return the relations that the authors' notebook leaves out as symmetric.

    >>> "next to" in symmetric(), "wearing" in symmetric()
    (True, False)
    """
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return frozenset(content["symmetric"])


def _cases(task: str, file: Path, finder: ImageFinder) -> Iterator[Case]:
    records = list(each(lambda record: (record, _class(task, record)), listed_records(file)))
    sizes = Counter(name for _, name in records)

    def case(of: tuple[Record, str]) -> Case:
        record, name = of
        published = name not in symmetric() if task == RELATION else sizes[name] >= _LEAST
        return Case(
            id=record.id,
            requests=tuple(
                Match(image=_region(record, finder), text=record.text(field))
                for field in ("true_caption", "false_caption")
            ),
            truths=(True, False),
            tags={"macro_all": name} | ({"macro": name} if published else {}),
            origin=f"{file.name}, record {record.id}",
        )

    yield from each(case, records)


def _class(task: str, record: Record) -> str:
    """The class of a case: its relation, or its two attributes in their order."""
    if task == RELATION:
        return record.text("relation_name")
    found = record.fields.get("attributes")
    if type(found) is not list or len(found) != 2 or any(type(one) is not str for one in found):
        record.reject("attributes", "a list of two strings")
    return f"{found[0]}_{found[1]}"


def _region(record: Record, finder: ImageFinder) -> LazyImage:
    x, y, width, height = (record.count(f"bbox_{side}") for side in "xywh")
    if not width or not height:
        raise record.error(f"the region is {width} x {height} pixels, expected at least 1 x 1")
    whole = finder.find("aro", record.text("image_path"), file=record.file, record=record.id)
    return region_of(whole, (x, y, width, height))
