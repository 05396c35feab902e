"""Images as arrays of 8-bit RGB, and severities 1 to 5 of perturbations (ImageNet-C)."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Pixels = NDArray[np.uint8]
"""An RGB image of shape (h, w, 3), h and w at least 1."""

IMAGENET_MEAN = (123.675, 116.28, 103.53)
"""The channel means of ImageNet's training images, which most encoders subtract: 255 x (0.485, 0.456, 0.406)."""


def checked(image: ArrayLike) -> Pixels:
    """The image as a contiguous array, which may share its memory; ValueError unless it is (h, w, 3) of uint8."""
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
        given = f"shape {array.shape} of {array.dtype}"
        raise ValueError(f"image={given}: expected shape (h, w, 3) of uint8, RGB; convert it with image.convert('RGB')")
    return np.ascontiguousarray(array)


def as_colour(fill: ArrayLike) -> Pixels:
    colour = np.asarray(fill, dtype=np.float64)
    if colour.shape != (3,) or not ((colour >= 0) & (colour <= 255)).all():
        raise ValueError(f"fill={fill!r}: expected red, green and blue, each in 0..255; see channel_mean")
    return np.rint(colour).astype(np.uint8)


def plain(shape: tuple[int, ...], fill: ArrayLike) -> Pixels:
    height, width = shape[:2]
    row = np.tile(as_colour(fill), width)
    whole = np.empty((height, width * 3), np.uint8)
    whole[:] = row  # whole rows are ten times as fast as three bytes at a time
    return whole.reshape(height, width, 3)


# Severities 1 to 5 of perturbations, after ImageNet-C (Hendrycks and Dietterich 2019).
# An image can still be read at every severity. ``contrast``, ``defocus_blur`` and ``motion_blur`` of ImageNet-C go
# further; docs/severities.md has the figures.

SEVERITIES = (1, 2, 3, 4, 5)

# The side of the images for which ImageNet-C gives its lengths.
_SIDE = 224

T = TypeVar("T")


def at(severity: int, table: tuple[T, ...]) -> T:
    if severity not in SEVERITIES:
        raise ValueError(f"severity={severity!r}: expected 1, 2, 3, 4 or 5, from mild to strong")
    return table[severity - 1]


def scale_of(shape: tuple[int, ...]) -> float:
    """The factor of ImageNet-C's lengths for an image: its shorter side over 224, at least 1."""
    return max(1.0, min(shape[:2]) / _SIDE)
