"""The images that were decoded last, so that none is decoded again while another request about it is at hand."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

ROOM = 64 * 2**20
"""The bytes of pixels that are kept: about 70 images of 640 x 480, which is one batch of the default size."""


@dataclass(slots=True, kw_only=True)
class Decoded:
    """Decoded images of at most ``room`` bytes; those that were used first make room.

    A model may draw on the image that it gets, so it always gets a copy, which costs a fiftieth of decoding.
    """

    room: int = ROOM
    _kept: dict[Hashable, Image] = field(default_factory=dict)
    _held: int = 0
    _lock: Lock = field(default_factory=Lock)

    def get(self, image: LazyImage) -> Image | None:
        """Return a copy of the decoded image; None if it is not there."""
        key = _key(image)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                return None
            self._kept[key] = found  # as the last one, which is forgotten last
        return found.copy()

    def keep(self, image: LazyImage, loaded: Image) -> None:
        """Keep a copy of an image that was decoded; an image of more than a quarter of the room is not kept."""
        if not hasattr(loaded, "getbands") or _size(loaded) > self.room // 4:  # a user's own LazyImage may load others
            return
        copied, key = loaded.copy(), _key(image)
        with self._lock:
            before = self._kept.pop(key, None)
            self._held += _size(copied) - (0 if before is None else _size(before))
            self._kept[key] = copied
            while self._held > self.room:
                self._held -= _size(self._kept.pop(next(iter(self._kept))))


def _key(image: LazyImage) -> Hashable:
    """An image and the state of its file, which may get new content under its old name."""
    try:
        state = os.stat(image.where.partition("#")[0])  # noqa: PTH116  # three times as fast as Path.stat
    except (OSError, ValueError):
        return image
    return image, state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino


def _size(image: Image) -> int:
    return image.width * image.height * len(image.getbands())
