"""Winoground: two images and two captions that have the same words in a different order.

Thrush et al. 2022, "Winoground: Probing Vision and Language Models for Visio-Linguistic Compositionality". The release
(https://huggingface.co/datasets/facebook/winoground) is gated: accept its terms, then put it into a data folder, either
as ``data/examples.jsonl`` with the images in ``images`` or ``images.zip``, or as Parquet files with the images inside.
With the protocol ``winoground_hub``, the Parquet files are fetched from the hub with the user's own token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder, stem
from vlgate.sources.reading.packed import zip_image, zip_members
from vlgate.sources.reading.records import Record, each, lined_records
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, only_file, quad_requests
from vlgate.sources.reading.tables import Row, column_names, dataset_folder, table_files, table_rows
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json
from vlgate.types import Case, LazyImage, Shape, Task

SHAPES: Mapping[str, Shape] = MappingProxyType({"winoground/all": "quad"})
"""The shape of each task, by id."""

HUB = "facebook/winoground"
"""The data set's name on the hub."""

FOLDERS = ("winoground/data", "winoground")
"""The places in a data folder that may hold the release."""

TAGS = ("winoground/new_tag_assignments.json", "winoground/tag_assignments.json")
"""The later tags (https://github.com/ajd12342/why-winoground-hard), under their first and their usual name."""

NO_IDS = "the file has no ids: the id of a case is the number of its row, from 0"

_IMAGES = ("image_0", "image_1")
_Row = tuple[Record, tuple[LazyImage, LazyImage]]


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the task, if it is wanted and a data folder holds the release.

    A case is (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1), with the truths
    (True, False, False, True). Its id is the row's, or the number of the row if a Parquet file has no ids, which a note
    says; an image's key is ``ex_<id>_img_<0 or 1>`` in either format. It is not checked that the two captions have the
    same words: in 21 of the 400 pairs they do not.

    The slices are ``collapsed_tag=Object``, ``tag=...`` and ``num_main_preds=1`` (section 3.1, Table 4). For the
    visual tags, ``secondary_tag=Symbolic`` holds the rows with just this tag, from which Table 5 is computed, and
    ``secondary_tag:Symbolic=yes`` all rows with this tag. If a data folder has the file of tags of Diwan et al. 2022,
    "Why is Winoground Hard?", there are also ``diwan:Complex Reasoning=yes``, ..., and ``diwan:none=yes``.
    """
    if not options.wanted("winoground/all"):
        return
    hub = [dataset_folder(HUB, ["data/*.parquet"])] if "winoground_hub" in options.protocols else []
    places = [folder / name for folder in options.folders for name in FOLDERS] + [place / "data" for place in hub]
    release = table_files(places, ("examples.jsonl", "*.parquet"))
    if not release:
        return
    lines = release[0].suffix == ".jsonl"
    rows = _lines(release[0], options.folders) if lines else _shards(release, options.folders)
    cases = tuple(_cases(rows, _later_tags(options.folders)))
    note = "" if lines or all("id" in column_names(file) for file in release) else NO_IDS
    yield Task(id="winoground/all", capability="compositional", shape="quad", cases=cases, note=note)


def tags(record: Record) -> dict[str, str]:
    """Return the slices that a row's fields put it into; a field that is missing, null or empty gives no slice."""
    found = {name: record.text(name) for name in ("collapsed_tag", "tag", "secondary_tag") if record.fields.get(name)}
    if record.fields.get("num_main_preds") is not None:
        found["num_main_preds"] = str(record.count("num_main_preds"))
    names = found.get("secondary_tag", "").split(",")
    return found | {f"secondary_tag:{name.strip()}": "yes" for name in names if name.strip()}


def _cases(rows: Iterable[_Row], later: Mapping[str, tuple[str, ...]]) -> Iterator[Case]:
    taken: set[str] = set()

    def case(row: _Row) -> Case:
        record, images = row
        name = str(record.count("id"))
        if name in taken:
            raise record.error(f"id {name} is repeated")
        if later and name not in later:
            raise record.error(f"id {name} has no entry in the file of tags ({' or '.join(TAGS)})")
        captions = record.text("caption_0"), record.text("caption_1")
        taken.add(name)
        return Case(
            id=name,
            requests=quad_requests(images, captions),
            truths=QUAD_TRUTHS,
            tags=tags(record) | {f"diwan:{tag}": "yes" for tag in later.get(name, ())},
            origin=f"{record.file.name}, record {record.id}",
        )

    yield from each(case, rows)


def _keys(record: Record) -> tuple[str, str]:
    number = record.count("id")
    return f"ex_{number}_img_0", f"ex_{number}_img_1"


def _keyed(folders: Sequence[Path]) -> Callable[[Record, str], LazyImage]:
    """Return a function that finds an image by its key, in the folder of images or in their ZIP file."""
    finder = ImageFinder(folders)
    packed = only_file(folders, *(f"{place}/images.zip" for place in FOLDERS))
    members = {} if packed is None else zip_members(packed)

    def image(record: Record, key: str) -> LazyImage:
        found = finder.find("winoground", key, file=record.file, record=record.id)
        return found if found.where or packed is None or key not in members else zip_image(key, packed, members[key])

    return image


def _lines(file: Path, folders: Sequence[Path]) -> Iterator[_Row]:
    image = _keyed(folders)

    def row(record: Record) -> _Row:
        keys = _keys(record)
        for field, key in zip(_IMAGES, keys, strict=True):
            name = record.text(field)
            if stem(name) != key or "/" in name:
                record.reject(field, f"{key!r}, the name of the row's image")
        return record, (image(record, keys[0]), image(record, keys[1]))

    return each(row, lined_records(file))


def _shards(files: Sequence[Path], folders: Sequence[Path]) -> Iterator[_Row]:
    keyed = cache(lambda: _keyed(folders))  # only if an image is not in its table

    def image(row: Row, column: str, key: str) -> LazyImage:
        found = keyed()(row.record, key) if column in row.outside else None
        return found if found is not None and found.where else row.image(key, column)

    def pair(row: Row) -> _Row:
        given = row.record.fields
        record = replace(row.record, fields=given if "id" in given else {"id": row.number, **given})
        first, second = _keys(record)
        return record, (image(row, "image_0", first), image(row, "image_1", second))

    return each(pair, table_rows(files, _IMAGES, f"take the Parquet files of {HUB}"))


def _later_tags(folders: Iterable[Path]) -> dict[str, tuple[str, ...]]:
    file = only_file(folders, *TAGS)
    if file is None:
        return {}
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "expected an object {id: [tag]}", FETCH_AGAIN)
    for name, found in content.items():
        if type(found) is not list or any(type(tag) is not str for tag in found):
            raise DataError(file, name, "expected a list of tags", FETCH_AGAIN)
    return {name: tuple(found) or ("none",) for name, found in content.items()}
