"""The blurred mask of some boxes, computed without drawing and blurring a mask.

The blur of a rectangle is the outer product of two profiles, and boxes that overlap cut each other into rectangles. So
the blur of several boxes together is a product of three small matrices. It is exact for fractions of pixels.

``blur_background`` with a mask that is drawn and blurred by ``cv2.GaussianBlur`` takes 2.1 times as long, or 1.3 to 2.0
times if only the surroundings of the boxes are blurred (one to five boxes, sigmas of 3, 6 and 9, 640 x 480 pixels).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vlgate.perturb.scene_graph import Box

REACH = 3.0
"""How far the Gaussian of the border reaches, in sigmas; beyond it the weights are exactly 0 and 1."""

FloatMatrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftMask:
    """The factors of the weights: ``down`` (i, h), ``cells`` (i, j), ``across`` (j, w), float32.

    ``cells`` is 1 for each cell between two edges down and two edges across that a box covers. ``down`` and ``across``
    are the profiles of the intervals between edges.
    """

    down: FloatMatrix
    cells: FloatMatrix
    across: FloatMatrix

    def weights(self, rows: slice, columns: slice) -> FloatMatrix:
        """Return the weights of these rows and columns, of shape (rows, columns), float32, each in 0..1."""
        return np.clip(self.down[:, rows].T @ self.cells @ self.across[:, columns], 0, 1)


def soft_mask(boxes: Sequence[Box], sigma: float, width: int, height: int) -> SoftMask:
    """Return the mask of ``boxes``, 1 in any of them and 0 elsewhere, blurred by a Gaussian of ``sigma`` pixels.

    Beyond its edges the image of ``width`` x ``height`` pixels is mirrored, as in ``gaussian_blur``: a box has no
    border on a side that meets the edge of the image.

    >>> mask = soft_mask([Box(x=0, y=0, w=4, h=9)], 1.0, 9, 9)
    >>> (100 * mask.weights(slice(0, 1), slice(0, 9))).round().tolist()
    [[100.0, 100.0, 93.0, 69.0, 31.0, 7.0, 0.0, 0.0, 0.0]]
    """
    edges_x = sorted({edge for box in boxes for edge in (box.x, box.x + box.w)})
    edges_y = sorted({edge for box in boxes for edge in (box.y, box.y + box.h)})
    cells = np.zeros((len(edges_y) - 1, len(edges_x) - 1), np.float32)
    for box in boxes:
        rows = slice(edges_y.index(box.y), edges_y.index(box.y + box.h))
        cells[rows, edges_x.index(box.x) : edges_x.index(box.x + box.w)] = 1
    return SoftMask(down=_profiles(edges_y, sigma, height), cells=cells, across=_profiles(edges_x, sigma, width))


def _profiles(edges: Sequence[float], sigma: float, length: int) -> FloatMatrix:
    """Return how much of each blurred pixel lies between two neighbouring edges, of shape (edges - 1, length)."""
    folds = math.ceil(REACH * sigma / (2 * length))
    shifts = [2 * fold * length for fold in range(-folds, folds + 1)]  # the mirrors at both ends
    beyond = np.zeros((len(edges), length))
    for row, edge in zip(beyond, edges, strict=True):
        for shift in shifts:
            _add_rise(row, shift + edge, sigma, 1)
            _add_rise(row, shift - edge, sigma, -1)
    return (beyond[:-1] - beyond[1:]).astype(np.float32)


def _add_rise(row: NDArray[np.float64], edge: float, sigma: float, sign: int) -> None:
    """Add a blurred step from 0 to ``sign`` at ``edge``."""
    first = max(0, math.floor(edge - REACH * sigma))
    last = min(max(0, math.ceil(edge + REACH * sigma)), len(row))
    if first < last:
        row[first:last] += sign * np.interp((np.arange(first, last) + 0.5 - edge) / sigma, *_step())
    row[last:] += sign


@cache
def _step() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a blurred step from 0 to 1, in sigmas: the Gaussian's integral, cut at ``REACH``."""
    places = np.linspace(-REACH, REACH, 1201)
    values = np.array([math.erf(place / math.sqrt(2)) for place in places]) / math.erf(REACH / math.sqrt(2))
    return places, (1 + values) / 2
