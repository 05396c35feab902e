"""ColorSwap: two captions that swap colours between two things, and an image of each.

Burapacheep et al. 2024, "ColorSwap: A Color and Word Order Dataset for Multimodal Evaluation". The files are read as
the authors release them (https://github.com/Top34051/colorswap): ``data/test.json`` and ``data/train.json``, and the
folder ``images``; or the Parquet files of ``stanfordnlp/colorswap`` of the Hugging Face hub, with the images inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder, is_plain
from vlgate.sources.reading.records import Record, each, listed_records
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, only_file, quad_requests
from vlgate.sources.reading.tables import Row, release_files, table_rows
from vlgate.types import Case, LazyImage, Shape, Task

SPLITS = ("test", "train")
"""The splits of the release; each is a task. The published figures are those of the test split."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"colorswap/{split}": "quad" for split in SPLITS})
"""The shape of each task, by id."""

HUB = "stanfordnlp/colorswap"
_IMAGES = ("image_1", "image_2")
_SOURCES = ("image_source", "caption_source")


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``colorswap/data/<split>.json`` or without ``data``.

    ``<split>*.parquet`` is read there, too, or with the protocol ``colorswap_hub`` from the hub. A case is (image_1,
    caption_1), (image_1, caption_2), (image_2, caption_1), (image_2, caption_2); its id is the record's. The slices are
    ``image_source`` and ``caption_source``. In 15 of the 300 pairs of the test split the two captions do not have quite
    the same words.
    """
    for split in SPLITS:
        task = f"colorswap/{split}"
        if not options.wanted(task):
            continue
        places = f"colorswap/data/{split}.json", f"colorswap/{split}.json"
        file = only_file(options.folders, *places)
        tables = release_files(options, "colorswap", HUB, (f"{split}*.parquet",))
        if file is not None and tables:
            raise DataError(file, None, f"is the split {split}, and so is {tables[0]}", "keep one of them")
        if file is not None or tables:
            rows = (
                each(_tabled, table_rows(tables, _IMAGES, f"take the Parquet files of {HUB}"))
                if file is None
                else each(partial(_filed, finder=options.images), listed_records(file))
            )
            cases = tuple(_cases(rows))
            yield Task(id=task, capability="compositional", shape="quad", cases=cases)


_Given = tuple[Record, tuple[LazyImage, LazyImage]]
"""A record and its two images."""


def _filed(record: Record, finder: ImageFinder) -> _Given:
    first, second = (
        finder.find("colorswap", _image_name(record, field), file=record.file, record=record.id) for field in _IMAGES
    )
    return record, (first, second)


def _tabled(row: Row) -> _Given:
    number = row.record.count("id")
    first, second = (row.image(f"img_{number}_{which}.png", field) for which, field in enumerate(_IMAGES, 1))
    return row.record, (first, second)


def _cases(rows: Iterable[_Given]) -> Iterator[Case]:
    taken: set[str] = set()

    def case(given: _Given) -> Case:
        record, images = given
        name = str(record.count("id"))
        if name in taken:
            raise record.error(f"id {name} is repeated")
        requests = quad_requests(images, (record.text("caption_1"), record.text("caption_2")))
        taken.add(name)
        return Case(
            id=name,
            requests=requests,
            truths=QUAD_TRUTHS,
            tags={source: record.text(source) for source in _SOURCES if record.fields.get(source)},
            origin=f"{record.file.name}, record {record.id}",
        )

    yield from each(case, rows)


def _image_name(record: Record, field: str) -> str:
    """The name of an image in its folder; the release writes the folder, too."""
    name = record.text(field)
    if not is_plain(name):
        record.reject(field, "a relative path such as 'images/img_0_1.png'")
    return name.rpartition("/")[2]
