"""The images that were decoded last, so that none is decoded again while another request about it is at hand."""

from __future__ import annotations

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
    _kept: dict[LazyImage, Image] = field(default_factory=dict)
    _held: int = 0
    _lock: Lock = field(default_factory=Lock)

    def get(self, image: LazyImage) -> Image | None:
        """Return a copy of the decoded image; None if it is not there."""
        with self._lock:
            found = self._kept.pop(image, None)
            if found is None:
                return None
            self._kept[image] = found  # as the last one, which is forgotten last
        return found.copy()

    def keep(self, image: LazyImage, loaded: Image) -> None:
        """Keep a copy of an image that was decoded; an image of more than a quarter of the room is not kept."""
        if _size(loaded) > self.room // 4:
            return
        copied = loaded.copy()
        with self._lock:
            before = self._kept.pop(image, None)
            self._held += _size(copied) - (0 if before is None else _size(before))
            self._kept[image] = copied
            while self._held > self.room:
                self._held -= _size(self._kept.pop(next(iter(self._kept))))


def _size(image: Image) -> int:
    return image.width * image.height * len(image.getbands())
