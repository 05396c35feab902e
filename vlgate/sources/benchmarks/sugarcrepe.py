"""SugarCrepe: captions and fluent, plausible negatives that add, replace or swap an object, attribute or relation.

Hsieh et al. 2023, "SugarCrepe: Fixing Hackable Benchmarks for Vision-Language Compositionality". The files are read as
the authors release them (https://github.com/RAIVNLab/sugar-crepe, ``data/``), or as Parquet files of the Hugging Face
hub, ``HuggingFaceM4/SugarCrepe_<kind>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder, coco_id
from vlgate.sources.reading.records import Record, each, keyed_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.tables import Row, class_names, table_files, table_rows
from vlgate.sources.reading.text_files import collector_paused
from vlgate.types import Case, LazyImage, Match, Shape, Task

KINDS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
"""The seven kinds of negatives; each is a file of the release."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"sugarcrepe/{kind}": "pair" for kind in KINDS})
"""The shape of each task, by id."""


HUB = "HuggingFaceM4/SugarCrepe_<kind>"
FIRST = "the file does not name the classes of true_label: the first of tested_labels is the caption, as in the release"
_COLUMNS = f"take the Parquet files of {HUB}, or <kind>.json of https://github.com/RAIVNLab/sugar-crepe"


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``sugarcrepe/data/<kind>.json`` or without ``data``.

    A case is (image, caption), (image, negative caption), in the order of the file, which has all items of the
    kind; its id is the item's key in the file. The images are COCO's (val2017).

    The Parquet files of ``HuggingFaceM4/SugarCrepe_<kind>`` are read from a folder with the kind in its name, such as
    ``sugarcrepe/SugarCrepe_<kind>/data``, or as ``sugarcrepe/<kind>.parquet``. Their images are inside; the id of a
    case is the number of its row, from 0.
    """
    for kind in filter(lambda kind: options.wanted(f"sugarcrepe/{kind}"), KINDS):
        file = only_file(options.folders, f"sugarcrepe/data/{kind}.json", f"sugarcrepe/{kind}.json")
        tables = _tables(options.folders, kind)
        if file is not None and tables:
            raise DataError(file, None, f"has the cases of {kind}, and so has {tables[0]}", "keep one of them")
        if file is not None:
            with collector_paused():
                cases = tuple(each(partial(_case, finder=options.images), keyed_records(file)))
            yield Task(id=f"sugarcrepe/{kind}", capability="foil", shape="pair", cases=cases)
        elif tables:
            yield _table_task(kind, tables)


def _case(record: Record, finder: ImageFinder) -> Case:
    image = finder.find("coco", record.text("filename"), file=record.file, record=record.id)
    return _pair(record, record.id, image, record.text("caption"), record.text("negative_caption"))


def _pair(record: Record, name: str, image: LazyImage, caption: str, foil: str) -> Case:
    return Case(
        id=name,
        requests=(Match(image=image, text=caption), Match(image=image, text=foil)),
        truths=(True, False),
        origin=f"{record.file.name}, record {record.id}",
    )


def _tables(folders: Sequence[Path], kind: str) -> list[Path]:
    """The Parquet files of a kind, whose name is in that of the file or of its folder."""
    tops = [folder / "sugarcrepe" for folder in folders]
    named = [place for top in tops for place in sorted(top.glob(f"*{kind}")) if place.is_dir()]
    named += [folder / f"SugarCrepe_{kind}" for folder in folders]
    flat = table_files([top / part for top in tops for part in ("", "data")], (f"*{kind}*.parquet",))
    inside = table_files([place / part for place in named for part in ("", "data")], ("*.parquet",))
    if flat and inside:
        raise DataError(flat[0], None, f"has the cases of {kind}, and so has {inside[0]}", "keep one of them")
    return flat or inside


def _table_task(kind: str, tables: Sequence[Path]) -> Task:
    rows = list(table_rows(tables, ("image",), _COLUMNS))
    names = {table: class_names(table, "true_label") for table in tables}
    bare = [row.record.fields.get("true_label") for row in rows if not names[row.record.file]]
    numbers = [label for label in bare if type(label) is int]
    positions = bool(numbers) and max(numbers) < 2  # in tested_labels: as classes, each caption has a number of its own

    def true(record: Record, texts: Sequence[str]) -> str:
        label = record.fields.get("true_label")
        if type(label) is str:
            return label
        known = names[record.file] or (texts if positions else ())
        place = record.count("true_label")
        return texts[0] if not known else known[place] if place < len(known) else ""

    def case(row: Row) -> Case:
        texts = row.record.texts("tested_labels", 2)
        caption = true(row.record, texts)
        if caption not in texts:
            row.record.reject("true_label", "one of tested_labels")
        given = row.paths.get("image", "").rpartition("/")[2]
        key = given if type(coco_id(given)) is int else f"sugarcrepe_{kind}_{row.number}"
        foil = texts[1 - texts.index(caption)]
        return _pair(row.record, str(row.number), row.image(key, "image"), caption, foil)

    note = FIRST if numbers and not positions else ""
    return Task(id=f"sugarcrepe/{kind}", capability="foil", shape="pair", cases=tuple(each(case, rows)), note=note)
