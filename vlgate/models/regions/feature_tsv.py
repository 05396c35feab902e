"""Reads LXMERT's files of features: one line per image, ten columns separated by tabs, no header.

The columns are img_id, img_h, img_w, objects_id, objects_conf, attrs_id, attrs_conf, num_boxes, boxes and features;
the arrays are in base64, whole numbers as int64 and others as float32, boxes in pixels (airsplay/lxmert, utils.py).
"""

from __future__ import annotations

import errno
import os
import re
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.regions.feature_records import AGAIN, KINDS, Record, Records, from_base64

_COLUMNS = 10
_HEAD = 512  # bytes within which the first three columns end
_FIRST_THREE = re.compile(rb"(?:[^\t\n]*\t){3}")
_PART = 1 << 20  # bytes that are searched for the end of a line at a time


class Tsv(Records):
    """A file whose lines are read on demand: COCO's features have 16 GB."""

    def __init__(self, file: Path) -> None:
        self._path = file
        places: dict[str, tuple[int, int]] = {}
        try:
            # Read, not mapped: a process that reads a map of a file that was cut is killed.
            self._stream = file.open("rb")
            weakref.finalize(self, self._stream.close)
            self._size = os.fstat(self._stream.fileno()).st_size
            for start, end in self._lines():
                places.setdefault(self._key(start, end), (start, end))
        except OSError as error:
            raise ModelLoadError(f"{file}: cannot be read ({error.strerror}); {AGAIN}") from None
        self._places = places

    def _record(self, key: str) -> Record:
        columns = self._between(*self._places[key]).split(b"\t")
        if len(columns) != _COLUMNS:
            raise ValueError(f"has {len(columns)} columns, expected {_COLUMNS}")
        _, height, width, *others, count, boxes, features = columns
        arrays = {
            "features": from_base64(features, np.float32).reshape(int(count), -1),
            "boxes": from_base64(boxes, np.float32).reshape(int(count), 4),
        }
        arrays |= {name: from_base64(column, KINDS[name]) for name, column in zip(KINDS, others, strict=True)}
        return self._path, arrays, (float(height), float(width))

    def _between(self, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to ``end``; OSError if the file has become shorter."""
        self._stream.seek(start)
        content = self._stream.read(end - start)
        if len(content) < end - start:
            raise OSError(errno.EIO, f"it was cut off after it was opened, at {start + len(content):,} bytes")
        return content

    def _key(self, start: int, end: int) -> str:
        first, tab, _ = self._between(start, min(end, start + _HEAD)).partition(b"\t")
        try:
            key = first.decode()
        except UnicodeDecodeError:
            key = ""
        if not key or not tab:
            expected = f"a line of {_COLUMNS} columns separated by tabs, as in LXMERT's files"
            raise ModelLoadError(f"{self._path}, byte {start}: expected {expected}; {AGAIN}")
        return key

    def _lines(self) -> Iterator[tuple[int, int]]:
        """Yield the beginning and end of each line, as byte positions."""
        # From the fourth column on, all lines of 36 boxes have the same length, so most ends are found without reading
        # the bytes in between: 40,000 lines in 0.3 s instead of all 16 GB.
        start, length = 0, -1
        while start < self._size:
            columns = _FIRST_THREE.match(self._between(start, min(start + _HEAD, self._size)))
            tail = start + columns.end() if columns else -1
            end = tail + length
            if tail < 0 or length < 0 or end >= self._size or self._between(end, end + 1) != b"\n":
                end = self._end(start)
            length = end - tail if tail >= 0 else -1
            if end > start:
                yield start, end - 1 if self._between(end - 1, end) == b"\r" else end
            start = end + 1

    def _end(self, start: int) -> int:
        while start < self._size:
            part = self._between(start, min(start + _PART, self._size))
            place = part.find(b"\n")
            if place >= 0:
                return start + place
            start += len(part)
        return self._size
