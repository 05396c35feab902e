"""The files of features that ``vlgate features`` writes: safetensors, some pictures each, in one folder.

Each holds arrays of shape (pictures, boxes, ...) under the names of ``Regions``, and, as text, the pictures' keys and
what detector they are of. A file is there whole or not at all. One such file, or the same arrays as ``.npz`` with the
keys as ``pictures``, can be read alone.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import ModelLoadError
from vlgate.models.fingerprint import digest
from vlgate.models.missing import missing_package
from vlgate.models.region_files.records import AGAIN, checked
from vlgate.models.regions import Regions

PATTERN = "regions-*.safetensors"
FIELDS = ("features", "boxes", "objects", "object_scores", "attributes", "attribute_scores")
_SCHEMA = "vlgate regions 1"
# What numpy and zipfile raise on a broken .npz, by cutting and altering files.
_BROKEN = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, TokenError,
)  # fmt: skip


class Shards:
    """A folder of such files, or one of them; a picture's part is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        """List the pictures.

        Raises: ModelLoadError where a file is damaged or no such file, or they are of several detectors.
        """
        self._places: dict[str, tuple[Path, int]] = {}
        self.detectors: set[str] = set()
        self._opened: dict[Path, Any] = {}
        for file in sorted(path.glob(PATTERN)) if path.is_dir() else [path]:
            self._opened[file] = _opened(file)
            keys, detector = _head(file, self._opened[file])
            self.detectors.add(detector)
            for place, key in enumerate(keys):
                self._places.setdefault(key, (file, place))
        if len(self.detectors) > 1:
            problem = f"holds regions of {len(self.detectors)} detectors"
            raise ModelLoadError(f"{path}: {problem}; keep those of each in a folder of their own")

    def keys(self) -> Iterable[str]:
        """The keys of all pictures."""
        return self._places.keys()

    def read(self, key: str) -> Regions:
        """Read a picture's part.

        Raises: DataError that names the key where it is damaged.
        """
        file, place = self._places[key]
        opened = self._opened[file]
        arrays = {name: opened.get_slice(name)[place] for name in opened.keys() if name in FIELDS}  # noqa: SIM118
        return checked(file, key, arrays, None)


class Npz:
    """One file of numpy's, read at once."""

    def __init__(self, file: Path) -> None:
        """Read all arrays; none may hold objects.

        Raises: ModelLoadError where it is damaged or no such file.
        """
        self._file = file
        try:
            # numpy leaves a file that it opened itself, and finds broken, open.
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
                self._arrays = {name: content[name] for name in (*FIELDS, "pictures") if name in content}
        except _BROKEN as error:
            raise ModelLoadError(f"{file}: cannot be read as .npz of plain arrays ({error}); {AGAIN}") from None
        lengths = {name: len(array) for name, array in self._arrays.items() if array.ndim}
        if not {"pictures", "features", "boxes"} <= lengths.keys() or len(set(lengths.values())) != 1:
            raise ModelLoadError(
                f"{file}: holds {lengths}; expected pictures, features and boxes, equally many; {AGAIN}"
            )
        self._places = {str(key): place for place, key in reversed([*enumerate(self._arrays["pictures"])])}

    def keys(self) -> Iterable[str]:
        """The keys of all pictures."""
        return self._places.keys()

    def read(self, key: str) -> Regions:
        """Give a picture's part.

        Raises: DataError that names the key where it is damaged.
        """
        place = self._places[key]
        arrays = {name: array[place] for name, array in self._arrays.items() if name != "pictures"}
        return checked(self._file, key, arrays, None)


def write_shard(folder: Path, keys: Sequence[str], regions: Sequence[Regions], detector: str) -> Path:
    """Write the regions of some pictures into one file of a folder, whole or not at all.

    Args:
        folder: of all such files.
        keys: of n pictures.
        regions: n, of the same shapes.
        detector: what they are of.

    Returns: the file.
    Raises: OSError where it cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(np.stack(values)) for name, values in _columns(regions)}
    # The name follows from the keys, so that two that write into one folder never take each other's.
    file = folder / PATTERN.replace("*", digest(*keys)[:16])
    part = file.with_suffix(f".{os.getpid()}.part")
    head = {"schema": _SCHEMA, "detector": detector, "pictures": json.dumps(list(keys))}
    try:
        save_file(arrays, part, metadata=head)
        part.replace(file)
    except SafetensorError as error:  # so it reports a full disk, too
        raise OSError(str(error)) from None
    finally:
        part.unlink(missing_ok=True)
    return file


def _columns(regions: Sequence[Regions]) -> Iterator[tuple[str, list[NDArray[Any]]]]:
    for name in FIELDS:
        values = [getattr(one, name) for one in regions]
        if all(value is not None for value in values):
            yield name, values


def _opened(file: Path) -> Any:
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError:
        raise missing_package("safetensors", "hf") from None
    try:
        return safe_open(file, framework="numpy")
    except (SafetensorError, OSError) as error:
        remedy = "remove it and run vlgate features again, which makes what is missing, or download it again"
        raise ModelLoadError(f"{file}: cannot be read as safetensors ({error}); {remedy}") from None


def _head(file: Path, opened: Any) -> tuple[list[str], str]:
    head: Mapping[str, str] = opened.metadata() or {}
    names = set(opened.keys())
    if head.get("schema") != _SCHEMA or not {"features", "boxes"} <= names:
        some = ", ".join(sorted(names)[:3])
        raise ModelLoadError(f"{file}: holds {some} and no regions of pictures; name what vlgate features has written")
    try:
        keys, detector = [str(key) for key in json.loads(head["pictures"])], head["detector"]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelLoadError(f"{file}: does not say which pictures it holds, and of what ({error}); {AGAIN}") from None
    if any(opened.get_slice(name).get_shape()[:1] != [len(keys)] for name in names):
        raise ModelLoadError(f"{file}: names {len(keys)} pictures and holds another number of them; {AGAIN}")
    return keys, detector
