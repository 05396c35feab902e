"""How much of the structure of an image is left after a perturbation, as a number."""

from __future__ import annotations

import numpy as np

from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray

READABLE = 1 / 3
"""The least mean over the drawn scenes with which everything in them was read."""

_FINE = 0.8  # details below this are noise to a reader: the standard deviation of the first blur, in pixels
_WINDOW = 2.0
_STABLE = (0.03 * 255) ** 2  # the constant of the paper for 8-bit images
_SOMETHING = 10.0  # levels: a window that deviates less shows background only


def structure(image: Pixels, perturbed: Pixels) -> float:
    """Return the mean contrast and structure that two images have in common, in -1..1; equal images have 1.

    It is the second factor of SSIM (Wang, Bovik, Sheikh and Simoncelli 2004, equation 13 without the luminance), in
    Gaussian windows, of the luma without its finest details, over the windows in which the first image has something.

    >>> board = np.kron(np.indices((4, 4)).sum(axis=0) % 2, np.ones((20, 20)))[..., None].repeat(3, axis=2)
    >>> round(structure((255 * board).astype(np.uint8), (255 * board).astype(np.uint8)), 6)
    1.0
    >>> structure((255 * board).astype(np.uint8), np.full((80, 80, 3), 128, np.uint8)) < 0.1
    True
    """
    one, other = _smooth(_luma(image), _FINE), _smooth(_luma(perturbed), _FINE)
    means = _smooth(one, _WINDOW), _smooth(other, _WINDOW)
    variances = [_smooth(each * each, _WINDOW) - mean * mean for each, mean in zip((one, other), means, strict=True)]
    common = _smooth(one * other, _WINDOW) - means[0] * means[1]
    similar = (2 * common + _STABLE) / (variances[0] + variances[1] + _STABLE)
    return float(similar[variances[0] > _SOMETHING**2].mean())


def _luma(image: Pixels) -> FloatArray:
    return np.asarray(image @ np.array([0.299, 0.587, 0.114]), dtype=np.float64)


def _smooth(values: FloatArray, sigma: float) -> FloatArray:
    import cv2

    return np.asarray(cv2.GaussianBlur(values, (0, 0), sigma), dtype=np.float64)
