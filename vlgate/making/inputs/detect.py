"""Which input a file holds, told from the keys at its beginning, whatever its name."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Literal

import ijson

from vlgate.errors import DataError
from vlgate.making.inputs.interactions import LINE
from vlgate.making.kinds.kind import InputName

Content = InputName | Literal["space", "list"]
"""An input, imSitu's file of verbs and nouns, which goes with role frames, or HICO's list, with interactions."""

FORMS = (
    'captions (COCO\'s, or lines of {"image", "caption"}), answered questions (Visual7W\'s, or lines of {"image", '
    '"question", "answer"}), dialogs (VisDial\'s, or lines of {"image", "caption", "dialog"}), role frames (SWiG\'s, '
    'or lines of {"image", "verb", "roles"}), interactions (HAKE\'s) or scene graphs'
)
_HEAD = 2**20  # bytes at the beginning that are looked at
_REMEDY = f"name a file of {FORMS}"
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")  # gzip, zip, bzip2, xz
_LIST = re.compile(rf"\A(?:[^\d\n]*\n)*{LINE.pattern}$".encode(), re.MULTILINE)
_BESIDE_IMAGES = {"file_name", "coco_url", "license"}


def content_of(file: Path) -> Content:
    """Return which input a file holds.

    Raises: DataError, which names the file, if it cannot be read or is none of the inputs.
    """
    head = _head(file)
    keys, broken = _keys(head)
    first, below, third = (keys.get(depth, set()) for depth in (1, 2, 3))
    tests: tuple[tuple[Content, bool], ...] = (
        ("dialogs", {"image", "caption", "dialog"} <= first or bool({"dialogs", "questions", "answers"} & below)),
        ("captions", {"image", "caption"} <= first),
        ("answers", {"image", "question"} <= first or ("images" in first and "qa_pairs" in third)),
        ("frames", {"image", "verb", "roles"} <= first or {"verb", "frames"} <= below),
        ("space", {"nouns", "verbs"} & first != set() and bool({"gloss", "abstract", "roles"} & third)),
        ("interactions", "hoi_id" in below or {"labels", "dataset"} <= below),
        ("graphs", bool({"objects", "graphs"} & first) or "objects" in below),
        ("captions", "annotations" in first or ("images" in first and bool(_BESIDE_IMAGES & third))),
    )
    found = next((content for content, holds in tests if holds), None)
    if found is None and _LIST.search(head):
        found = "list"
    if found is None and head.startswith(_PACKED):
        raise DataError(file, None, "is compressed", "unpack it first")
    if found is None and broken:
        raise DataError(file, None, f"is not JSON or lines of JSON ({broken})", _REMEDY)
    if found is None:
        raise DataError(file, None, "has none of the known forms of input", _REMEDY)
    return found


def _head(file: Path) -> bytes:
    try:
        if file.exists() and not file.is_file() and not file.is_dir():  # reading a pipe would block for ever
            raise DataError(file, None, "is not a regular file", "put a file in its place")
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except FileNotFoundError:
        raise DataError(file, None, "there is no such file", "check the path") from None
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "make it a readable file") from None
    head = head.removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        raise DataError(file, None, "is empty", _REMEDY)
    return head


def _keys(head: bytes) -> tuple[dict[int, set[str]], str]:
    """Return the keys by their depth, lists counted as a level, and where the JSON breaks, if it does.

    A file that is cut gives the keys before the cut.
    """
    found: dict[int, set[str]] = {}
    depth = 0
    broken = ""
    try:
        for event, value in ijson.basic_parse(BytesIO(head), use_float=True, multiple_values=True):
            depth += event in {"start_map", "start_array"}
            depth -= event in {"end_map", "end_array"}
            if event == "map_key":
                found.setdefault(depth, set()).add(value)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        broken = " ".join(str(error).split())[:100]
    return found, broken
