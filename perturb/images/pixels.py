"""Images as arrays of 8-bit RGB, and severities 1 to 5 of perturbations (ImageNet-C)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Images as arrays of 8-bit RGB.

Pixels = NDArray[np.uint8]
"""An RGB image of shape (h, w, 3), h and w at least 1."""

Fill = Sequence[float] | NDArray[np.float64]
"""A colour: red, green and blue, each in 0..255."""

IMAGENET_MEAN = (123.675, 116.28, 103.53)
"""The channel means of ImageNet's training images, which most encoders subtract: 255 x (0.485, 0.456, 0.406)."""


def checked(image: ArrayLike) -> Pixels:
    """Return ``image`` as a contiguous array, which may share its memory: do not write to it.

    Raises: ValueError if it is not an array of uint8 of shape (h, w, 3) with h and w at least 1.
    """
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
        found = f"shape {array.shape} of {array.dtype}"
        raise ValueError(f"image={found}: expected shape (h, w, 3) of uint8, RGB; convert it with image.convert('RGB')")
    return np.ascontiguousarray(array)


def as_colour(fill: ArrayLike) -> Pixels:
    """Return the nearest 8-bit colour, of shape (3,).

    Raises: ValueError if ``fill`` does not consist of three numbers in 0..255.
    """
    colour = np.asarray(fill, dtype=np.float64)
    if colour.shape != (3,) or not ((colour >= 0) & (colour <= 255)).all():
        raise ValueError(f"fill={fill!r}: expected red, green and blue, each in 0..255; see channel_mean")
    return np.rint(colour).astype(np.uint8)


def plain(shape: tuple[int, ...], fill: ArrayLike) -> Pixels:
    """Return an image of shape (h, w, 3) in one colour.

    >>> plain((1, 2, 3), (255, 0, 9.6)).tolist()
    [[[255, 0, 10], [255, 0, 10]]]
    """
    height, width = shape[:2]
    row = np.tile(as_colour(fill), width)
    whole = np.empty((height, width * 3), np.uint8)
    whole[:] = row  # whole rows are ten times as fast as three bytes at a time
    return whole.reshape(height, width, 3)


# Severities 1 to 5 of perturbations, after ImageNet-C (Hendrycks and Dietterich 2019).
#
# An image can still be read at every severity. ``contrast``, ``defocus_blur`` and ``motion_blur`` of ImageNet-C go
# further; docs/severities.md has the figures.

SEVERITIES = (1, 2, 3, 4, 5)

# The side of the images for which ImageNet-C gives its lengths.
_SIDE = 224

T = TypeVar("T")


def at(severity: int, table: tuple[T, ...]) -> T:
    """Return a table's entry for a severity.

    Raises: ValueError if the severity is not 1, 2, 3, 4 or 5.
    """
    if severity not in SEVERITIES:
        raise ValueError(f"severity={severity!r}: expected 1, 2, 3, 4 or 5, from mild to strong")
    return table[severity - 1]


def scale_of(shape: tuple[int, ...]) -> float:
    """Return the factor of ImageNet-C's lengths for an image of ``shape`` (h, w, ...): its shorter side over 224.

    So a severity looks the same to a model, whatever the size of the file. The factor is at least 1.
    """
    return max(1.0, min(shape[:2]) / _SIDE)
