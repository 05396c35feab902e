"""VSR: is a statement about the place of one thing relative to another true of the photograph?

Liu, Emerson, Collier 2023, "Visual Spatial Reasoning". The files are read as the authors release them
(https://github.com/cambridgeltl/visual-spatial-reasoning, ``data/splits``; the same files are
``cambridgeltl/vsr_random`` and ``cambridgeltl/vsr_zeroshot`` of the Hugging Face hub).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each, lined_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.types import Case, Match, Shape, Task

SPLITS = ("random", "zeroshot")
PARTS = ("test", "dev", "train")

SHAPES: Mapping[str, Shape] = MappingProxyType({f"vsr/{split}-{part}": "single" for split in SPLITS for part in PARTS})
"""The shape of each task, by id."""

_RELEASES: Mapping[tuple[str, str, int], str] = MappingProxyType(
    {
        ("random", "train", 7083): "until 2023-03",
        ("random", "dev", 1012): "until 2023-03",
        ("random", "test", 2024): "until 2023-03",
        ("zeroshot", "train", 5440): "until 2023-03",
        ("zeroshot", "dev", 259): "until 2023-03",
        ("zeroshot", "test", 731): "until 2023-03",
        ("random", "train", 7680): "since 2023-03",
        ("random", "dev", 1097): "since 2023-03",
        ("random", "test", 2195): "since 2023-03",
        ("zeroshot", "train", 3489): "since 2023-03",
        ("zeroshot", "dev", 340): "since 2023-03",
        ("zeroshot", "test", 1222): "since 2023-03",
    },
)
"""The two releases, by split, part and number of statements (the repository's history)."""


_PLACES = (
    "vsr/data/splits/{}/{}.jsonl",
    "vsr/splits/{}/{}.jsonl",
    "vsr/{}/{}.jsonl",
    "vsr/vsr_{}/{}.jsonl",
    "vsr_{}/{}.jsonl",
)
"""Where the file of a split and part may be; the last two are those of the data sets of the Hugging Face hub."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, where the release or the hub's data set has it.

    A case is one (image, statement), true or false; its id is the line's number, from 1. Each statement's relation is
    a slice. The images are COCO's (train2017 and val2017). The note of a task says which of the two releases its file
    is; figures of older papers are those of the first.
    """
    for split in SPLITS:
        for part in PARTS:
            task = f"vsr/{split}-{part}"
            places = [place.format(split, part) for place in _PLACES]
            file = only_file(options.folders, *places) if options.wanted(task) else None
            if file is not None:
                records = list(lined_records(file))
                cases = tuple(each(partial(_case, finder=options.images), records))
                number = len(records)
                known = _RELEASES.get((split, part, number))
                unknown = f"no release has {number:,} statements that can be read"
                note = f"the file is that of the release {known}" if known else unknown
                yield Task(id=task, capability="foil", shape="single", cases=cases, note=note)


def _case(record: Record, finder: ImageFinder) -> Case:
    label = record.count("label")
    if label > 1:
        record.reject("label", "0 or 1")
    image = finder.find("coco", record.text("image"), file=record.file, record=record.id)
    return Case(
        id=record.id.removeprefix("on line "),
        requests=(Match(image=image, text=record.text("caption")),),
        truths=(label == 1,),
        tags={"relation": record.text("relation")},
        origin=f"{record.file.name}, record {record.id}",
    )
