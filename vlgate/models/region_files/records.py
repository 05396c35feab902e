"""A record of a file of features, checked before anything rests on it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import DataError
from vlgate.models.regions import Regions

AGAIN = "make the file again with vlgate features, or download it again"
_BESIDE = 1e-4  # how far a box may reach out of its picture, in parts of it, by rounding


class Records(Protocol):
    """A file of features."""

    def keys(self) -> Iterable[str]:
        """The keys of all pictures."""

    def read(self, key: str) -> Regions:
        """Read what is there of a picture.

        Raises: DataError that names the key where it is damaged.
        """


def checked(file: Path, key: str, arrays: Mapping[str, NDArray[Any]], size: tuple[float, float] | None) -> Regions:
    """Make a record of arrays.

    Args:
        file: where they were read, for messages.
        key: the picture's.
        arrays: ``features`` of shape (n, d), ``boxes`` of shape (n, 4), and some of the others of ``Regions``.
        size: the picture's height and width where the boxes are in pixels.

    Raises: DataError where they are no regions: other shapes, NaN, or boxes that are no boxes within the picture.
    """
    features = np.asarray(arrays["features"], np.float32)
    boxes: NDArray[np.float32] = np.asarray(arrays["boxes"], np.float32)
    if features.ndim != 2 or boxes.shape != (len(features), 4):
        problem = f"features of shape {features.shape} with boxes of shape {boxes.shape}"
        raise DataError(file, key, f"{problem} where (n, d) and (n, 4) were expected", AGAIN)
    if size is not None:
        height, width = size
        boxes = np.divide(boxes, np.array([width, height, width, height]), dtype=np.float32)
    if not (np.isfinite(features).all() and np.isfinite(boxes).all()):
        raise DataError(file, key, "holds numbers that are not finite", AGAIN)
    if (boxes < -_BESIDE).any() or (boxes > 1 + _BESIDE).any() or (boxes[:, :2] > boxes[:, 2:]).any():
        raise DataError(file, key, "holds boxes that are not within the picture", AGAIN)
    return Regions(features=features, boxes=boxes.clip(0, 1), **_others(file, key, arrays, len(features)))


def _others(file: Path, key: str, arrays: Mapping[str, NDArray[Any]], n: int) -> dict[str, NDArray[Any]]:
    found = {}
    for name, kind in (
        ("objects", np.int64),
        ("object_scores", np.float32),
        ("attributes", np.int64),
        ("attribute_scores", np.float32),
    ):
        if name in arrays:
            if np.shape(arrays[name]) != (n,):
                raise DataError(file, key, f"{name} of shape {np.shape(arrays[name])} for {n} boxes", AGAIN)
            found[name] = np.asarray(arrays[name], kind)
    return found


def from_base64(content: bytes | str, kind: type[np.generic]) -> NDArray[Any]:
    """Decode the numbers that a base64 text holds, shape (n,).

    Raises: ValueError where it is no base64, or holds no whole numbers of numbers.
    """
    try:
        return np.frombuffer(base64.b64decode(content, validate=True), kind)
    except binascii.Error as error:
        raise ValueError(f"no base64 ({error})") from None
