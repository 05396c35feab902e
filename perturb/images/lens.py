"""The blur of a lens out of focus and of a moving camera."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.perturb.images.severity import at, scale_of
from vlgate.seeds import generator

_RADII = (3.0, 4.0, 5.0, 6.0, 7.0)
_TRAILS = ((10.0, 3.0), (15.0, 5.0), (15.0, 8.0), (15.0, 10.0), (15.0, 12.0))


def defocus_blur(image: ArrayLike, severity: int) -> Pixels:
    """Blur with a disk, as a lens out of focus does, after ImageNet-C's ``defocus_blur``.

    Its radius is 3, 4, 5, 6 or 7 pixels in an image whose shorter side is 224, and grows with the image. Severities 1,
    2 and 4 are severities 1, 2 and 3 of ImageNet-C. Its severities 4 and 5 are radii of 8 and 10 pixels, at which
    some things cannot be told from others. Pixels at the rim of the disk are weighted by the share that it
    covers; ImageNet-C blurs a hard rim instead.
    Beyond its edges the image is mirrored.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> defocus_blur(np.full((2, 2, 3), 7, np.uint8), 1).tolist()[0]
    [[7, 7, 7], [7, 7, 7]]
    """
    radius = at(severity, _RADII)
    pixels = checked(image)
    return _filter(pixels, disk(radius * scale_of(pixels.shape)))


def motion_blur(image: ArrayLike, severity: int, seed: int = 0) -> Pixels:
    """Blur along a line, as a moving camera does, after ImageNet-C's ``motion_blur``.

    Each pixel leaves a trail that fades as half a Gaussian of sigma 3, 5, 8, 10 or 12 pixels and is 20, 30, 30, 30 or
    30 pixels long, in an image whose shorter side is 224; it grows with the image. Severities 1, 2, 3 and 5 are
    severities 1 to 4 of ImageNet-C. Its severity 5, of sigma 15 and 40 pixels, smears small things beyond recognition.
    The angle to the horizontal is drawn between -45 and 45 degrees, the same for all severities of a seed.
    The trail is drawn with fractions of pixels; ImageMagick rounds to the nearest pixels.
    Beyond its edges the image is mirrored.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError as ``defocus_blur``.

    >>> motion_blur(np.full((2, 2, 3), 7, np.uint8), 1).tolist()[0]
    [[7, 7, 7], [7, 7, 7]]
    """
    radius, sigma = at(severity, _TRAILS)
    pixels = checked(image)
    scale = scale_of(pixels.shape)
    angle = math.radians(generator(f"motion-blur/{seed}", n_bytes=16).uniform(-45, 45))
    return _filter(pixels, trail(2 * radius * scale, sigma * scale, angle))


def disk(radius: float) -> NDArray[np.float32]:
    """Return the weights of a disk, of shape (n, n) with n odd; they sum to 1."""
    reach = math.ceil(radius)
    across = np.arange(-reach, reach + 1)
    weights = np.clip(radius + 0.5 - np.hypot(across[:, None], across), 0, 1)
    return np.asarray(weights / weights.sum(), dtype=np.float32)


def trail(length: float, sigma: float, angle: float) -> NDArray[np.float32]:
    """Return the weights of a fading line from the centre, of shape (n, n) with n odd; they sum to 1.

    ``angle`` is in radians, to the right of the centre and down.
    """
    reach = math.ceil(length) + 1
    along = np.arange(0, length, 0.5)
    weights = np.zeros((2 * reach + 1, 2 * reach + 1))
    x, y = reach + along * math.cos(angle), reach + along * math.sin(angle)
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    fades = np.exp(-0.5 * (along / sigma) ** 2)
    for right, below in ((0, 0), (0, 1), (1, 0), (1, 1)):  # each point is shared out between the four pixels around it
        shares = (1 - abs(x - left - right)) * (1 - abs(y - top - below))
        np.add.at(weights, (top + below, left + right), fades * shares)
    return np.asarray(weights / weights.sum(), dtype=np.float32)


def _filter(image: Pixels, kernel: NDArray[np.float32]) -> Pixels:
    import cv2

    filtered = cv2.filter2D(image, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT)
    return np.asarray(cv2.convertScaleAbs(filtered), dtype=np.uint8)
