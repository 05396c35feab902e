"""The files of a user's own cases in data folders, and the records in them: JSON lines, JSON, CSV and TSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError, short
from vlgate.sources.reading.records import Record, celled_records, keyed_records, lined_records, listed_records
from vlgate.sources.reading.text_files import read_text

REMEDY = (
    'write a line such as {"task": "mine/spatial", "image": "1.jpg", "caption": "a dog left of a cat", '
    '"foil": "a cat left of a dog"}'
)
"""The remedy of an error in a line whose kind of case is not known."""
SUFFIXES = ("jsonl", "ndjson", "json", "csv", "tsv")
"""The ends of the names of the files that are read, ``cases`` or any name in the folder ``cases``."""
_TABLE = "save the table as CSV in UTF-8, with a first line such as task,image,caption,foil"
_UNREAD: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("xlsx", "xls", "ods", "numbers", "parquet", "arrow"), "csv"),
        **dict.fromkeys(("yaml", "yml", "toml", "txt", "jsonl.gz", "json.gz", "jsonl.zip"), "jsonl"),
    }
)
"""The ends of files of cases as others write them, which are not read, and the form to save them in."""
_JSON: Mapping[str, str] = MappingProxyType(
    {
        "tags": '{"colour": "red"}',
        "box": "[10, 20, 30, 40]",
        "named": "[[10, 20, 30, 40]]",
        "answers": '[["yes", "no"], ["no", "yes"]]',
        **dict.fromkeys(("images", "other_images"), '["1.jpg", "2.jpg"]'),
        **dict.fromkeys(("foils", "captions", "questions", "choices", "true"), '["a cat", "a dog"]'),
    }
)
"""The fields whose cells hold JSON, with an example."""
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NAMES = ("task", "id", "image", "twin", "perturbed_image", "kind")


def own_files(folders: Sequence[Path]) -> dict[Path, tuple[Path, ...]]:
    """Return the user's files, each once, with the data folders that hold it."""
    files: dict[Path, list[tuple[Path, Path]]] = {}
    for folder in folders:
        for file in (*(folder / f"cases.{end}" for end in SUFFIXES), *_inside(folder / "cases")):
            if file.exists():
                files.setdefault(file.resolve(), []).append((file, folder))
        for end, form in _UNREAD.items():
            for file in (folder / f"cases.{end}", *folder.glob(f"cases/*.{end}")):
                if file.is_file():
                    raise DataError(file, None, "is not read", f"save it as cases.{form}, or rename it")
    return {places[0][0]: tuple(folder for _, folder in places) for places in files.values()}


def _inside(folder: Path) -> list[Path]:
    return [file for end in SUFFIXES for file in sorted(folder.glob(f"*.{end}"))]


def own_records(file: Path) -> Iterator[Record]:
    """Yield the records of a user's file.

    A JSON file is a list of records, an object ``{id: record}``, or JSON lines. In a table, the cells of lists, boxes
    and tags hold JSON; a column ``tags.colour`` is the tag ``colour``.
    """
    if file.suffix in {".csv", ".tsv"}:
        yield from map(_of_cells, celled_records(file, "task", _TABLE))
        return
    text = read_text(file, REMEDY).lstrip()
    if text.startswith("["):
        yield from listed_records(file, REMEDY)
    elif file.suffix == ".json" and _is_one_object(text):
        for record in keyed_records(file, REMEDY):
            yield record if "id" in record.fields else replace(record, fields={"id": record.id, **record.fields})
    else:
        yield from lined_records(file, REMEDY)


def _is_one_object(text: str) -> bool:
    """Whether a text is one object of records, and not JSON lines, one of which may be all."""
    try:
        content, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return True  # reading it says what is wrong
    return type(content) is dict and not text[end:].strip() and type(content.get("task")) is not str


def _of_cells(record: Record) -> Record:
    """A record whose cells are read as the fields of a line."""
    fields: dict[str, Any] = {}
    tags: dict[str, str] = {}
    for name, cell in record.fields.items():
        plain = cell.strip()
        if name.startswith("tags."):
            tags[name.removeprefix("tags.")] = cell
        elif name in _JSON or (name == "false" and plain.startswith("[")):
            fields[name] = _parsed(record, name, plain)
        elif name == "is_true":
            fields[name] = _TRUTHS.get(plain.lower(), cell)
        else:
            fields[name] = plain if name in _NAMES else cell
    if tags and type(fields.get("tags", {})) is dict:
        fields["tags"] = fields.get("tags", {}) | tags
    return replace(record, fields=fields, remedy=REMEDY)


def _parsed(record: Record, name: str, cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        problem = f"column {name!r} holds {short(cell)!r}, expected JSON"
        raise record.error(problem, f"write for example {_JSON.get(name, _JSON['true'])}") from None
