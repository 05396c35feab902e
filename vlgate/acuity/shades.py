"""Shades between two colours of the drawn world, at a distance in CIELAB."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

from vlgate.fixtures.scenes.palette import COLOURS
from vlgate.types import FloatArray

LEAST = 86.0
"""The least distance of the two colours of a trial: that of the easy end."""
_STEPS = 40  # of a bisection: a weight to 1e-12


@cache  # eight colours
def pairs() -> tuple[tuple[str, str], ...]:
    """Return the pairs of colours that are at least ``LEAST`` apart."""
    return tuple(pair for pair in combinations(COLOURS, 2) if distance(*pair, 0.0) >= LEAST)


def weight_of(one: str, other: str, level: float) -> float:
    """Return the share of the other colour at which the shade and its mirror image are ``level`` apart, 0 to 0.5.

    The mirror image is the other colour with the same share of the first one.

    OpenCV's conversion has steps of less than 0.1.

    >>> round(distance("red", "blue", weight_of("red", "blue", 30.0)))
    30
    """
    near, far = 0.0, 0.5
    if distance(one, other, near) <= level:
        return near
    for _ in range(_STEPS):
        middle = (near + far) / 2
        near, far = (middle, far) if distance(one, other, middle) > level else (near, middle)
    return near


def distance(one: str, other: str, weight: float) -> float:
    """Return the distance in CIELAB (CIE 1976) of a shade with this share of the other colour from its mirror image."""
    first, second = (np.array(COLOURS[name], np.float64) for name in (one, other))
    shade, mirror = (lab((1 - share) * first + share * second) for share in (weight, 1 - weight))
    return float(np.linalg.norm(shade - mirror))


def lab(rgb: FloatArray) -> FloatArray:
    """Return the CIELAB coordinates of a colour in sRGB, 0 to 255, shape (3,), for the white of D65.

    >>> lab(np.array([255.0, 255.0, 255.0])).round(1).tolist()
    [100.0, 0.0, 0.0]
    """
    import cv2

    pixel = (rgb / 255).astype(np.float32)[None, None]
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_RGB2Lab)[0, 0], dtype=np.float64)
