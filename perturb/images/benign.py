"""Changes of an image that nobody sees: a shift or a border of a few pixels, another size within 2 %.

JPEG of quality 95 is in ``encodings``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, checked

MOST_PIXELS = 4
MOST_SCALE = 0.02


def shift(image: ArrayLike, right: int, down: int) -> Pixels:
    """Move an image by whole pixels within its frame; the edge that comes into view repeats the image's own edge.

    Args:
        image: shape (h, w, 3), uint8, RGB.
        right: pixels to the right, -4 to 4; negative ones to the left.
        down: pixels down, -4 to 4.

    Returns: a new array of the same shape.
    Raises: ValueError if a number is outside -4..4, or the image is not 8-bit RGB.

    >>> shift(np.arange(9, dtype=np.uint8).reshape(1, 3, 3), 1, 0)[0, :, 0].tolist()
    [0, 0, 3]
    """
    for name, number in (("right", right), ("down", down)):
        if abs(number) > MOST_PIXELS:
            raise ValueError(f"{name}={number!r}: expected -{MOST_PIXELS} to {MOST_PIXELS} pixels")
    pixels = checked(image)
    height, width = pixels.shape[:2]
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    return pixels[rows[:, None], columns]


def pad(image: ArrayLike, border: int) -> Pixels:
    """Add a border of 1 to 4 pixels on every side, which repeats the image's edge.

    Returns: a new array of shape (h + 2 * border, w + 2 * border, 3), uint8.
    Raises: ValueError if ``border`` is outside 1..4, or the image is not 8-bit RGB.

    >>> pad(np.zeros((2, 3, 3), np.uint8), 4).shape
    (10, 11, 3)
    """
    if not 1 <= border <= MOST_PIXELS:
        raise ValueError(f"border={border!r}: expected 1 to {MOST_PIXELS} pixels")
    return np.pad(checked(image), ((border, border), (border, border), (0, 0)), mode="edge")


def rescale(image: ArrayLike, factor: float) -> Pixels:
    """Resize by a factor within 2 % of 1, with Lanczos's filter; at least one side changes by at least one pixel.

    Returns: a new array of shape (round(h * factor), round(w * factor), 3), uint8; a side that rounds to itself stays,
        but for the longer one, which changes by one pixel.
    Raises: ValueError if the factor is 1 or outside 0.98..1.02, or the image is not 8-bit RGB.

    >>> rescale(np.zeros((100, 200, 3), np.uint8), 1.02).shape, rescale(np.zeros((3, 9, 3), np.uint8), 0.98).shape
    ((102, 204, 3), (3, 8, 3))
    """
    if factor == 1 or not 1 - MOST_SCALE <= factor <= 1 + MOST_SCALE:
        raise ValueError(f"factor={factor!r}: expected {1 - MOST_SCALE} to {1 + MOST_SCALE}, and not 1")
    pixels = checked(image)
    from PIL import Image

    sides = np.array(pixels.shape[:2])
    wanted = np.maximum(1, np.rint(sides * factor).astype(int))
    if (wanted == sides).all():
        longer = int(np.argmax(sides))
        wanted[longer] = max(1, sides[longer] + (1 if factor > 1 else -1))
    size = (int(wanted[1]), int(wanted[0]))
    return np.array(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))
