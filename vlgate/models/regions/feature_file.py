"""Region features from files: those of LXMERT and VOLTA, and shards that ``vlgate features`` writes and continues."""

import errno
import json
import os
import re
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tokenize import TokenError
from types import MappingProxyType
from typing import Any

import numpy as np

from vlgate.asking.batching import out_of_memory
from vlgate.asking.dedupe import is_dated
from vlgate.errors import DataError, ImageError, ModelLoadError, ModelReplyError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.load_errors import missing_package
from vlgate.models.regions.feature_lmdb import DATA, Volta
from vlgate.models.regions.feature_records import AGAIN, FIELDS, KINDS, Names, Record, Records, from_base64
from vlgate.models.regions.regions import COUNT, WIDTH, Regions, RegionSource
from vlgate.types import LazyImage

# ``vlgate features`` writes a folder of safetensors, each with some of the images: arrays of shape (images, boxes, ...)
# under the names of ``Regions``, and, as text, the images' keys and the detector's fingerprint. A file appears whole or
# not at all. One such file can also be read by itself, and so can the same arrays as ``.npz``, with the keys as
# ``images``.

PATTERN = "regions-*.safetensors"
_SCHEMA = "vlgate regions 1"
# What numpy and zipfile raise on a broken .npz, found by truncating and altering files.
_BROKEN = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, TokenError,
)  # fmt: skip


class Shards(Records):
    def __init__(self, path: Path) -> None:
        self._path = path
        places: dict[str, tuple[Path, int]] = {}
        self.detectors: set[str] = set()
        self._opened: dict[Path, tuple[Any, int]] = {}
        for file in sorted(path.glob(PATTERN)) if path.is_dir() else [path]:
            opened, keys, detector = _opened(file)
            self._opened[file] = opened, file.stat().st_size
            self.detectors.add(detector)
            for index, key in enumerate(keys):
                places.setdefault(key, (file, index))
        self._places = places
        if len(self.detectors) > 1:
            problem = f"holds regions of {len(self.detectors)} detectors"
            raise ModelLoadError(f"{path}: {problem}; keep one folder per detector")

    def _record(self, key: str) -> Record:
        file, place = self._places[key]
        opened, size = self._opened[file]
        if not file.is_file() or file.stat().st_size < size:  # it is mapped: reading beyond its end kills the process
            raise DataError(file, key, f"was cut off after it was opened, when it had {size:,} bytes", AGAIN)
        arrays = {name: opened.get_slice(name)[place] for name in opened.keys() if name in FIELDS}  # noqa: SIM118
        return file, arrays, None


class Npz(Records):
    def __init__(self, file: Path) -> None:
        self._path = file
        try:
            # If np.load opened the file itself, it would leave a broken one open.
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
                self._arrays = {name: content[name] for name in (*FIELDS, "images") if name in content}
        except _BROKEN as error:
            raise ModelLoadError(f"{file}: cannot be read as .npz of plain arrays ({error}); {AGAIN}") from None
        # A member without the ending .npy comes as bytes.
        lengths = {name: len(array) for name, array in self._arrays.items() if getattr(array, "ndim", 0)}
        if not {"images", "features", "boxes"} <= lengths.keys() or len(set(lengths.values())) != 1:
            raise ModelLoadError(f"{file}: holds {lengths}; expected images, features and boxes of one length; {AGAIN}")
        self._places = {str(key): place for place, key in reversed([*enumerate(self._arrays["images"])])}

    def _record(self, key: str) -> Record:
        place = self._places[key]
        return self._path, {name: array[place] for name, array in self._arrays.items() if name != "images"}, None


def write_shard(folder: Path, keys: Sequence[str], regions: Sequence[Regions], detector: str) -> Path:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays = {}
    for name in FIELDS:
        values = [getattr(of_image, name) for of_image in regions]
        if all(value is not None for value in values):
            arrays[name] = np.ascontiguousarray(np.stack(values))
    # The name is a hash of the keys, so that two processes can write into one folder without a clash.
    file = folder / PATTERN.replace("*", digest(*keys)[:16])
    part = file.with_suffix(f".{os.getpid()}.part")
    head = {"schema": _SCHEMA, "detector": detector, "images": json.dumps(list(keys))}
    try:
        save_file(arrays, part, metadata=head)
        part.replace(file)
    except SafetensorError as error:  # a full disk, for example
        raise OSError(str(error)) from None
    finally:
        part.unlink(missing_ok=True)
    return file


