"""Lossy compression: JPEG and pixelation."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.perturb.images.severity import at, scale_of

_QUALITIES = (25, 18, 15, 10, 7)
_SHARES = (0.6, 0.5, 0.4, 0.3, 0.25)


def jpeg(image: ArrayLike, severity: int) -> Pixels:
    """Compress as JPEG of quality 25, 18, 15, 10 or 7, with Pillow's defaults (ImageNet-C's ``jpeg_compression``).

    The same version of Pillow gives the same bytes.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> jpeg(np.full((8, 8, 3), 128, np.uint8), 5)[0, 0].tolist()
    [128, 128, 128]
    """
    quality = at(severity, _QUALITIES)
    pixels = checked(image)
    from PIL import Image

    stream = BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return np.array(Image.open(stream).convert("RGB"))


def pixelate(image: ArrayLike, severity: int) -> Pixels:
    """Reduce to 0.6, 0.5, 0.4, 0.3 or 0.25 of the width and height and back, by the mean of areas (ImageNet-C).

    These shares hold if the shorter side is 224 pixels or less. Larger images are reduced to as many pixels as an image
    of that size: 134 to 56 on the shorter side.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``jpeg``.

    >>> pixelate(np.array([[[0] * 3, [100] * 3]], np.uint8), 2).tolist()
    [[[50, 50, 50], [50, 50, 50]]]
    """
    pixels = checked(image)
    share = at(severity, _SHARES) / scale_of(pixels.shape)
    from PIL.Image import Resampling, fromarray

    height, width = pixels.shape[:2]
    small = fromarray(pixels).resize((max(1, int(width * share)), max(1, int(height * share))), Resampling.BOX)
    return np.array(small.resize((width, height), Resampling.BOX))
