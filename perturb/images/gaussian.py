"""Gaussian blur of 8-bit images.

``cv2.GaussianBlur`` is exact in 32 bit and off by up to 1.7 levels in 8 bit. ``blur_background`` takes 2.8 times as
long if ``cv2.GaussianBlur`` blurs the image and the mask (sigmas of 3, 6 and 9; ``benchmarks/image_perturbations.py``),
and 1.6 times as long if only the image is blurred at full resolution.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vlgate.perturb.images.pixels import Pixels, checked

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
    check_sigma(sigma)
    pixels = checked(image)
    return _at_half(pixels, sigma) if sigma >= _HALVES_FROM else _at_full(pixels, sigma)


def check_sigma(sigma: float) -> None:
    """Raise ValueError if ``sigma`` is not finite or not above 0."""
    if not (math.isfinite(sigma) and sigma > 0):
        raise ValueError(f"sigma={sigma!r}: expected a standard deviation in pixels, finite and above 0")


def gaussian_kernel(sigma: float, reach: float = 3.0) -> NDArray[np.float32]:
    """Return the weights of a Gaussian at whole pixels up to ``reach`` sigma on both sides; they sum to 1."""
    radius = math.ceil(reach * sigma)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return np.asarray(weights / weights.sum(), dtype=np.float32)


def _at_full(image: Pixels, sigma: float) -> Pixels:
    import cv2

    # 32-bit sums: OpenCV's 8-bit filter rounds the weights to 1/256 and is off by up to 3 levels.
    kernel = gaussian_kernel(sigma)
    blurred = cv2.sepFilter2D(image, cv2.CV_32F, kernel, kernel, borderType=cv2.BORDER_REFLECT)
    return np.asarray(cv2.convertScaleAbs(blurred), dtype=np.uint8)


def _at_half(image: Pixels, sigma: float) -> Pixels:
    import cv2

    height, width = image.shape[:2]
    edge = math.ceil(3 * sigma) + _MARGIN
    small = cv2.pyrDown(cv2.copyMakeBorder(image, edge, edge, edge, edge, cv2.BORDER_REFLECT))
    kernel = gaussian_kernel(math.sqrt(sigma**2 - _PYRAMID_VARIANCE) / 2)
    large = cv2.pyrUp(cv2.sepFilter2D(small, cv2.CV_32F, kernel, kernel))
    return np.asarray(cv2.convertScaleAbs(large[edge : edge + height, edge : edge + width]), dtype=np.uint8)
