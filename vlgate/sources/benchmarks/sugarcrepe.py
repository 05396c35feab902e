"""SugarCrepe: captions and fluent, plausible negatives that add, replace or swap an object, attribute or relation.

Hsieh et al. 2023, "SugarCrepe: Fixing Hackable Benchmarks for Vision-Language Compositionality". The files are read as
the authors release them (https://github.com/RAIVNLab/sugar-crepe, ``data/``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.places import only_file
from vlgate.sources.reading.records import keyed_records
from vlgate.types import Case, Match, Shape, Task

KINDS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
"""The seven kinds of negatives; each is a file of the release."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"sugarcrepe/{kind}": "pair" for kind in KINDS})
"""The shape of each task, by id."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``sugarcrepe/data/<kind>.json`` or without ``data``.

    A case is (image, caption), (image, negative caption), in the order of the file, which has all items of the
    kind; its id is the item's key in the file. The images are COCO's (val2017).

    Raises: DataError, which names the file and record, if a file is in two places or cannot be read, a field is
    missing or of the wrong type, a text is blank, or an image's name is not a plain relative path.
    """
    finder = options.images
    for kind in KINDS:
        task = f"sugarcrepe/{kind}"
        places = (f"sugarcrepe/data/{kind}.json", f"sugarcrepe/{kind}.json")
        file = only_file(options.folders, *places) if options.wanted(task) else None
        if file is not None:
            with collector_paused():
                cases = tuple(_cases(file, finder))
            yield Task(id=task, capability="foil", shape="pair", cases=cases)


def _cases(file: Path, finder: ImageFinder) -> Iterator[Case]:
    for record in keyed_records(file):
        image = finder.find("coco", record.text("filename"), file=file, record=record.id)
        yield Case(
            id=record.id,
            requests=(
                Match(image=image, text=record.text("caption")),
                Match(image=image, text=record.text("negative_caption")),
            ),
            truths=(True, False),
            origin=f"{file.name}, record {record.id}",
        )
