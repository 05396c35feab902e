"""The regions of an image that are hidden one at a time: overlapping windows, or the boxes that a model looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray, LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, each in 0..1 of the image."""

ACROSS = 4
"""The side of a window is this part of the image's."""
WINDOWS: tuple[Box, ...] = tuple(
    (x / 8, y / 8, x / 8 + 1 / ACROSS, y / 8 + 1 / ACROSS) for y in range(7) for x in range(7)
)
"""Windows of a quarter of the image's width and height, each half a window from the next: 7 rows of 7."""
MOST_BOXES = 49
"""The most boxes of an image that are hidden, the first ones, so that a case costs the same for every model."""


class Decoded:
    """The pixels of an image, decoded once for all of its changed copies."""

    def __init__(self, image: LazyImage) -> None:
        """Take the image; it is decoded when the first changed copy is loaded."""
        self.image = image

    @cached_property
    def pixels(self) -> Pixels:
        """The pixels, shape (h, w, 3).

        Raises: ImageError if the image cannot be decoded.
        """
        found: Pixels = np.asarray(self.image.load())
        return found

    @cached_property
    def mean(self) -> Pixels:
        """The mean colour, shape (3,), which says the least about what was there."""
        colour: Pixels = np.rint(self.pixels.reshape(-1, 3).mean(axis=0)).astype(np.uint8)
        return colour


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenLoad:
    """Loads an image with one box in the mean colour of the image."""

    decoded: Decoded
    box: Box

    def __call__(self) -> Image:
        """Return the image, mode RGB."""
        from PIL import Image

        pixels = self.decoded.pixels.copy()
        rows, columns = places(self.box, pixels.shape[0], pixels.shape[1])
        pixels[rows, columns] = self.decoded.mean
        return Image.fromarray(pixels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A box of an image, and the image without it."""

    box: Box
    hidden: LazyImage = field(repr=False)


def regions(image: LazyImage, boxes: Sequence[Box] = WINDOWS) -> tuple[Region, ...]:
    """Return a copy of an image for each box, with that box in the image's mean colour; nothing is decoded yet.

    >>> [region.hidden.key for region in regions(LazyImage(key="7.jpg", load=lambda: None), [(0, 0, 0.5, 0.5)])]
    ['7.jpg#hidden-0,0,0.5,0.5']
    """
    decoded = Decoded(image)
    return tuple(Region(box=box, hidden=_hidden(decoded, box)) for box in boxes[:MOST_BOXES])


def places(box: Box, height: int, width: int) -> tuple[slice, slice]:
    """Return the rows and columns of a box in an image of this size: at least one of each.

    >>> places((0.0, 0.5, 0.25, 1.0), 100, 200)
    (slice(50, 100, None), slice(0, 50, None))
    """
    return _span(box[1], box[3], height), _span(box[0], box[2], width)


def heat(boxes: Sequence[Box], effects: FloatArray, side: int = 64) -> FloatArray:
    """Return a map of the image: each pixel has the mean effect of the boxes that cover it, or 0 if none does.

    Args:
        boxes: n boxes.
        effects: the effect of hiding each of them, shape (n,).
        side: the rows and columns of the map.

    Returns: an array of shape (side, side).

    >>> heat([(0, 0, 0.5, 1), (0, 0, 1, 1)], np.array([1.0, 0.0]), side=2).tolist()
    [[0.5, 0.0], [0.5, 0.0]]
    """
    total, count = np.zeros((side, side)), np.zeros((side, side))
    for box, effect in zip(boxes, effects, strict=True):
        rows, columns = places(box, side, side)
        total[rows, columns] += effect
        count[rows, columns] += 1
    return total / np.maximum(count, 1)


def _hidden(decoded: Decoded, box: Box) -> LazyImage:
    said = ",".join(f"{edge:.4g}" for edge in box)
    digest = sha256(repr(box).encode()).hexdigest()[:16]
    image = decoded.image
    return LazyImage(
        key=f"{image.key}#hidden-{said}",
        where=f"{image.where}#hidden@{digest}",
        load=HiddenLoad(decoded=decoded, box=box),
    )


def _span(start: float, stop: float, length: int) -> slice:
    first = min(max(round(start * length), 0), length - 1)
    return slice(first, min(max(round(stop * length), first + 1), length))
