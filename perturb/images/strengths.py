"""Crop, brightness, contrast, compression and rotation of any strength.

A benchmark uses a few fixed severities (``severity.SEVERITIES``). A search for the weakest change that matters needs
every strength in between. Each function returns the image unchanged at its neutral strength, except ``compress``, which
has none.
"""

from __future__ import annotations

import math
from io import BytesIO

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, as_colour, checked

LARGEST_MARGIN = 0.3


def crop_margin(image: ArrayLike, share: float) -> Pixels:
    """Crop a share of the width from the left and the right, and of the height from the top and the bottom.

    Args:
        image: shape (h, w, 3), uint8, RGB.
        share: the share of each side, 0 to 0.3; rounded down to whole pixels.

    Returns: a new array of shape (h - 2 * int(share * h), w - 2 * int(share * w), 3), uint8.
    Raises: ValueError if ``share`` is outside 0..0.3, or the image is not 8-bit RGB.

    >>> crop_margin(np.zeros((20, 40, 3), np.uint8), 0.1).shape
    (16, 32, 3)
    """
    if not 0 <= share <= LARGEST_MARGIN:
        raise ValueError(f"share={share!r}: expected 0 to {LARGEST_MARGIN}, a part of the width and of the height")
    pixels = checked(image)
    height, width = pixels.shape[:2]
    rows, columns = int(share * height), int(share * width)
    return pixels[rows : height - rows, columns : width - columns].copy()


def scale_brightness(image: ArrayLike, factor: float) -> Pixels:
    """Multiply every value by ``factor``, up to white.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if ``factor`` is not finite or below 0, or the image is not 8-bit RGB.

    >>> scale_brightness(np.array([[[10, 100, 200]]], np.uint8), 1.5).tolist()
    [[[15, 150, 255]]]
    """
    _check_factor(factor)
    levels = np.clip(np.rint(np.arange(256) * factor), 0, 255).astype(np.uint8)
    return np.asarray(levels[checked(image)], dtype=np.uint8)


def scale_contrast(image: ArrayLike, factor: float) -> Pixels:
    """Multiply each value's distance to its channel's mean in the image by ``factor``.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``scale_brightness``.

    >>> scale_contrast(np.array([[[0, 0, 0], [100, 200, 0]]], np.uint8), 0.5).tolist()
    [[[25, 50, 0], [75, 150, 0]]]
    """
    _check_factor(factor)
    pixels = checked(image)
    means = pixels.sum(axis=(0, 1), dtype=np.int64) / (pixels.shape[0] * pixels.shape[1])
    levels = np.clip(np.rint((np.arange(256)[:, None] - means) * factor + means), 0, 255).astype(np.uint8)
    return np.take_along_axis(levels, pixels.reshape(-1, 3), axis=0).reshape(pixels.shape)


def compress(image: ArrayLike, quality: int) -> Pixels:
    """Compress as JPEG of ``quality``, 1 (worst) to 95, with Pillow's defaults.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if ``quality`` is outside 1..95, or the image is not 8-bit RGB.

    >>> compress(np.full((8, 8, 3), 128, np.uint8), 5)[0, 0].tolist()
    [128, 128, 128]
    """
    if not 1 <= quality <= 95:
        raise ValueError(f"quality={quality!r}: expected 1 to 95, the qualities that Pillow recommends")
    pixels = checked(image)
    from PIL import Image

    stream = BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=int(quality))
    return np.array(Image.open(stream).convert("RGB"))


def turn(image: ArrayLike, degrees: float) -> Pixels:
    """Turn the image around its centre, anticlockwise, within its frame.

    The corners that come into view get the image's mean colour. The corners of the image itself leave the frame.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if ``degrees`` is not finite, or the image is not 8-bit RGB.

    >>> turn(np.full((4, 4, 3), 9, np.uint8), 30.0).tolist()[0][0]
    [9, 9, 9]
    """
    if not math.isfinite(degrees):
        raise ValueError(f"degrees={degrees!r}: expected a finite angle")
    pixels = checked(image)
    import cv2

    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), float(degrees), 1.0)
    border = tuple(map(float, as_colour(pixels.mean(axis=(0, 1)))))
    turned = cv2.warpAffine(pixels, matrix, (width, height), borderMode=cv2.BORDER_CONSTANT, borderValue=border)
    return np.asarray(turned, dtype=np.uint8)


def _check_factor(factor: float) -> None:
    if not (math.isfinite(factor) and factor >= 0):
        raise ValueError(f"factor={factor!r}: expected a finite number, 0 or above; 1 changes nothing")
