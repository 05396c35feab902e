"""Reads LXMERT's files of features: one line per image, ten columns separated by tabs, no header.

The columns are img_id, img_h, img_w, objects_id, objects_conf, attrs_id, attrs_conf, num_boxes, boxes and features;
the arrays are in base64, whole numbers as int64 and others as float32, boxes in pixels (airsplay/lxmert, utils.py).
"""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.regions.feature_records import AGAIN, Record, Records, from_base64

_COLUMNS = 10
_HEAD = 512  # bytes within which the first three columns end
_PART = 1 << 20  # bytes that are searched for the end of a line at a time


class _Content:
    """The bytes of a file; read, not mapped, because a process that reads a map of a file that was cut is killed."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("rb")
        weakref.finalize(self, self._stream.close)
        self.size = os.fstat(self._stream.fileno()).st_size

    def between(self, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to ``end``; OSError if the file has become shorter."""
        self._stream.seek(start)
        found = self._stream.read(end - start)
        if len(found) < end - start:
            raise OSError(errno.EIO, f"it was cut off after it was opened, at {start + len(found):,} bytes")
        return found


class Tsv(Records):
    """A file whose lines are read on demand: COCO's features have 16 GB."""

    def __init__(self, file: Path) -> None:
        self._path = file
        places: dict[str, tuple[int, int]] = {}
        try:
            self._content = _Content(file)
            for start, end in _lines(self._content):
                places.setdefault(self._key(start, end), (start, end))
        except OSError as error:
            raise ModelLoadError(f"{file}: cannot be read ({error.strerror}); {AGAIN}") from None
        self._places = places

    def _record(self, key: str) -> Record:
        columns = self._content.between(*self._places[key]).split(b"\t")
        if len(columns) != _COLUMNS:
            raise ValueError(f"has {len(columns)} columns, expected {_COLUMNS}")
        _, height, width, objects, object_scores, attributes, attribute_scores, count, boxes, features = columns
        arrays = {
            "features": from_base64(features, np.float32).reshape(int(count), -1),
            "boxes": from_base64(boxes, np.float32).reshape(int(count), 4),
            "objects": from_base64(objects, np.int64),
            "object_scores": from_base64(object_scores, np.float32),
            "attributes": from_base64(attributes, np.int64),
            "attribute_scores": from_base64(attribute_scores, np.float32),
        }
        return self._path, arrays, (float(height), float(width))

    def _key(self, start: int, end: int) -> str:
        first, tab, _ = self._content.between(start, min(end, start + _HEAD)).partition(b"\t")
        try:
            key = first.decode()
        except UnicodeDecodeError:
            key = ""
        if not key or not tab:
            expected = f"a line of {_COLUMNS} columns separated by tabs, as in LXMERT's files"
            raise ModelLoadError(f"{self._path}, byte {start}: expected {expected}; {AGAIN}")
        return key


def _lines(content: _Content) -> Iterator[tuple[int, int]]:
    """Yield the beginning and end of each line, as byte positions.

    From the fourth column on, all lines of 36 boxes have the same length, so most ends are found without reading the
    bytes in between: 40,000 lines in 0.3 s instead of all 16 GB.
    """
    start, length, whole = 0, -1, content.size
    while start < whole:
        tail = _tail(content, start)
        guess = tail + length
        end = (
            guess
            if tail >= 0 <= length and guess < whole and content.between(guess, guess + 1) == b"\n"
            else _end(content, start)
        )
        length = end - tail if tail >= 0 else -1
        if end > start:
            yield start, end - 1 if content.between(end - 1, end) == b"\r" else end
        start = end + 1


def _tail(content: _Content, start: int) -> int:
    """The byte at which the fourth column of a line begins; -1 if the line has fewer columns."""
    head = content.between(start, min(start + _HEAD, content.size))
    place = -1
    for _ in range(3):
        place = head.find(b"\t", place + 1)
        if place < 0:
            return -1
    return -1 if b"\n" in head[:place] else start + place + 1


def _end(content: _Content, start: int) -> int:
    while start < content.size:
        part = content.between(start, min(start + _PART, content.size))
        found = part.find(b"\n")
        if found >= 0:
            return start + found
        start += len(part)
    return content.size
