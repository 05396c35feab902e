"""Reads LXMERT's files of features: one line per image, ten columns separated by tabs, no header.

The columns are img_id, img_h, img_w, objects_id, objects_conf, attrs_id, attrs_conf, num_boxes, boxes and features;
the arrays are in base64, whole numbers as int64 and others as float32, boxes in pixels (airsplay/lxmert, utils.py).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from vlgate.errors import DataError, ModelLoadError
from vlgate.models.region_files.records import AGAIN, checked, from_base64
from vlgate.models.regions.regions import Regions

_COLUMNS = 10
_HEAD = 512  # bytes within which the first three columns end


class Tsv:
    """A file whose lines are read on demand: COCO's features have 16 GB."""

    def __init__(self, file: Path) -> None:
        """Find the lines.

        Raises: ModelLoadError if it cannot be read or is not in this format.
        """
        self._file = file
        try:
            with file.open("rb") as stream:
                self._content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise ModelLoadError(f"{file}: cannot be read ({error}); {AGAIN}") from None
        self._lines: dict[str, tuple[int, int]] = {}
        for start, end in _lines(self._content):
            self._lines.setdefault(self._key(start, end), (start, end))

    def keys(self) -> Iterable[str]:
        """The column img_id of all lines."""
        return self._lines.keys()

    def read(self, key: str) -> Regions:
        """Read a line.

        Raises: DataError that names the key if its line is damaged.
        """
        start, end = self._lines[key]
        columns = self._content[start:end].split(b"\t")
        if len(columns) != _COLUMNS:
            raise DataError(self._file, key, f"has {len(columns)} columns, expected {_COLUMNS}", AGAIN)
        _, height, width, objects, object_scores, attributes, attribute_scores, count, boxes, features = columns
        try:
            arrays = {
                "features": from_base64(features, np.float32).reshape(int(count), -1),
                "boxes": from_base64(boxes, np.float32).reshape(int(count), 4),
                "objects": from_base64(objects, np.int64),
                "object_scores": from_base64(object_scores, np.float32),
                "attributes": from_base64(attributes, np.int64),
                "attribute_scores": from_base64(attribute_scores, np.float32),
            }
            size = float(height), float(width)
        except ValueError as error:
            raise DataError(self._file, key, f"cannot be read ({error})", AGAIN) from None
        return checked(self._file, key, arrays, size)

    def _key(self, start: int, end: int) -> str:
        first, tab, _ = self._content[start : min(end, start + _HEAD)].partition(b"\t")
        try:
            key = first.decode()
        except UnicodeDecodeError:
            key = ""
        if not key or not tab:
            expected = f"a line of {_COLUMNS} columns separated by tabs, as in LXMERT's files"
            raise ModelLoadError(f"{self._file}, byte {start}: expected {expected}; {AGAIN}")
        return key


def _lines(content: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Yield the beginning and end of each line, as byte positions.

    From the fourth column on, all lines of 36 boxes have the same length, so most ends are found without reading the
    bytes in between: 40,000 lines in 0.3 s instead of all 16 GB.
    """
    start, length, whole = 0, -1, len(content)
    while start < whole:
        tail = _tail(content, start)
        guess = tail + length
        end = guess if tail >= 0 <= length and guess < whole and content[guess] == ord("\n") else _end(content, start)
        length = end - tail if tail >= 0 else -1
        if end > start:
            yield start, end - 1 if content[end - 1 : end] == b"\r" else end
        start = end + 1


def _tail(content: mmap.mmap, start: int) -> int:
    """The byte at which the fourth column of a line begins; -1 if the line has fewer columns."""
    head = content[start : start + _HEAD]
    place = -1
    for _ in range(3):
        place = head.find(b"\t", place + 1)
        if place < 0:
            return -1
    return -1 if b"\n" in head[:place] else start + place + 1


def _end(content: mmap.mmap, start: int) -> int:
    found = content.find(b"\n", start)
    return len(content) if found < 0 else found
