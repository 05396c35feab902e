"""COLA, multi-object: two photographs and two captions that bind the same attributes to other things.

Ray et al. 2023, "COLA: A Benchmark for Compositional Text-to-image Retrieval". The file is read as the authors release
it (https://github.com/arijitray1993/COLA, ``data/COLA_multiobjects_matching_benchmark.json``). It names images of
Visual Genome by their addresses; take them from Visual Genome or GQA.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, only_file, quad_requests
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json, shown
from vlgate.types import Case, Shape, Task

TASK = "cola/multi-object"
SHAPES: Mapping[str, Shape] = MappingProxyType({TASK: "image_quad"})
"""The shape of each task, by id: the paper gives the image score only."""

_FILE = "COLA_multiobjects_matching_benchmark.json"
_FIELDS = ("image 1", "caption 1", "image 2", "caption 2")


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the task if a data folder has its file, in ``cola/data`` or ``cola``.

    A case is (image 1, caption 1), (image 1, caption 2), (image 2, caption 1), (image 2, caption 2); its id is the
    position of the record, from 0. The paper's accuracy is ``image``: each caption fits its own image better.
    """
    file = only_file(options.folders, f"cola/data/{_FILE}", f"cola/{_FILE}") if options.wanted(TASK) else None
    if file is not None:
        cases = tuple(_cases(file, options.images))
        yield Task(id=TASK, capability="compositional", shape="image_quad", cases=cases)


def _cases(file: Path, finder: ImageFinder) -> Iterator[Case]:
    content = read_json(file)
    if type(content) is not list:
        raise DataError(file, None, f"is {shown(content)}, expected a list of records", FETCH_AGAIN)
    yield from each(lambda numbered: _case(file, finder, *numbered), enumerate(content))


def _case(file: Path, finder: ImageFinder, number: int, fields: Any) -> Case:
    if type(fields) is not list or len(fields) != len(_FIELDS):
        wanted = f"a list of {', '.join(_FIELDS)}"
        raise DataError(file, str(number), f"is {shown(fields)}, expected {wanted}", FETCH_AGAIN)
    record = Record(file, str(number), dict(zip(_FIELDS, fields, strict=True)))
    names = (record.text(field).rpartition("/")[2] for field in ("image 1", "image 2"))
    images = [finder.find("gqa", name, file=file, record=record.id) for name in names]
    captions = record.text("caption 1"), record.text("caption 2")
    return Case(
        id=record.id,
        requests=quad_requests(images, captions),
        truths=QUAD_TRUTHS,
        origin=f"{file.name}, record {record.id}",
    )
