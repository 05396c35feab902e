"""Winoground: two images and two captions that have the same words in a different order.

Thrush et al. 2022, "Winoground: Probing Vision and Language Models for Visio-Linguistic Compositionality". The release
(https://huggingface.co/datasets/facebook/winoground) is gated: accept its terms, then put it into a data folder, either
as ``data/examples.jsonl`` with the images in ``images`` or ``images.zip``, or as Parquet files with the images inside.
With the protocol ``winoground_hub``, the Parquet files are fetched from the hub with the user's own token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError
from vlgate.sources.reading.hub import dataset_folder
from vlgate.sources.reading.image_finder import ImageFinder, stem
from vlgate.sources.reading.json_file import FETCH_AGAIN, read_json
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.packed import zip_image, zip_members
from vlgate.sources.reading.places import only_file
from vlgate.sources.reading.quads import QUAD_TRUTHS, quad_requests
from vlgate.sources.reading.records import Record, lined_records
from vlgate.sources.reading.tables import table_files, table_rows
from vlgate.types import Case, LazyImage, Shape, Task

SHAPES: Mapping[str, Shape] = MappingProxyType({"winoground/all": "quad"})
"""The shape of each task, by id."""

HUB = "facebook/winoground"
"""The data set's name on the hub."""

FOLDERS = ("winoground/data", "winoground")
"""The places in a data folder that may hold the release."""

TAGS = ("winoground/new_tag_assignments.json", "winoground/tag_assignments.json")
"""The later tags (https://github.com/ajd12342/why-winoground-hard), under their first and their usual name."""

_Row = tuple[Record, tuple[LazyImage, LazyImage]]


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the task, if it is wanted and a data folder holds the release.

    A case is (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1), with the truths
    (True, False, False, True). Its id is the row's; an image's key is ``ex_<id>_img_<0 or 1>`` in either format. It is
    not checked that the two captions have the same words: in 21 of the 400 pairs they do not.

    The slices are ``collapsed_tag=Object``, ``tag=...`` and ``num_main_preds=1`` (section 3.1, Table 4). For the
    visual tags, ``secondary_tag=Symbolic`` holds the rows with just this tag, from which Table 5 is computed, and
    ``secondary_tag:Symbolic=yes`` all rows with this tag. If a data folder has the file of tags of Diwan et al. 2022,
    "Why is Winoground Hard?", there are also ``diwan:Complex Reasoning=yes``, ..., and ``diwan:none=yes``.

    Raises: DataError, which names the file and row, if the release is in two places, a file cannot be read, a field
    is missing or of the wrong type, a caption is blank, an id is repeated, or an image's name does not fit its row.
    """
    if not options.wanted("winoground/all"):
        return
    hub = [dataset_folder(HUB, ["data/*.parquet"])] if "winoground_hub" in options.protocols else []
    places = [folder / name for folder in options.folders for name in FOLDERS] + [place / "data" for place in hub]
    release = table_files(places, ("examples.jsonl", "*.parquet"))
    if not release:
        return
    rows = _lines(release[0], options.folders) if release[0].suffix == ".jsonl" else _shards(release)
    cases = tuple(_cases(rows, _later_tags(options.folders)))
    yield Task(id="winoground/all", capability="compositional", shape="quad", cases=cases)


def tags(record: Record) -> dict[str, str]:
    """Return the slices that a row's fields put it into; a field that is missing, null or empty gives no slice."""
    found = {name: record.text(name) for name in ("collapsed_tag", "tag", "secondary_tag") if record.fields.get(name)}
    if record.fields.get("num_main_preds") is not None:
        found["num_main_preds"] = str(record.count("num_main_preds"))
    names = found.get("secondary_tag", "").split(",")
    return found | {f"secondary_tag:{name.strip()}": "yes" for name in names if name.strip()}


def _cases(rows: Iterable[_Row], later: Mapping[str, tuple[str, ...]]) -> Iterator[Case]:
    taken = set()
    for record, images in rows:
        name = str(record.count("id"))
        if name in taken:
            raise record.error(f"id {name} is repeated")
        if later and name not in later:
            raise record.error(f"id {name} has no entry in the file of tags ({' or '.join(TAGS)})")
        taken.add(name)
        captions = record.text("caption_0"), record.text("caption_1")
        yield Case(
            id=name,
            requests=quad_requests(images, captions),
            truths=QUAD_TRUTHS,
            tags=tags(record) | {f"diwan:{tag}": "yes" for tag in later.get(name, ())},
            origin=f"{record.file.name}, record {record.id}",
        )


def _keys(record: Record) -> tuple[str, str]:
    number = record.count("id")
    return f"ex_{number}_img_0", f"ex_{number}_img_1"


def _lines(file: Path, folders: Sequence[Path]) -> Iterator[_Row]:
    finder = ImageFinder(folders)
    packed = only_file(folders, *(f"{place}/images.zip" for place in FOLDERS))
    members = {} if packed is None else zip_members(packed)

    def image(record: Record, field: str, key: str) -> LazyImage:
        """Return the image that a row names in ``field``."""
        name = record.text(field)
        if stem(name) != key or "/" in name:
            record.reject(field, f"{key!r}, the name of the row's image")
        found = finder.find("winoground", key, file=record.file, record=record.id)
        return found if found.where or packed is None or key not in members else zip_image(key, packed, members[key])

    for record in lined_records(file):
        first, second = _keys(record)
        yield record, (image(record, "image_0", first), image(record, "image_1", second))


def _shards(files: Iterable[Path]) -> Iterator[_Row]:
    for row in table_rows(files, ("image_0", "image_1")):
        first, second = _keys(row.record)
        yield row.record, (row.image(first, "image_0"), row.image(second, "image_1"))


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
