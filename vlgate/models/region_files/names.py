"""What makes two names mean the same picture."""

from __future__ import annotations

import re
from collections.abc import Iterable

_EXTENSION = re.compile(r"(?<=.)\.(?:jpe?g|png|webp|gif|bmp|tiff?)\Z", re.IGNORECASE | re.DOTALL)
_COCO = re.compile(r"COCO_(?:train|val|test)[0-9]{4}_0*([0-9]+)")
_VISUAL_7W = re.compile(r"v7w_0*([0-9]+)")
_NUMBER = re.compile(r"0*([0-9]+)")


def picture_name(key: str) -> str:
    """Reduce a picture's key to what it has in common with the names of the same picture elsewhere.

    Folders, the extension, the prefixes of COCO and Visual7W, and leading zeros fall away. The name of a
    perturbation stays: a blurred picture never has the features of the sharp one.

    >>> picture_name("COCO_val2014_000000165831.jpg"), picture_name("VG_100K_2/2408124.jpg"), picture_name("v7w_12.jpg")
    ('165831', '2408124', '12')
    >>> picture_name("2357834#blur6"), picture_name("VisualDialog_val2018_000000284024.jpg"), picture_name("000.png")
    ('2357834#blur6', 'VisualDialog_val2018_000000284024', '0')
    """
    name, mark, perturbation = bare_name(key).partition("#")
    for pattern in (_COCO, _VISUAL_7W, _NUMBER):
        if match := pattern.fullmatch(name):
            return match[1] + mark + perturbation
    return name + mark + perturbation


def bare_name(key: str) -> str:
    """Leave the folders and the extension of a key away.

    >>> bare_name("VG_100K/1.jpg#blur6"), bare_name("1#blur6.PNG"), bare_name("a.b.jpeg"), bare_name(".png")
    ('1#blur6', '1#blur6', 'a.b', '.png')
    """
    name, mark, perturbation = key.partition("#")
    return _EXTENSION.sub("", name.rpartition("/")[2]) + mark + _EXTENSION.sub("", perturbation)


def collection(key: str) -> str:
    """Which collection's number a key holds, where it says so: COCO's and Visual Genome's numbers overlap.

    >>> collection("COCO_val2014_000000165831.jpg"), collection("v7w_165831.jpg"), collection("165831")
    ('coco', 'vg', '')
    """
    name = bare_name(key).partition("#")[0]
    if _COCO.fullmatch(name):
        return "coco"
    return "vg" if _VISUAL_7W.fullmatch(name) or key.startswith("VG_100K") or "/VG_100K" in key else ""


class Names:
    """The keys of a file by the pictures that they name."""

    def __init__(self, keys: Iterable[str]) -> None:
        """Take all keys; of one that stands twice the first counts."""
        self._keys = dict.fromkeys(keys)
        self._alike: dict[str, list[str]] = {}
        for key in self._keys:
            self._alike.setdefault(picture_name(key), []).append(key)

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._keys)

    def find(self, key: str) -> str | None:
        """Find the file's own key of a picture; None where it has none, or several that it may be.

        >>> Names(["COCO_val2014_000000000012", "13"]).find("12.jpg")
        'COCO_val2014_000000000012'
        >>> print(Names(["COCO_val2014_000000000012"]).find("v7w_12.jpg"))
        None
        """
        if key in self._keys:
            return key
        may_be = [other for other in self._alike.get(picture_name(key), ()) if _compatible(key, other)]
        exact = [other for other in may_be if bare_name(other) == bare_name(key)]
        found = exact or may_be
        return found[0] if len(found) == 1 else None


def _compatible(one: str, other: str) -> bool:
    collections = {collection(one), collection(other)} - {""}
    return len(collections) < 2
