"""An image with a map of effects over it, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from PIL import Image

from vlgate.explaining.record import Box
from vlgate.explaining.regions import heat
from vlgate.types import FloatArray

SIDE = 320
"""The most pixels of the longer side."""
FOR, AGAINST, SEEN = (0, 90, 200), (225, 100, 0), (130, 40, 150)
"""The colours of what speaks for the right answer, of what speaks against it, and of what is attended to.

Blue and orange are told apart by people who cannot tell red from green.
"""
_STRONGEST = 0.75  # so that the image stays visible under the largest effect
_GREY = 0.65  # the share of the image that is greyscale, so that its own colours are not taken for the map's


def heat_map(image: Image.Image, boxes: Sequence[Box], effects: FloatArray, *, seen: bool = False) -> bytes:
    """Draw effects over an image.

    Args:
        image: the image, mode RGB.
        boxes: n boxes.
        effects: the effect of each of them, shape (n,); above 0 for what speaks for the right answer.
        seen: whether they are weights of attention, which speak for nothing.

    Returns: a PNG file of at most ``SIDE`` x ``SIDE`` pixels; the same input gives the same bytes.
    """
    small = image.copy()
    small.thumbnail((SIDE, SIDE))
    grey = np.asarray(small.convert("L").convert("RGB"), dtype=np.float64)
    plain = _GREY * grey + (1 - _GREY) * np.asarray(small, dtype=np.float64)
    strength = _smooth(heat(boxes, effects), small.size)
    most = np.abs(strength).max()
    share = np.zeros_like(strength) if most == 0 else strength / most
    colours = np.where(share[..., None] >= 0, np.array(SEEN if seen else FOR), np.array(AGAINST))
    alpha = _STRONGEST * np.abs(share)[..., None]
    drawn = (1 - alpha) * plain + alpha * colours
    stream = BytesIO()
    Image.fromarray(np.rint(drawn).astype(np.uint8)).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _smooth(values: FloatArray, size: tuple[int, int]) -> FloatArray:
    """A map at the size of an image, width by height."""
    drawn = Image.fromarray(values.astype(np.float32)).resize(size, Image.Resampling.BILINEAR)
    return np.asarray(drawn, dtype=np.float64)
