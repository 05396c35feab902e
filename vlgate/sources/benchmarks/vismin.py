"""VisMin: two images that differ in one object, attribute, number or relation, and a caption of each.

Awal et al. 2024, "VisMin: Visual Minimal-Change Understanding". The release is the data set ``mair-lab/vismin-bench``
of the Hugging Face hub (https://github.com/rabiulcste/vismin): Arrow files as ``save_to_disk`` writes them, or Parquet
files, with the images inside. Put them into ``vismin/data/test``, ``vismin/data`` or ``vismin`` of a data folder, or
let the protocol ``vismin_hub`` fetch them with your token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vlgate.sources.reading.records import Record
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, quad_requests
from vlgate.sources.reading.tables import Row, by_kind, release_files, table_rows
from vlgate.types import Case, Shape, Task

CATEGORIES = ("object", "attribute", "counting", "relation")
"""What differs between the two images; each is a task."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"vismin/{category}": "quad" for category in CATEGORIES})
"""The shape of each task, by id."""

HUB = "mair-lab/vismin-bench"


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks, if a data folder holds the release.

    A case is (image_0, text_0), (image_0, text_1), (image_1, text_0), (image_1, text_1). Its id is the row's ``id``,
    or the number of the row if that is missing; its images' keys are ``vismin_<id>_<0 or 1>``.
    """
    wanted = [category for category in CATEGORIES if options.wanted(f"vismin/{category}")]
    files = release_files(options, "vismin", HUB) if wanted else []
    rows = table_rows(files, ("image_0", "image_1"), f"take the files of {HUB}")
    for category, cases in by_kind(_case, rows, _category, wanted).items():
        if cases:
            yield Task(id=f"vismin/{category}", capability="compositional", shape="quad", cases=cases)


def _category(record: Record) -> str:
    category = record.text("category").lower()
    if category not in CATEGORIES:
        record.reject("category", " or ".join(map(repr, CATEGORIES)))
    return category


def _case(row: Row) -> Case:
    given = row.record.fields.get("id")
    name = str(row.number if given is None else given)
    images = [row.image(f"vismin_{name}_{which}", f"image_{which}") for which in (0, 1)]
    captions = row.record.text("text_0"), row.record.text("text_1")
    return Case(
        id=name,
        requests=quad_requests(images, captions),
        truths=QUAD_TRUTHS,
        origin=f"{row.record.file.name}, record {row.record.id}",
    )
