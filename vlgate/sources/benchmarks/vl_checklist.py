"""VL-CheckList: texts in which one object, attribute or relation was replaced, from Visual Genome, VAW, SWiG and HAKE.

Zhao et al. 2022, "VL-CheckList: Evaluating Pre-trained Vision-Language Models with Objects, Attributes and Relations".
The files are read as the authors release them (https://github.com/om-ai-lab/VL-CheckList). Each file
``corpus/v1/**.yaml`` names the JSON file of one task and the folder of its images.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vlgate.errors import DataError, nearest
from vlgate.sources.reading.image_finder import is_plain
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import Find, ReadOptions, Source, TaskRow, only_file, texts_about
from vlgate.sources.reading.text_files import FETCH_AGAIN, is_there, read_json, read_text
from vlgate.types import Case, Task, images_of

PAPER = "vlchecklist_paper"  # the protocol

# The reasons for leaving out pairs under that protocol, which takes the first 1,000 items with their first text, as the
# released code does, which fits the printed tables. With ``missing_images`` ``skip``, items whose image is missing go
# before the 1,000 are taken, as in the released code; but if a file has none of its images, they are taken all the
# same, because replies made elsewhere need no images. An item without its image, or beyond the first 1,000, counts as
# one pair; its further texts are counted as ``FURTHER``.
BEYOND = "beyond the first 1,000 items (vlchecklist_paper)"
FURTHER = "a further text of an item (vlchecklist_paper)"
MISSING = "an item without its image (vlchecklist_paper)"
_ITEMS = 1000
_ROOT = "vl-checklist"
_OBJECTS = ("hake", "swig_agent", "swig_destination", "swig_item", "swig_tool", "vg_obj", "vg_subj")
_VG = ("vaw", "vg")
_PARTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((f"Object/Location/{part}" for part in ("center", "mid", "margin")), _OBJECTS),
    **dict.fromkeys((f"Object/Size/{part}" for part in ("large", "medium", "small")), _OBJECTS),
    **dict.fromkeys((f"Attribute/{part}" for part in ("action", "color", "material", "size", "state")), _VG),
    "Relation/action": ("hake", "swig", "vg"),
    "Relation/spatial": ("vg",),
}
# The 56 tasks by id (section 3.1, Figure 2), each with its file below ``corpus/v1/``.
CORPUS: Mapping[str, str] = {
    f"{_ROOT}/{part}/{name}".lower(): f"{part}/{name}.yaml" for part, names in _PARTS.items() for name in names
}

_KEYS = ("ANNO_PATH", "IMG_ROOT", "TYPE")
_LINE = re.compile(r"""(?P<key>\w+)\s*:\s*(?P<quote>["']?)(?P<value>[^"'#]*?)(?P=quote)\s*(?:\#.*)?""")
_IMAGES = ("hake", "swig", "vg")

# A case is (image, POS text), (image, NEG text): the i-th texts of the item at position n, both counted from 0; its id
# is ``n-i``. A task is skipped if there is no JSON file ``ANNO_PATH``, as its YAML file names it.


def _read(options: ReadOptions) -> Iterator[Task]:
    for task in filter(options.wanted, CORPUS):
        config = only_file(options.folders, f"{_ROOT}/corpus/v1/{CORPUS[task]}")
        if config is None:
            continue
        values = parse_config(config)
        path, images = values["ANNO_PATH"], values["IMG_ROOT"].rstrip("/").rpartition("/")[2]
        if not is_plain(path):
            expected = f"ANNO_PATH is {path!r}, expected a relative path without '..'"
            raise DataError(config, None, expected, FETCH_AGAIN)
        if images not in _IMAGES:
            expected = f"IMG_ROOT is {values['IMG_ROOT']!r}, expected a folder hake/, swig/ or vg/"
            raise DataError(config, None, expected, "name one, and put the images into images/ of the data folder")
        file = config.parents[CORPUS[task].count("/") + 2] / path
        try:
            exists = is_there(file)
        except DataError as error:  # a link to no file, or a name of more than 255 characters
            raise DataError(config, None, f"ANNO_PATH {path}: {error.expected}", error.remedy) from None
        if exists:
            row = TaskRow(id=task, shape="pair", capability="foil")
            whole = row.task(_cases(file, path.removeprefix("data/"), options.find(images)))
            yield _as_the_paper(whole, options.missing_images) if PAPER in options.protocols else whole


def parse_config(file: Path) -> dict[str, str]:
    """Read one of the release's YAML files: three lines ``KEY: "value"``, with blank lines and comments between."""
    values: dict[str, str] = {}
    for number, line in enumerate(read_text(file, FETCH_AGAIN).splitlines(), 1):
        if not (plain := line.strip()) or plain.startswith("#"):
            continue
        match = _LINE.fullmatch(plain)
        if match is None or not match["value"]:
            raise DataError(file, f"on line {number}", f'reads {plain!r}, expected KEY: "value"', FETCH_AGAIN)
        if match["key"] not in _KEYS or match["key"] in values:
            problem = "is repeated" if match["key"] in values else f"is unknown; {nearest(match['key'], _KEYS)}"
            raise DataError(file, f"on line {number}", f"key {match['key']!r} {problem}", FETCH_AGAIN)
        values[match["key"]] = match["value"].strip()
    missing = [key for key in _KEYS if key not in values]
    if missing:
        raise DataError(file, None, f"key {missing[0]!r} is missing", FETCH_AGAIN)
    if values["TYPE"] != "TUPLE_JSON":
        raise DataError(file, None, f"TYPE is {values['TYPE']!r}, expected 'TUPLE_JSON'", FETCH_AGAIN)
    return values


def _as_the_paper(task: Task, missing_images: str) -> Task:
    first = [case for case in task.cases if case.id.endswith("-0")]
    there = [case for case in first if all(image.where for image in images_of(case.requests[0]))]
    kept = (there if missing_images == "skip" else []) or first
    counts = {
        MISSING: len(first) - len(kept),
        BEYOND: max(0, len(kept) - _ITEMS),
        FURTHER: len(task.cases) - len(first),
    }
    left_out = {reason: number for reason, number in counts.items() if number}
    return replace(task, cases=tuple(kept[:_ITEMS]), left_out=left_out)


def _cases(file: Path, name: str, find: Find) -> Iterator[Case]:
    items = read_json(file)
    if type(items) is not list:
        raise DataError(file, None, "expected a list of items", FETCH_AGAIN)

    def cases(numbered: tuple[int, Any]) -> list[Case]:
        number, item = numbered
        if type(item) is not list or len(item) != 2 or type(item[1]) is not dict:
            expected = 'expected a list of an image\'s name and {"POS": [texts], "NEG": [texts]}'
            raise DataError(file, str(number), expected, FETCH_AGAIN)
        record = Record(file, str(number), item[1])
        positive, negative = _texts(record, "POS"), _texts(record, "NEG")
        if len(positive) != len(negative):
            counts = f"{len(positive)} POS and {len(negative)} NEG texts"
            raise record.error(f"has {counts}, expected the same number of both")
        image, origin, truths = find(record, item[0]), f"{name}, item {number}", (True, False)
        asked = [texts_about(image, texts) for texts in zip(positive, negative, strict=True)]
        return [
            Case(id=f"{number}-{index}", requests=requests, truths=truths, file=origin)
            for index, requests in enumerate(asked)
        ]

    for made in each(cases, enumerate(items)):
        yield from made


def _texts(record: Record, side: str) -> list[str]:
    listed = record.fields.get(side)
    if type(listed) is not list or not listed:
        record.reject(side, "a list of texts")
    return [Record(record.file, record.id, {side: text}).text(side) for text in listed]


VL_CHECKLIST = Source(
    read=_read,
    shapes=dict.fromkeys(CORPUS, "pair"),
    take="the folders corpus/v1 and data of https://github.com/om-ai-lab/VL-CheckList",
)
