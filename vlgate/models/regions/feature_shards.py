"""The files that ``vlgate features`` writes and continues: a folder of safetensors, each with some images."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from vlgate.asking.batching import out_of_memory
from vlgate.errors import DataError, ImageError, ModelLoadError, ModelReplyError
from vlgate.models.checkpoints.fingerprint import digest
from vlgate.models.checkpoints.load_errors import missing_package
from vlgate.models.regions.feature_records import AGAIN, FIELDS, Record, Records
from vlgate.models.regions.regions import Regions, RegionSource
from vlgate.types import LazyImage

# A folder of safetensors, each with some of the images: arrays of shape (images, boxes, ...) under the names of
# ``Regions``, and, as text, the images' keys and the detector's fingerprint. A file appears whole or not at all. One
# such file can also be read by itself, and so can the same arrays as ``.npz``, with the keys as ``images``.

PATTERN = "regions-*.safetensors"
_SCHEMA = "vlgate regions 1"
# What numpy and zipfile raise on a broken .npz, found by truncating and altering files.
_BROKEN = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, TokenError,
)  # fmt: skip


class Shards(Records):
    """A folder of such files, or one of them; an image's regions are read on demand."""

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
    """One file in numpy's format, which is read at once."""

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
    """Write the regions of some images into one file of a folder, whole or not at all."""
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


SHARD = 64
"""Images per file: 20 MB. A run that is killed loses at most so many."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """How many images there are, were done before and are done now."""

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
    """Write the regions of the images that a folder lacks; the batches are halved when memory runs out."""
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
