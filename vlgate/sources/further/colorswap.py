"""ColorSwap: two captions that swap colours between two things, and an image of each.

Burapacheep et al. 2024, "ColorSwap: A Color and Word Order Dataset for Multimodal Evaluation". The files are read as
the authors release them (https://github.com/Top34051/colorswap): ``data/test.json`` and ``data/train.json``, and the
folder ``images``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder, is_plain
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.places import only_file
from vlgate.sources.reading.quads import QUAD_TRUTHS, quad_requests
from vlgate.sources.reading.records import Record, listed_records
from vlgate.types import Case, Shape, Task

SPLITS = ("test", "train")
"""The splits of the release; each is a task. The published figures are those of the test split."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"colorswap/{split}": "quad" for split in SPLITS})
"""The shape of each task, by id."""

_SOURCES = ("image_source", "caption_source")


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``colorswap/data/<split>.json`` or without ``data``.

    A case is (image_1, caption_1), (image_1, caption_2), (image_2, caption_1), (image_2, caption_2); its id is the
    record's. The slices are ``image_source`` and ``caption_source``. In 15 of the 300 pairs of the test split the two
    captions do not have quite the same words.

    Raises: DataError, which names the file and record, if a file is in two places or cannot be read, an id is
        repeated, a field is missing or of the wrong type, a text is blank, or an image's name is not a relative path.
    """
    for split in SPLITS:
        task = f"colorswap/{split}"
        places = f"colorswap/data/{split}.json", f"colorswap/{split}.json"
        file = only_file(options.folders, *places) if options.wanted(task) else None
        if file is not None:
            cases = tuple(_cases(file, options.images))
            yield Task(id=task, capability="compositional", shape="quad", cases=cases)


def _cases(file: Path, finder: ImageFinder) -> Iterator[Case]:
    taken = set()
    for record in listed_records(file):
        name = str(record.count("id"))
        if name in taken:
            raise record.error(f"id {name} is repeated")
        taken.add(name)
        keys = _image_name(record, "image_1"), _image_name(record, "image_2")
        images = [finder.find("colorswap", key, file=file, record=record.id) for key in keys]
        captions = record.text("caption_1"), record.text("caption_2")
        yield Case(
            id=name,
            requests=quad_requests(images, captions),
            truths=QUAD_TRUTHS,
            tags={source: record.text(source) for source in _SOURCES if record.fields.get(source)},
            origin=f"{file.name}, record {record.id}",
        )


def _image_name(record: Record, field: str) -> str:
    """The name of an image in its folder; the release writes the folder, too."""
    name = record.text(field)
    if not is_plain(name):
        record.reject(field, "a relative path such as 'images/img_0_1.png'")
    return name.rpartition("/")[2]
