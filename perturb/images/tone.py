"""Brightness, contrast and greyscale."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.perturb.images.severity import at

ADDED = (0.1, 0.2, 0.3, 0.4, 0.5)
LEFT = (0.4, 0.3, 0.25, 0.2, 0.15)
LUMA = (4899, 9617, 1868)
"""ITU-R BT.601's weights of red, green and blue, times 2 ** 14."""


def brightness(image: ArrayLike, severity: int) -> Pixels:
    """Add 0.1, 0.2, 0.3, 0.4 or 0.5 of white to each pixel's value in HSV, hue and saturation kept (ImageNet-C).

    The value is the largest of red, green and blue, so the three grow by the same factor.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> brightness(np.array([[[0, 0, 0], [0, 34, 102]]], np.uint8), 2).tolist()
    [[[51, 51, 51], [0, 51, 153]]]
    """
    added = 255 * at(severity, ADDED)
    pixels = checked(image)
    value = pixels.max(axis=2)
    levels = np.arange(256, dtype=np.float32)
    factors = np.minimum(levels + np.float32(added), 255) / np.maximum(levels, 1)
    brighter = pixels * factors[value][..., None]
    brighter[value == 0] = added  # black has no hue: it becomes grey
    return np.asarray(np.rint(brighter), dtype=np.uint8)


def contrast(image: ArrayLike, severity: int) -> Pixels:
    """Leave 0.4, 0.3, 0.25, 0.2 or 0.15 of each value's distance to its channel's mean in the image.

    Severities 1, 2 and 4 are severities 1, 2 and 3 of ImageNet-C's ``contrast``. Its severities 4 and 5 leave 0.1 and
    0.05, at which some photographs cannot be read.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``brightness``.

    >>> contrast(np.array([[[0, 0, 0], [100, 200, 0]]], np.uint8), 4).tolist()
    [[[40, 80, 0], [60, 120, 0]]]
    """
    left = at(severity, LEFT)
    pixels = checked(image)
    means = pixels.sum(axis=(0, 1), dtype=np.int64) / (pixels.shape[0] * pixels.shape[1])
    flat = np.empty_like(pixels)
    for channel, mean in enumerate(means):
        flat[..., channel] = np.rint((np.arange(256) - mean) * left + mean).astype(np.uint8)[pixels[..., channel]]
    return flat


def greyscale(image: ArrayLike) -> Pixels:
    """Replace each pixel by its luma (ITU-R BT.601): (4899 r + 9617 g + 1868 b) / 2 ** 14, rounded.

    Returns: a new array of shape (h, w, 3), uint8, with three equal channels.
    Raises: ValueError if the image is not 8-bit RGB.

    >>> greyscale(np.array([[[255, 0, 0]]], np.uint8)).tolist()
    [[[76, 76, 76]]]
    """
    luma = (checked(image).astype(np.int32) @ np.array(LUMA, np.int32) + (1 << 13)) >> 14
    return np.repeat(luma.astype(np.uint8)[..., None], 3, axis=2)
