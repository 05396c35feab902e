"""Two images and a caption of each: Winoground, ColorSwap, COLA, BiVLC, VisMin.

A case is (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from vlgate.errors import DataError
from vlgate.sources.reading import source, tables
from vlgate.sources.reading.image_finder import is_plain, stem
from vlgate.sources.reading.packed import ZipLoad, zip_members
from vlgate.sources.reading.records import Record, each, lined_records, listed_records
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json
from vlgate.types import Case, LazyImage, Task

# Winoground (Thrush et al. 2022, https://huggingface.co/datasets/facebook/winoground): two captions that have the same
# words in a different order, which is not checked: in 21 of the 400 pairs they do not. A case's id is the row's, or the
# number of the row if a Parquet file has no ids; an image's key is ``ex_<id>_img_<0 or 1>`` in either format.
#
# For the visual tags, ``secondary_tag=Symbolic`` holds the rows with just this tag, from which Table 5 is computed, and
# ``secondary_tag:Symbolic=yes`` all rows with this tag. With the file of tags of Diwan et al. 2022, "Why is Winoground
# Hard?", there are also ``diwan:Complex Reasoning=yes``, ..., and ``diwan:none=yes``.

_WINOGROUND = source.TaskRow(id="winoground/all", shape="quad", capability="compositional", images="winoground")
_HUB = "facebook/winoground"
_FOLDERS = ("winoground/data", "winoground")
# The later tags (https://github.com/ajd12342/why-winoground-hard), under their first and their usual name.
TAGS = ("winoground/new_tag_assignments.json", "winoground/tag_assignments.json")
NO_IDS = "the file has no ids: the id of a case is the number of its row, from 0"
_IMAGES = ("image_0", "image_1")


def _winoground(options: source.ReadOptions) -> Iterator[Task]:
    if not options.wanted(_WINOGROUND.id):
        return
    hub = [tables.dataset_folder(_HUB, ["data/*.parquet"])] if "winoground_hub" in options.protocols else []
    places = [folder / name for folder in options.folders for name in _FOLDERS] + [place / "data" for place in hub]
    release = tables.table_files(places, ("examples.jsonl", "*.parquet"))
    if not release:
        return
    lines = release[0].suffix == ".jsonl"
    rows = _lines(release[0], options) if lines else _shards(release, options)
    note = "" if lines or all("id" in tables.column_names(file) for file in release) else NO_IDS
    later = _later_tags(options.folders)
    yield _WINOGROUND.task(source.distinct(partial(_winoground_case, later=later), rows), note=note)


def _winoground_case(row: source.Pictured, later: Mapping[str, tuple[str, ...]]) -> Case:
    record, name = row.record, str(row.record.count("id"))
    if later and name not in later:
        raise record.error(f"id {name} has no entry in the file of tags ({' or '.join(TAGS)})")
    # A field that is missing, null or empty gives no slice.
    tags = {
        field: record.text(field) for field in ("collapsed_tag", "tag", "secondary_tag") if record.fields.get(field)
    }
    if record.fields.get("num_main_preds") is not None:
        tags["num_main_preds"] = str(record.count("num_main_preds"))
    visual = filter(None, map(str.strip, tags.get("secondary_tag", "").split(",")))
    tags |= {f"secondary_tag:{tag}": "yes" for tag in visual} | {f"diwan:{tag}": "yes" for tag in later.get(name, ())}
    return row.quad(("caption_0", "caption_1"), name, tags)


def _keys(record: Record) -> tuple[str, str]:
    number = record.count("id")
    return f"ex_{number}_img_0", f"ex_{number}_img_1"


def _unpacked_or_zipped(options: source.ReadOptions) -> source.Find:
    find = options.find(_WINOGROUND.images)
    packed = source.only_file(options.folders, *(f"{folder}/images.zip" for folder in _FOLDERS))
    members = {} if packed is None else zip_members(packed)

    def image(record: Record, key: str) -> LazyImage:
        in_folder = find(record, key)
        zipped = not in_folder.where and packed is not None and key in members
        if not zipped or packed is None:
            return in_folder
        return LazyImage(key=key, load=ZipLoad(str(packed), members[key], key), where=f"{packed}/{members[key]}")

    return image


def _lines(file: Path, options: source.ReadOptions) -> Iterator[source.Pictured]:
    find = _unpacked_or_zipped(options)

    def row(record: Record) -> source.Pictured:
        keys = _keys(record)
        for field, key in zip(_IMAGES, keys, strict=True):
            name = record.text(field)
            if stem(name) != key or "/" in name:
                record.reject(field, f"{key!r}, the name of the row's image")
        return source.Pictured(record=record, images=tuple(find(record, key) for key in keys))

    return each(row, lined_records(file))


def _shards(files: Sequence[Path], options: source.ReadOptions) -> Iterator[source.Pictured]:
    # Called only if an image is not in its table.
    finder: Callable[[], source.Find] = cache(lambda: _unpacked_or_zipped(options))

    def pair(row: tables.Row) -> source.Pictured:
        fields = row.record.fields
        record = replace(row.record, fields=fields if "id" in fields else {"id": row.number, **fields})
        images = []
        for column, key in zip(_IMAGES, _keys(record), strict=True):
            beside = finder()(row.record, key) if column in row.outside else None
            images.append(beside if beside is not None and beside.where else row.image(key, column))
        return source.Pictured(record=record, images=tuple(images))

    return each(pair, tables.table_rows(files, _IMAGES, f"take the Parquet files of {_HUB}"))


def _later_tags(folders: Iterable[Path]) -> dict[str, tuple[str, ...]]:
    file = source.only_file(folders, *TAGS)
    if file is None:
        return {}
    content = read_json(file)
    if type(content) is not dict:
        raise DataError(file, None, "expected an object {id: [tag]}", FETCH_AGAIN)
    for name, tags in content.items():
        if type(tags) is not list or any(type(tag) is not str for tag in tags):
            raise DataError(file, name, "expected a list of tags", FETCH_AGAIN)
    return {name: tuple(tags) or ("none",) for name, tags in content.items()}


WINOGROUND = source.Source(
    read=_winoground,
    shapes=source.shapes_of([_WINOGROUND]),
    take="data/examples.jsonl with images.zip, or the Parquet files, of facebook/winoground",
)

# ColorSwap (Burapacheep et al. 2024, https://github.com/Top34051/colorswap): two captions that swap colours between two
# things. The published figures are those of the test split, in 15 of whose 300 pairs the words differ a little.

_COLORSWAP_HUB = "stanfordnlp/colorswap"
_COLORSWAP_IMAGES = ("image_1", "image_2")
_COLORSWAP = source.task_rows(
    "colorswap/{}",
    ("test", "train"),
    "colorswap/data/{}.json colorswap/{}.json",
    shape="quad",
    capability="compositional",
    images="colorswap",
)


def _colorswap(options: source.ReadOptions) -> Iterator[Task]:
    for split, row in _COLORSWAP.items():
        if not options.wanted(row.id):
            continue
        file = row.file(options)
        files = tables.release_files(options, "colorswap", _COLORSWAP_HUB, (f"{split}*.parquet",))
        tables.refuse_both(file, files)
        if file is not None:
            given = each(partial(_with_files, find=options.find(row.images)), listed_records(file))
        elif files:
            remedy = f"take the Parquet files of {_COLORSWAP_HUB}"
            given = each(_with_columns, tables.table_rows(files, _COLORSWAP_IMAGES, remedy))
        else:
            continue
        yield row.task(source.distinct(_colours, given))


def _with_files(record: Record, find: source.Find) -> source.Pictured:
    names = []
    for field in _COLORSWAP_IMAGES:
        name = record.text(field)
        if not is_plain(name):
            record.reject(field, "a relative path such as 'images/img_0_1.png'")
        names.append(name.rpartition("/")[2])  # the release writes the folder, too
    return source.Pictured(record=record, images=tuple(find(record, name) for name in names))


def _with_columns(row: tables.Row) -> source.Pictured:
    number = row.record.count("id")
    images = (row.image(f"img_{number}_{which}.png", field) for which, field in enumerate(_COLORSWAP_IMAGES, 1))
    return source.Pictured(record=row.record, images=tuple(images))


def _colours(given: source.Pictured) -> Case:
    record = given.record
    tags = {name: record.text(name) for name in ("image_source", "caption_source") if record.fields.get(name)}
    return given.quad(("caption_1", "caption_2"), str(record.count("id")), tags)


COLORSWAP = source.Source(
    read=_colorswap,
    shapes=source.shapes_of(_COLORSWAP.values()),
    take="data/test.json and data/train.json of https://github.com/Top34051/colorswap, or test*.parquet and "
    "train*.parquet of stanfordnlp/colorswap",
)

# COLA, multi-object (Ray et al. 2023, https://github.com/arijitray1993/COLA): two captions that bind the same
# attributes to other things. The paper gives the image score only. The images are those of Visual Genome.

_COLA_FILE = "COLA_multiobjects_matching_benchmark.json"
_COLA_FIELDS = ("image 1", "caption 1", "image 2", "caption 2")


def _cola(record: Record, find: source.Find) -> Case:
    images = tuple(find(record, record.text(field).rpartition("/")[2]) for field in ("image 1", "image 2"))
    return source.Pictured(record=record, images=images).quad(("caption 1", "caption 2"))


COLA = source.of_files(
    source.task_rows(
        "cola/{}",
        ("multi-object",),
        f"cola/data/{_COLA_FILE} cola/{_COLA_FILE}",
        shape="image_quad",
        capability="compositional",
        images="gqa",
    ).values(),
    lambda _, file, find: each(partial(_cola, find=find), listed_records(file, fields=_COLA_FIELDS)),
    take=f"data/{_COLA_FILE} of https://github.com/arijitray1993/COLA",
)

# BiVLC (Miranda et al. 2024, https://github.com/IMirandaM/BiVLC): SugarCrepe's captions and negatives, and a generated
# image for each negative. A case's id is the number of the row. I2T, T2I and group are ``text``, ``image``, ``group``.

_BIVLC_HUB = "imirandam/BiVLC"
_BIVLC = source.task_rows("bivlc/{}", ("replace", "swap", "add"), shape="quad", capability="compositional")
_GENERATED = "the second image of each case was made by a generator, so a model that tells such images is helped"


def _bivlc(options: source.ReadOptions) -> Iterator[Task]:
    files = tables.release_files(options, "bivlc", _BIVLC_HUB) if options.wants(_BIVLC) else []
    rows = tables.table_rows(files, ("image", "negative_image"), f"take the Parquet files of {_BIVLC_HUB}")
    yield from tables.tasks_by_kind(rows, "type", _bivlc_case, _BIVLC, options.wanted, _GENERATED)


def _bivlc_case(row: tables.Row) -> Case:
    name = str(row.number)
    images = row.image(f"bivlc_{name}_0", "image"), row.image(f"bivlc_{name}_1", "negative_image")
    tags = {"subtype": row.record.text("subtype")}
    return source.Pictured(record=row.record, images=images).quad(("caption", "negative_caption"), name, tags)


BIVLC = source.Source(
    read=_bivlc, shapes=source.shapes_of(_BIVLC.values()), take="the Parquet files of imirandam/BiVLC"
)

# VisMin (Awal et al. 2024, https://github.com/rabiulcste/vismin): two images that differ in one object, attribute,
# number or relation. A case's id is the row's ``id``, or the number of the row if that is missing.

_VISMIN_HUB = "mair-lab/vismin-bench"
_VISMIN = source.task_rows(
    "vismin/{}", ("object", "attribute", "counting", "relation"), shape="quad", capability="compositional"
)


def _vismin(options: source.ReadOptions) -> Iterator[Task]:
    files = tables.release_files(options, "vismin", _VISMIN_HUB) if options.wants(_VISMIN) else []
    rows = tables.table_rows(files, _IMAGES, f"take the files of {_VISMIN_HUB}")
    yield from tables.tasks_by_kind(rows, "category", _vismin_case, _VISMIN, options.wanted)


def _vismin_case(row: tables.Row) -> Case:
    given = row.record.fields.get("id")
    name = str(row.number if given is None else given)
    images = tuple(row.image(f"vismin_{name}_{which}", column) for which, column in enumerate(_IMAGES))
    return source.Pictured(record=row.record, images=images).quad(("text_0", "text_1"), name)


VISMIN = source.Source(
    read=_vismin, shapes=source.shapes_of(_VISMIN.values()), take="the Parquet or Arrow files of mair-lab/vismin-bench"
)
