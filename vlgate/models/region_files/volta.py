"""Reads VOLTA's databases of features: an LMDB with one pickled dictionary per image, under the image's number as text.

The dictionaries hold img_h, img_w, num_boxes, boxes and features, the last two in base64 or as arrays, boxes in pixels
(e-bug/volta, and vilbert before it). Because a pickle can run code, ``pickled`` reads them instead of Python's
``pickle``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import DataError
from vlgate.models.region_files.lmdb_reader import Reader
from vlgate.models.region_files.pickled import plain_values
from vlgate.models.region_files.records import AGAIN, checked, from_base64
from vlgate.models.regions.regions import Regions

_LIST_OF_KEYS = "keys"  # the entry that lists all keys and is not an image
_OTHERS = (
    ("objects", "objects_id", np.int64),
    ("object_scores", "objects_conf", np.float32),
    ("attributes", "attrs_id", np.int64),
    ("attribute_scores", "attrs_conf", np.float32),
)


class Volta:
    """A database, open for reading."""

    def __init__(self, path: Path) -> None:
        """Open a database: a folder with ``data.mdb``, or a single file.

        Raises: ModelLoadError if it cannot be read, or lmdb is not installed.
        """
        self._path = path
        self._reader = Reader(path)
        self._keys = [key for key in self._reader.keys if key != _LIST_OF_KEYS]

    def keys(self) -> Iterable[str]:
        """The images' numbers, as text."""
        return self._keys

    def read(self, key: str) -> Regions:
        """Read an image's dictionary.

        Raises: DataError that names the key if it is damaged, or holds more than plain values and arrays.
        """
        try:
            content = self._reader.get(key)
            if content is None:
                raise ValueError("its key leads to no entry")  # noqa: TRY301
            arrays, size = _arrays(plain_values(content))
        except KeyError as error:
            raise DataError(self._path, key, f"lacks {error}", AGAIN) from None
        except (OSError, ValueError, TypeError, OverflowError) as error:
            raise DataError(self._path, key, f"cannot be read ({error})", AGAIN) from None
        return checked(self._path, key, arrays, size)


def _arrays(item: object) -> tuple[dict[str, NDArray[Any]], tuple[float, float]]:
    if not isinstance(item, Mapping):
        raise TypeError(f"it is a {type(item).__name__}, expected a dictionary")
    count = int(item["num_boxes"])
    arrays = {
        "features": _rows(_numbers(item["features"], np.float32), count),
        "boxes": _rows(_numbers(item["boxes"], np.float32), count)[:, :4],
    }
    arrays |= {name: _numbers(item[own], kind) for name, own, kind in _OTHERS if own in item}
    return arrays, (_length(item, "h"), _length(item, "w"))


def _rows(numbers: NDArray[Any], count: int) -> NDArray[Any]:
    """Numbers as rows; a 2-d array keeps all its rows, though vilbert-multi-task counts only certain boxes."""
    return numbers if numbers.ndim == 2 else numbers.reshape(count, -1)


def _length(item: Mapping[Any, Any], which: str) -> float:
    return float(item[f"img_{which}"] if f"img_{which}" in item else item[f"image_{which}"])


def _numbers(value: object, kind: type[np.generic]) -> NDArray[Any]:
    if isinstance(value, str | bytes | bytearray):
        return from_base64(bytes(value) if isinstance(value, bytearray) else value, kind)
    if isinstance(value, np.ndarray):
        return value.astype(kind)
    raise TypeError(f"it holds a {type(value).__name__}, expected numbers")
