"""Gaussian noise and shot noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.perturb.images.severity import at
from vlgate.seeds import generator

_DEVIATIONS = (0.08, 0.12, 0.18, 0.26, 0.38)
_PHOTONS = (60.0, 25.0, 12.0, 5.0, 3.0)


def gaussian_noise(image: ArrayLike, severity: int, seed: int = 0) -> Pixels:
    """Add independent Gaussian noise to each value (ImageNet-C's ``gaussian_noise``).

    Its standard deviation is 0.08, 0.12, 0.18, 0.26 or 0.38 of white. With the same seed, a higher severity amplifies
    the same noise, so each value moves further.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> gaussian_noise(np.full((1, 2, 3), 128, np.uint8), 1).shape
    (1, 2, 3)
    """
    deviation = at(severity, _DEVIATIONS)
    pixels = checked(image)
    noise = generator(f"gaussian-noise/{seed}", n_bytes=16).standard_normal(pixels.shape, dtype=np.float32)
    noise *= np.float32(255 * deviation)
    noise += pixels
    return _to_bytes(noise)


def shot_noise(image: ArrayLike, severity: int, seed: int = 0) -> Pixels:
    """Draw each value from a Poisson distribution of photons around itself (ImageNet-C's ``shot_noise``).

    White is 60, 25, 12, 5 or 3 photons.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError as ``gaussian_noise``.

    >>> shot_noise(np.zeros((1, 1, 3), np.uint8), 5).tolist()
    [[[0, 0, 0]]]
    """
    photons = at(severity, _PHOTONS)
    pixels = checked(image)
    counted = generator(f"shot-noise/{seed}", n_bytes=16).poisson(pixels * (photons / 255))
    return _to_bytes(counted.astype(np.float32) * np.float32(255 / photons))


def _to_bytes(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Pixels:
    return np.rint(np.clip(values, 0, 255, out=values), out=values).astype(np.uint8)