def _opened(file: Path) -> tuple[Any, list[str], str]:
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError:
        raise missing_package("safetensors", "hf") from None
    try:
        opened: Any = safe_open(file, framework="numpy")
    except (SafetensorError, OSError) as error:
        remedy = "remove it and run vlgate features again, which makes the missing regions, or download it again"
        raise ModelLoadError(f"{file}: cannot be read as safetensors ({error}); {remedy}") from None
    head: Mapping[str, str] = opened.metadata() or {}
    names = set(opened.keys())
    if head.get("schema") != _SCHEMA or not {"features", "boxes"} <= names:
        some = ", ".join(sorted(names)[:3])
        raise ModelLoadError(
            f"{file}: holds {some}, not regions of images; name a file or folder that vlgate features wrote"
        )
    try:
        keys, detector = [str(key) for key in json.loads(head["images"])], head["detector"]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelLoadError(f"{file}: does not name its images or its detector ({error}); {AGAIN}") from None
    if any(opened.get_slice(name).get_shape()[:1] != [len(keys)] for name in names):
        raise ModelLoadError(f"{file}: names {len(keys)} images, but its arrays hold another number; {AGAIN}")
    return opened, keys, detector


SHARD = 64  # images per file: 20 MB. A run that is killed loses at most so many.


@dataclass(slots=True, kw_only=True)
class Progress:
    whole: int
    before: int
    made: int = 0
    left_out: dict[str, str] = field(default_factory=dict)  # the reason by key


def make_features(
    images: Sequence[LazyImage],
    detector: RegionSource,
    folder: Path,
    *,
    batch_size: int = 8,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    done: frozenset[str] = frozenset()
    if any(folder.glob(PATTERN)):
        there = Shards(folder)
        if there.detectors != {detector.fingerprint}:
            raise ModelLoadError(
                f"{folder}: holds regions of another detector or of other weights; name another folder"
            )
        done = frozenset(there.keys())
    left = [image for image in images if image.key not in done]
    progress = Progress(whole=len(images), before=len(images) - len(left))
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[str, Regions] = {}
    place = 0
    try:
        while place < len(left):
            some = left[place : place + batch_size]
            try:
                looked = _looked(some, detector, progress)
            except (MemoryError, RuntimeError) as error:
                if not out_of_memory(error):
                    raise
                if len(some) == 1:
                    raise ModelReplyError(f"{some[0].key}: the memory is too small for one image ({error})") from error
                batch_size = len(some) // 2
                continue
            place += len(some)
            ready |= looked
            progress.made += len(looked)
            if len(ready) >= SHARD:
                _write(folder, ready, detector)
            tell(progress)
    finally:  # also after Ctrl-C
        _write(folder, ready, detector)
    return progress


def _looked(images: Sequence[LazyImage], detector: RegionSource, progress: Progress) -> dict[str, Regions]:
    try:
        looked = zip(images, detector.look(images), strict=True)
    except ImageError:
        whole = []
        for image in images:
            try:
                image.load()
            except ImageError as error:
                progress.left_out[image.key] = str(error)
            else:
                whole.append(image)
        if len(whole) == len(images):
            raise
        return _looked(whole, detector, progress) if whole else {}
    seen = {image.key: regions for image, regions in looked if isinstance(regions, Regions)}
    progress.left_out |= {image.key: "too few regions" for image in images if image.key not in seen}
    return seen


def _write(folder: Path, ready: dict[str, Regions], detector: RegionSource) -> None:
    if ready:
        write_shard(folder, list(ready), list(ready.values()), detector.fingerprint)
        ready.clear()


# LXMERT's files of features: one line per image, ten columns separated by tabs, no header. The columns are img_id,
# img_h, img_w, objects_id, objects_conf, attrs_id, attrs_conf, num_boxes, boxes and features; the arrays are in base64,
# whole numbers as int64 and others as float32, boxes in pixels (airsplay/lxmert, utils.py).
_COLUMNS = 10
_HEAD = 512  # bytes within which the first three columns end
_FIRST_THREE = re.compile(rb"(?:[^\t\n]*\t){3}")
_PART = 1 << 20  # bytes that are searched for the end of a line at a time


class Tsv(Records):
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
)  # the reader of each format, by the end of the file's name
_WHOLE = 2**28  # the bytes up to which features are fingerprinted by their content; it takes a third of a second
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
