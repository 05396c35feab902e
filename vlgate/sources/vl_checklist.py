"""VL-CheckList: texts in which one object, attribute or relation was replaced, from Visual Genome, VAW, SWiG and HAKE.

Zhao et al. 2022, "VL-CheckList: Evaluating Pre-trained Vision-Language Models with Objects, Attributes and Relations".
The files are read as the authors release them (https://github.com/om-ai-lab/VL-CheckList): ``corpus/v1/**.yaml``, each
of which names the JSON file of one table and the folder of its pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError, nearest
from vlgate.sources.images import PictureFinder, finder_of, is_plain
from vlgate.sources.json_file import FETCH_AGAIN, collector_paused, read_json
from vlgate.sources.places import only_file
from vlgate.sources.records import Record
from vlgate.types import Case, Match, Reading, Shape, Table

PAPER = "vlchecklist_paper"
"""The protocol that takes of each file the first 1,000 items, and of an item the first text."""

BEYOND = "beyond the first 1,000 items (vlchecklist_paper)"
FURTHER = "a further text of an item (vlchecklist_paper)"
"""Why pairs are left out under that protocol; items beyond the first 1,000 are counted with the first text only."""

_ITEMS = 1000
_ROOT = "vl-checklist"
_OBJECTS = ("hake", "swig_agent", "swig_destination", "swig_item", "swig_tool", "vg_obj", "vg_subj")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "Object/Location/center": _OBJECTS,
    "Object/Location/mid": _OBJECTS,
    "Object/Location/margin": _OBJECTS,
    "Object/Size/large": _OBJECTS,
    "Object/Size/medium": _OBJECTS,
    "Object/Size/small": _OBJECTS,
    "Attribute/action": ("vaw", "vg"),
    "Attribute/color": ("vaw", "vg"),
    "Attribute/material": ("vaw", "vg"),
    "Attribute/size": ("vaw", "vg"),
    "Attribute/state": ("vaw", "vg"),
    "Relation/action": ("hake", "swig", "vg"),
    "Relation/spatial": ("vg",),
}
CORPUS: Mapping[str, str] = MappingProxyType(
    {f"{_ROOT}/{part}/{name}".lower(): f"{part}/{name}.yaml" for part, names in _PARTS.items() for name in names}
)
"""The 56 tables by id (section 3.1, Figure 2), each with its file below ``corpus/v1/``."""

SHAPES: Mapping[str, Shape] = MappingProxyType(dict.fromkeys(CORPUS, "pair"))
"""The shape of each table, by id."""

_KEYS = ("ANNO_PATH", "IMG_ROOT", "TYPE")
_LINE = re.compile(r"""(?P<key>\w+)\s*:\s*(?P<quote>["']?)(?P<value>[^"'#]*?)(?P=quote)\s*(?:\#.*)?""")
_PICTURES = ("hake", "swig", "vg")


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables whose YAML file is in a data folder, below ``vl-checklist/corpus/v1/``.

    Nothing is yielded where the JSON file that it names, ``ANNO_PATH`` below ``vl-checklist/``, is not there. A case
    is (picture, POS text), (picture, NEG text): of the item at position n, counted from 0, the i-th text of either
    list, with the id ``n-i``. The pictures are in ``images/vg``, ``swig`` or ``hake``, as ``IMG_ROOT`` says.
    All items and texts are taken; under the protocol ``vlchecklist_paper`` the first 1,000 items with their first text,
    which is what the released code scores and the printed tables fit, and the others are counted in ``left_out``.

    Raises: DataError, which names the file and item, for a file in two places, one that cannot be read, a missing or
    unknown key, an item that is no path with as many POS as NEG texts, a blank text, or a picture's name or
    ``ANNO_PATH`` that is no plain relative path.
    """
    finder = finder_of(reading)
    for table in filter(reading.wanted, CORPUS):
        config = only_file(reading.folders, f"{_ROOT}/corpus/v1/{CORPUS[table]}")
        corpus = None if config is None else _Corpus(config, CORPUS[table])
        if corpus is not None and corpus.file.exists():
            yield _table(table, corpus, finder, paper=PAPER in reading.protocols)


class _Corpus:
    """What one YAML file says: the JSON file of its items, how errors name it, and the source of its pictures."""

    def __init__(self, config: Path, place: str) -> None:
        values = parse_config(config)
        path = values["ANNO_PATH"]
        if not is_plain(path):
            expected = f"ANNO_PATH is {path!r} where a relative path without '..' was expected"
            raise DataError(config, None, expected, FETCH_AGAIN)
        self.file = config.parents[place.count("/") + 2] / path
        self.name = path.removeprefix("data/")
        self.pictures = values["IMG_ROOT"].rstrip("/").rpartition("/")[2]
        if self.pictures not in _PICTURES:
            expected = f"IMG_ROOT is {values['IMG_ROOT']!r} where a folder hake/, swig/ or vg/ was expected"
            raise DataError(config, None, expected, "name it so, and put the pictures into images/ of the data folder")


def parse_config(file: Path) -> dict[str, str]:
    """Read one of the release's YAML files: three lines ``KEY: "value"``, with blank lines and comments between them.

    Returns: the values of ``ANNO_PATH``, ``IMG_ROOT`` and ``TYPE``, which is ``TUPLE_JSON``.
    Raises: DataError for a file that cannot be read, and for a line, key or type that the release does not have.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(_lines(file), 1):
        if not (plain := line.strip()) or plain.startswith("#"):
            continue
        found = _LINE.fullmatch(plain)
        if found is None or not found["value"]:
            raise DataError(file, f"on line {number}", f'expected KEY: "value", and it reads {plain!r}', FETCH_AGAIN)
        if found["key"] not in _KEYS or found["key"] in values:
            problem = "a second time" if found["key"] in values else f"is not known; {nearest(found['key'], _KEYS)}"
            raise DataError(file, f"on line {number}", f"key {found['key']!r} {problem}", FETCH_AGAIN)
        values[found["key"]] = found["value"].strip()
    missing = [key for key in _KEYS if key not in values]
    if missing:
        raise DataError(file, None, f"key {missing[0]!r} is missing", FETCH_AGAIN)
    if values["TYPE"] != "TUPLE_JSON":
        raise DataError(file, None, f"TYPE is {values['TYPE']!r} where 'TUPLE_JSON' was expected", FETCH_AGAIN)
    return values


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError(file, None, "is not UTF-8", FETCH_AGAIN) from None
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "make it a readable file") from None


def _table(table: str, corpus: _Corpus, finder: PictureFinder, *, paper: bool) -> Table:
    items = read_json(corpus.file)
    if type(items) is not list:
        raise DataError(corpus.file, None, "expected a list of items", FETCH_AGAIN)
    with collector_paused():
        cases = tuple(_cases(items, corpus, finder))
    left_out: dict[str, int] = {}
    if paper:
        cases, left_out = _as_the_paper(cases)
    return Table(id=table, capability="foil", shape="pair", cases=cases, left_out=left_out)


def _as_the_paper(cases: tuple[Case, ...]) -> tuple[tuple[Case, ...], dict[str, int]]:
    first = [case for case in cases if case.id.endswith("-0")]
    counts = {BEYOND: max(0, len(first) - _ITEMS), FURTHER: len(cases) - len(first)}
    return tuple(first[:_ITEMS]), {reason: number for reason, number in counts.items() if number}


def _cases(items: list[Any], corpus: _Corpus, finder: PictureFinder) -> Iterator[Case]:
    tags: Mapping[str, str] = {}
    for number, item in enumerate(items):
        name, pairs = _item(item, number, corpus.file)
        picture = finder.find(corpus.pictures, name, file=corpus.file, record=str(number))
        origin = f"{corpus.name}, item {number}"
        for place, (right, wrong) in enumerate(pairs):
            yield Case(
                id=f"{number}-{place}",
                requests=(Match(picture=picture, text=right), Match(picture=picture, text=wrong)),
                truths=(True, False),
                tags=tags,
                origin=origin,
            )


def _item(item: Any, number: int, file: Path) -> tuple[str, list[tuple[str, str]]]:
    """The picture's name and the pairs of texts of one item."""
    if type(item) is not list or len(item) != 2 or type(item[1]) is not dict:
        expected = 'expected a list of a picture\'s name and {"POS": [texts], "NEG": [texts]}'
        raise DataError(file, str(number), expected, FETCH_AGAIN)
    record = Record(file, str(number), item[1])
    positive, negative = _texts(record, "POS"), _texts(record, "NEG")
    if len(positive) != len(negative):
        raise record.error(
            f"has {len(positive)} POS and {len(negative)} NEG texts where as many of either were expected"
        )
    return item[0], list(zip(positive, negative, strict=True))


def _texts(record: Record, side: str) -> list[str]:
    listed = record.fields.get(side)
    if type(listed) is not list or not listed:
        record.reject(side, "a list of texts")
    return [Record(record.file, record.id, {side: text}).text(side) for text in listed]
