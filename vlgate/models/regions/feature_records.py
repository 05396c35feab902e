"""A record of a file of region features: which image its name means, and the check before it is used."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import DataError
from vlgate.models.regions.regions import Regions

_EXTENSION = re.compile(r"(?<=.)\.(?:jpe?g|png|webp|gif|bmp|tiff?|avif|hei[cf])\Z", re.IGNORECASE | re.DOTALL)
_COCO = re.compile(r"COCO_(?:train|val|test)[0-9]{4}_0*([0-9]+)")
_COCO_2017 = re.compile(r"0[0-9]{11}")
_VISUAL_7W = re.compile(r"v7w_0*([0-9]+)")
_NUMBER = re.compile(r"0*([0-9]+)")
_FOLDERS = {
    folder: name
    for name, folders in (
        ("coco", "coco train2014 val2014 test2014 test2015 train2017 val2017 test2017 unlabeled2017"),
        ("vg", "vg VG_100K VG_100K_2 gqa visual7w"),
    )
    for folder in folders.split()
}


def image_name(key: str) -> str:
    """Reduce a key to the part that all names of an image share: no folder, extension, prefix or leading zeros."""
    # The name of a perturbation stays: a blurred image never has the features of the sharp one.
    name, mark, perturbation = bare_name(key).partition("#")
    for pattern in (_COCO, _VISUAL_7W, _NUMBER):
        if match := pattern.fullmatch(name):
            return match[1] + mark + perturbation
    return name + mark + perturbation


def bare_name(key: str) -> str:
    """Return a key without its folders and extension.

    >>> bare_name("VG_100K/1.jpg#blur6"), bare_name("1#blur6.PNG"), bare_name("a.b.jpeg"), bare_name(".png")
    ('1#blur6', '1#blur6', 'a.b', '.png')
    """
    name, mark, perturbation = _nfc(key).partition("#")
    return _EXTENSION.sub("", name.rpartition("/")[2]) + mark + _EXTENSION.sub("", perturbation)


def collection(key: str) -> str:
    """Return the collection whose number a key holds, or "": COCO's and Visual Genome's numbers overlap.

    >>> collection("COCO_val2014_000000165831.jpg"), collection("000000165831.jpg"), collection("v7w_165831.jpg")
    ('coco', 'coco', 'vg')
    >>> collection("165831"), collection("images/vg/165831.jpg"), collection("vg/me.jpg")
    ('', 'vg', '')
    """
    name = bare_name(key).partition("#")[0]
    if _COCO.fullmatch(name) or _COCO_2017.fullmatch(name):
        return "coco"
    if _VISUAL_7W.fullmatch(name):
        return "vg"
    # The nearest folder that is named after a collection decides.
    folders = _folders(key) if _NUMBER.fullmatch(name) else ()
    return next((_FOLDERS[folder] for folder in folders if folder in _FOLDERS), "")


class Names:
    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = dict.fromkeys(keys)
        self._alike: dict[str, list[str]] = {}
        for key in self._keys:
            self._alike.setdefault(image_name(key), []).append(key)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, key: str, where: str = "") -> str | None:
        if key in self._keys:
            return key
        alike = self._alike.get(image_name(key), [])
        there = [other for other in alike if where.endswith(f"/{other}")]
        may_be = [other for other in alike if _may_be(key, other)]
        exact = [other for other in may_be if bare_name(other) == bare_name(key)]
        matches = there or exact or may_be
        return matches[0] if len(matches) == 1 else None


def _may_be(key: str, other: str) -> bool:
    # The benchmarks write COCO's numbers recognisably, and Visual Genome's also bare; so a bare number is never taken
    # for COCO's. A file's name identifies an image only within its folder: ``a/1.jpg`` is not ``b/1.jpg``.
    mine, its = collection(key), collection(other)
    if mine:
        return its in (mine, "")
    return its != "coco" and all(a == b for a, b in zip(_folders(key), _folders(other), strict=False))


def _folders(key: str) -> list[str]:  # the nearest first
    return _nfc(key).partition("#")[0].split("/")[-2::-1]


def _nfc(key: str) -> str:
    # Own cases and most systems use this form; macOS names its files in the form NFD.
    return key if key.isascii() else unicodedata.normalize("NFC", key)


AGAIN = "make the file again with vlgate features, or download it again"
_BESIDE = 1e-4  # how far rounding may move a box beyond its image, as a fraction of the side


KINDS: Mapping[str, type[np.generic]] = {
    "objects": np.int64, "object_scores": np.float32, "attributes": np.int64, "attribute_scores": np.float32
}  # fmt: skip
"""The type of each field of ``Regions`` that a record may lack."""
FIELDS = ("features", "boxes", *KINDS)
Record = tuple[Path, Mapping[str, NDArray[Any]], tuple[float, float] | None]
"""The file, the arrays under the names of ``Regions``, and the height and width if boxes are in pixels."""


class Records:
    _path: Path
    _places: Mapping[str, Any]  # the position of each image's record, by its own name

    def keys(self) -> Iterable[str]:
        return self._places.keys()

    def read(self, key: str) -> Regions:
        try:
            file, arrays, size = self._record(key)
        except KeyError as error:
            raise DataError(self._path, key, f"lacks {error}", AGAIN) from None
        except (OSError, ValueError, TypeError, OverflowError) as error:
            raise DataError(
                self._path, key, f"cannot be read ({getattr(error, 'strerror', None) or error})", AGAIN
            ) from None
        return _checked(file, key, arrays, size)

    def _record(self, key: str) -> Record:
        raise NotImplementedError


def _checked(file: Path, key: str, arrays: Mapping[str, NDArray[Any]], size: tuple[float, float] | None) -> Regions:
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
    others = {name: arrays[name] for name in KINDS if name in arrays}
    for name, values in others.items():
        if np.shape(values) != (len(features),):
            raise DataError(file, key, f"{name} of shape {np.shape(values)} for {len(features)} boxes", AGAIN)
        others[name] = np.asarray(values, KINDS[name])
    return Regions(features=features, boxes=boxes.clip(0, 1), **others)


def from_base64(content: bytes | str, kind: type[np.generic]) -> NDArray[Any]:
    try:
        return np.frombuffer(base64.b64decode(content, validate=True), kind)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None
