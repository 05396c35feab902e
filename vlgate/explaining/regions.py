"""The regions of an image that are changed one at a time: overlapping windows, or the boxes that a model looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from vlgate.explaining.painting import Decoded, ExchangedLoad, HiddenLoad, places
from vlgate.explaining.record import Box
from vlgate.types import FloatArray, LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

ACROSS = 4
"""The side of a window is this part of the image's."""
WINDOWS: tuple[Box, ...] = tuple(
    (x / 8, y / 8, x / 8 + 1 / ACROSS, y / 8 + 1 / ACROSS) for y in range(7) for x in range(7)
)
"""Windows of a quarter of the image's width and height, each half a window from the next: 7 rows of 7."""
MOST_BOXES = 49
"""The most boxes of an image that are changed, the first ones, so that a case costs the same for every model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A box of an image, and the image with another content of the box."""

    box: Box
    changed: LazyImage = field(repr=False)


def hidden(image: LazyImage, boxes: Sequence[Box] = WINDOWS) -> tuple[Region, ...]:
    """Return a copy of an image for each box, with that box painted over; nothing is decoded yet.

    >>> [region.changed.key for region in hidden(LazyImage(key="7.jpg", load=lambda: None), [(0, 0, 0.5, 0.5)])]
    ['7.jpg#hidden-0,0,0.5,0.5']
    """
    decoded = Decoded(image)
    return tuple(_region(image, box, "hidden", HiddenLoad(decoded=decoded, box=box)) for box in boxes[:MOST_BOXES])


def from_another(image: LazyImage, other: LazyImage, boxes: Sequence[Box] = WINDOWS) -> tuple[Region, ...]:
    """Return a copy of an image for each box, with what another image shows there; nothing is decoded yet.

    >>> one, other = (LazyImage(key=f"{number}.jpg", load=lambda: None) for number in (7, 8))
    >>> [region.changed.key for region in from_another(one, other, [(0, 0, 0.5, 0.5)])]
    ['7.jpg#from-8.jpg-0,0,0.5,0.5']
    """
    decoded, source = Decoded(image), Decoded(other)
    loads = [ExchangedLoad(decoded=decoded, other=source, box=box) for box in boxes[:MOST_BOXES]]
    return tuple(_region(image, load.box, f"from-{other.key}", load) for load in loads)


def heat(boxes: Sequence[Box], effects: FloatArray, side: int = 64) -> FloatArray:
    """Return a map of the image: each pixel has the effect of the smallest box that covers it, or 0 if none does.

    If several of the smallest have the same size, as windows have, it is the mean of their effects.

    Args:
        boxes: n boxes.
        effects: the effect of changing each of them, shape (n,).
        side: the rows and columns of the map.

    Returns: an array of shape (side, side).

    >>> heat([(0, 0, 0.5, 1), (0, 0, 1, 1)], np.array([1.0, 0.5]), side=2).tolist()
    [[1.0, 0.5], [1.0, 0.5]]
    >>> heat([(0, 0, 1, 1), (0, 0, 1, 1)], np.array([1.0, 0.5]), side=1).tolist()
    [[0.75]]
    """
    sizes = [round((right - left) * (bottom - top), 6) for left, top, right, bottom in boxes]
    found = np.zeros((side, side))
    for size in sorted(set(sizes), reverse=True):
        total, count = np.zeros((side, side)), np.zeros((side, side))
        for box, effect, own in zip(boxes, effects, sizes, strict=True):
            if own == size:
                place = places(box, side, side)
                total[place] += effect
                count[place] += 1
        found = np.where(count > 0, total / np.maximum(count, 1), found)
    return found


def _region(image: LazyImage, box: Box, how: str, load: Callable[[], Image]) -> Region:
    said = ",".join(f"{edge:.4g}" for edge in box)
    digest = sha256(repr(box).encode()).hexdigest()[:16]
    changed = LazyImage(key=f"{image.key}#{how}-{said}", where=f"{image.where}#{how}@{digest}", load=load)
    return Region(box=box, changed=changed)
