"""Changed pixels of an image: a box painted over with what is around it, or with what another image shows there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vlgate.explaining.record import Box
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 112
"""The longer side at which a box is painted: the smooth colours that fill it need no more pixels."""
RADIUS = 3
"""How far the painting looks from each pixel."""


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
    def small(self) -> Pixels:
        """The image with at most ``SIDE`` pixels on each side."""
        height, width = self.pixels.shape[:2]
        share = min(1.0, SIDE / max(height, width))
        return resized(self.pixels, max(1, round(height * share)), max(1, round(width * share)))

    @cached_property
    def mean(self) -> Pixels:
        """The mean colour, shape (3,)."""
        colour: Pixels = np.rint(self.pixels.reshape(-1, 3).mean(axis=0)).astype(np.uint8)
        return colour


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenLoad:
    """Loads an image with one box painted over with what is around it."""

    decoded: Decoded
    box: Box

    def __call__(self) -> Image:
        """Return the image, mode RGB."""
        from PIL import Image

        pixels = self.decoded.pixels.copy()
        rows, columns = places(self.box, pixels.shape[0], pixels.shape[1])
        pixels[rows, columns] = resized(painted(self.decoded, self.box), *pixels[rows, columns].shape[:2])
        return Image.fromarray(pixels)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangedLoad:
    """Loads an image with one box from another image, which is stretched to the size of the first."""

    decoded: Decoded
    other: Decoded
    box: Box

    def __call__(self) -> Image:
        """Return the image, mode RGB."""
        from PIL import Image

        pixels = self.decoded.pixels.copy()
        place = places(self.box, pixels.shape[0], pixels.shape[1])
        pixels[place] = resized(self.other.pixels, *pixels.shape[:2])[place]
        return Image.fromarray(pixels)


def painted(decoded: Decoded, box: Box) -> Pixels:
    """Return what fills a box of an image: colours that run in from its edges (Telea 2004, in OpenCV).

    A patch of one colour would be a new thing in many images. What runs in from the edges is hardly one.

    Returns: the pixels of the box in ``decoded.small``; the mean colour if the box is the whole image.
    """
    import cv2

    small = decoded.small
    rows, columns = places(box, *small.shape[:2])
    top, left = max(0, rows.start - RADIUS - 1), max(0, columns.start - RADIUS - 1)
    around: Pixels = np.ascontiguousarray(small[top : rows.stop + RADIUS + 1, left : columns.stop + RADIUS + 1])
    inside = (slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left))
    hole = np.zeros(around.shape[:2], np.uint8)
    hole[inside] = 1
    if hole.all():
        return np.broadcast_to(decoded.mean, around.shape)
    filled: Pixels = np.asarray(cv2.inpaint(around, hole, RADIUS, cv2.INPAINT_TELEA), dtype=np.uint8)
    return filled[inside]


def resized(pixels: Pixels, height: int, width: int) -> Pixels:
    """Return pixels of shape (h, w, 3) at another size, the same ones if it is theirs."""
    import cv2

    if pixels.shape[:2] == (height, width):
        return pixels
    shrinks = height * width < pixels.shape[0] * pixels.shape[1]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=how), dtype=np.uint8)


def places(box: Box, height: int, width: int) -> tuple[slice, slice]:
    """Return the rows and columns of a box in an image of this size: at least one of each.

    >>> places((0.0, 0.5, 0.25, 1.0), 100, 200)
    (slice(50, 100, None), slice(0, 50, None))
    """
    return _span(box[1], box[3], height), _span(box[0], box[2], width)


def _span(start: float, stop: float, length: int) -> slice:
    first = min(max(round(start * length), 0), length - 1)
    return slice(first, min(max(round(stop * length), first + 1), length))
