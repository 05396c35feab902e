"""Mirror or turn an image; ``mirror_box`` moves its boxes, and ``flip_words`` exchanges left and right in a text."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, as_colour, checked
from vlgate.perturb.images.severity import at
from vlgate.seeds import generator

_DEGREES = (5.0, 10.0, 15.0, 20.0, 30.0)


def flip(image: ArrayLike) -> Pixels:
    """Mirror the image left to right, so that text in it cannot be read any more (see ``flip_words``).

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the image is not 8-bit RGB.

    >>> flip(np.array([[[1, 1, 1], [2, 2, 2]]], np.uint8))[..., 0].tolist()
    [[2, 1]]
    """
    return checked(image)[:, ::-1].copy()


def rotate(image: ArrayLike, severity: int, seed: int = 0, fill: ArrayLike | None = None) -> Pixels:
    """Turn the image around its centre by 5, 10, 15, 20 or 30 degrees, within its frame; the seed draws the direction.

    The corners that come into view get ``fill``, by default the image's own mean colour: mirrored borders would show
    objects twice and change a count. The corners of the image itself leave the frame.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError if the severity is not 1 to 5, the image is not 8-bit RGB, or ``fill`` is not a colour.

    >>> rotate(np.full((4, 4, 3), 9, np.uint8), 5).tolist()[0][0]
    [9, 9, 9]
    """
    degrees = at(severity, _DEGREES) * generator(f"rotate/{seed}", n_bytes=16).choice((-1, 1))
    pixels = checked(image)
    import cv2

    height, width = pixels.shape[:2]
    colour = as_colour(pixels.mean(axis=(0, 1)) if fill is None else fill)
    turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), float(degrees), 1.0)
    border = tuple(map(float, colour))
    turned = cv2.warpAffine(pixels, turn, (width, height), borderMode=cv2.BORDER_CONSTANT, borderValue=border)
    return np.asarray(turned, dtype=np.uint8)
