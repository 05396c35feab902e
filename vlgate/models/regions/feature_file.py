"""Region features from files that were made before; each format is a class with the protocol ``Records``."""

from __future__ import annotations

import errno
import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from vlgate.asking.dedupe import is_dated
from vlgate.errors import DataError, ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.regions.feature_lmdb import DATA, Volta
from vlgate.models.regions.feature_records import AGAIN, KINDS, Names, Record, Records, from_base64
from vlgate.models.regions.feature_shards import PATTERN, Npz, Shards
from vlgate.models.regions.regions import COUNT, WIDTH, Regions, RegionSource
from vlgate.types import LazyImage

# LXMERT's files of features: one line per image, ten columns separated by tabs, no header. The columns are img_id,
# img_h, img_w, objects_id, objects_conf, attrs_id, attrs_conf, num_boxes, boxes and features; the arrays are in base64,
# whole numbers as int64 and others as float32, boxes in pixels (airsplay/lxmert, utils.py).
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


FORMS: Mapping[str, Callable[[Path], Records]] = MappingProxyType(
    {".tsv": Tsv, ".lmdb": Volta, ".mdb": Volta, ".safetensors": Shards, ".npz": Npz}
)
"""The reader of each format, by the end of the file's name."""
_WHOLE = 2**28
"""The bytes up to which features are fingerprinted by their content; it takes a third of a second."""
_ENDS = 65_536  # bytes at the beginning and end of a larger file that its fingerprint covers


class FeatureFile(RegionSource):
    image_names = True

    def __init__(self, path: Path, records: Records, *, width: int | None, count: int | None) -> None:
        self._path, self._records, self._needed = path, records, (count, width)
        self._names = Names(records.keys())
        super().__init__(
            lambda images: [self._of(image) for image in images],
            fingerprint=f"regions {_identity(path)}",
            note=f"regions read from {path.name}",
            lacking=f"{path} has no regions of {{keys}}, but of {len(self._names):,} others; make them with vlgate "
            "features, or leave out regions=FILE: images perturbed during the run (with #) are in no file",
        )
        key = next(iter(records.keys()), None)
        if key is None:
            raise ModelLoadError(f"{path}: holds no image; {AGAIN}")
        try:
            first = records.read(key)
        except DataError:  # a damaged record costs its own cases only
            return
        try:
            self._fitting(key, first)
        except DataError as error:
            raise ModelLoadError(str(error)) from None

    def _of(self, image: LazyImage) -> Regions | str | None:
        key = self._names.find(image.key, image.where)
        if key is None:
            return None
        try:
            regions = self._records.read(key)
        except DataError as error:  # only the cases of this image lose their reply
            return str(error)
        return self._fitting(key, regions)

    def _fitting(self, key: str, regions: Regions) -> Regions:
        for name, needed, given in zip(("boxes", "numbers per box"), self._needed, regions.features.shape, strict=True):
            if needed not in (None, given):
                raise DataError(self._path, key, f"has {given} {name}, the model takes {needed}", AGAIN)
        return regions


def is_features(path: Path) -> bool:
    if path.is_dir():
        return _is_database(path) or any(path.glob(PATTERN))
    return path.suffix.lower() in FORMS


def feature_file(path: Path, *, width: int | None = WIDTH, count: int | None = COUNT) -> FeatureFile:
    file = path / DATA if _is_database(path) else path
    if file.exists() and not (file.is_file() or file.is_dir()):  # reading a pipe would block for ever
        raise ModelLoadError(f"{file}: is not a regular file; {AGAIN}")
    form = FORMS[path.suffix.lower()] if not path.is_dir() else Volta if _is_database(path) else Shards
    return FeatureFile(path, form(path), width=width, count=count)


def _is_database(folder: Path) -> bool:
    return folder.is_dir() and (folder / DATA).exists()


def _identity(path: Path) -> str:
    """A hash of the content; of more than ``_WHOLE`` bytes, a hash of their size, dates, beginning and end."""
    files = [path]
    if path.is_dir():
        files = [path / DATA] if _is_database(path) else sorted(path.glob(PATTERN))
    # COCO's features have 16 GB, too many bytes to hash in every run. Without a trustworthy date, all of them are.
    whole = sum(file.stat().st_size for file in files) <= _WHOLE or not all(is_dated(str(file)) for file in files)
    return digest(*(part for file in files for part in (file.name, digest_path(file) if whole else _ends(file))))


def _ends(file: Path) -> str:
    status = file.stat()
    with file.open("rb") as stream:
        first = stream.read(_ENDS)
        stream.seek(max(0, status.st_size - _ENDS))
        last = stream.read()
    dates = status.st_mtime_ns, status.st_ctime_ns  # the first can be set by any program
    return digest(str(status.st_size), *map(str, dates), first.hex(), last.hex())
