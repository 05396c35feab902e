"""Blur: Gaussian, of a lens out of focus, and of a moving camera."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vlgate.perturb.images.pixels import Pixels, at, checked, scale_of
from vlgate.seeds import generator

# Gaussian blur of 8-bit images.
# ``cv2.GaussianBlur`` is exact in 32 bit and off by up to 1.7 levels in 8 bit. ``blur_background`` takes 2.8 times as
# long if ``cv2.GaussianBlur`` blurs the image and the mask (sigmas of 3, 6 and 9;
# ``benchmarks/image_perturbations.py``), and 1.6 times as long if only the image is blurred at full resolution.

# From this sigma on, half the resolution holds all that the blur leaves of the image.
_HALVES_FROM = 2.5
# What halving and doubling add to the variance, in squared pixels: 1 each, the variance of [1 4 6 4 1] / 16.
_PYRAMID_VARIANCE = 2.0
# How far beyond three sigma the two kernels of the pyramid reach, the rounding of radii included.
_MARGIN = 8


def gaussian_blur(image: ArrayLike, sigma: float) -> Pixels:
    """Blur an image of shape (h, w, 3) with a Gaussian of standard deviation ``sigma``, in pixels, cut at 3 sigma.

    Beyond its edges the image is mirrored, the edge pixel included. From a sigma of 2.5 on, the image is blurred at
    half the resolution, between the reduction and the expansion of a Gaussian pyramid (Burt and Adelson 1983). The
    variances of both are subtracted from that of the blur. The result is within one level of the exact blur, rounded.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if ``sigma`` is not a finite number above 0, or the image is not 8-bit RGB.

    >>> gaussian_blur(np.full((4, 5, 3), 200, np.uint8), 3.0).tolist()[0][0]
    [200, 200, 200]
    """
    if not (math.isfinite(sigma) and sigma > 0):
        raise ValueError(f"sigma={sigma!r}: expected a standard deviation in pixels, finite and above 0")
    pixels = checked(image)
    import cv2

    if sigma < _HALVES_FROM:
        # 32-bit sums: OpenCV's 8-bit filter rounds the weights to 1/256 and is off by up to 3 levels.
        kernel = gaussian_kernel(sigma)
        blurred = cv2.sepFilter2D(pixels, cv2.CV_32F, kernel, kernel, borderType=cv2.BORDER_REFLECT)
        return np.asarray(cv2.convertScaleAbs(blurred), dtype=np.uint8)
    height, width = pixels.shape[:2]
    edge = math.ceil(3 * sigma) + _MARGIN
    small = cv2.pyrDown(cv2.copyMakeBorder(pixels, edge, edge, edge, edge, cv2.BORDER_REFLECT))
    kernel = gaussian_kernel(math.sqrt(sigma**2 - _PYRAMID_VARIANCE) / 2)
    large = cv2.pyrUp(cv2.sepFilter2D(small, cv2.CV_32F, kernel, kernel))
    return np.asarray(cv2.convertScaleAbs(large[edge : edge + height, edge : edge + width]), dtype=np.uint8)


def gaussian_kernel(sigma: float, reach: float = 3.0) -> NDArray[np.float32]:
    """Return the weights of a Gaussian at whole pixels up to ``reach`` sigma on both sides; they sum to 1."""
    radius = math.ceil(reach * sigma)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return np.asarray(weights / weights.sum(), dtype=np.float32)


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
    radius = at(severity, (3.0, 4.0, 5.0, 6.0, 7.0))
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
    radius, sigma = at(severity, ((10.0, 3.0), (15.0, 5.0), (15.0, 8.0), (15.0, 10.0), (15.0, 12.0)))
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
