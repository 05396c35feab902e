"""Checks a record of a file of features before it is used."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import DataError
from vlgate.models.regions.regions import Regions

AGAIN = "make the file again with vlgate features, or download it again"
_BESIDE = 1e-4  # how far rounding may move a box beyond its image, as a fraction of the side


class Records(Protocol):
    """A file of features."""

    def keys(self) -> Iterable[str]:
        """The keys of all images."""

    def read(self, key: str) -> Regions:
        """Read the regions of an image.

        Raises: DataError that names the key if its record is damaged.
        """


def checked(file: Path, key: str, arrays: Mapping[str, NDArray[Any]], size: tuple[float, float] | None) -> Regions:
    """Check arrays and return them as regions.

    Args:
        file: the file they come from, for messages.
        key: the image's key.
        arrays: ``features`` of shape (n, d), ``boxes`` of shape (n, 4), and any of the other fields of ``Regions``.
        size: the image's height and width if the boxes are in pixels; None if they are fractions.

    Raises: DataError if shapes do not agree, a number is not finite, or a box is not within the image.
    """
    features = np.asarray(arrays["features"], np.float32)
    boxes: NDArray[np.float32] = np.asarray(arrays["boxes"], np.float32)
    if features.ndim != 2 or boxes.shape != (len(features), 4):
        problem = f"features of shape {features.shape} with boxes of shape {boxes.shape}"
        raise DataError(file, key, f"{problem}, expected (n, d) and (n, 4)", AGAIN)
    if size is not None:
        height, width = size
        boxes = np.divide(boxes, np.array([width, height, width, height]), dtype=np.float32)
    if not (np.isfinite(features).all() and np.isfinite(boxes).all()):
        raise DataError(file, key, "holds numbers that are not finite", AGAIN)
    if (boxes < -_BESIDE).any() or (boxes > 1 + _BESIDE).any() or (boxes[:, :2] > boxes[:, 2:]).any():
        raise DataError(file, key, "holds boxes that are not within the image", AGAIN)
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
    """Decode numbers from base64.

    Returns: an array of shape (n,).
    Raises: ValueError if the text is not base64, or its length is not a multiple of a number's.
    """
    try:
        return np.frombuffer(base64.b64decode(content, validate=True), kind)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None
