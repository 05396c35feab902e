"""Parts of an image by its colours, large ones and the smaller ones in them: what stands out, or has one colour."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vlgate.explaining.painting import resized
from vlgate.explaining.record import Box
from vlgate.perturb.images.pixels import Pixels

MOST_SEGMENTS = 49
"""The most parts of an image, the largest ones."""
SIDE = 160
"""The longer side at which an image is cut into parts."""
APART = (15, 30, 60)
"""How far the colour of what stands out is from the image's median colour, in CIELAB of OpenCV."""
COLOURS = (4, 8)
"""The numbers of colours that the image is reduced to."""
LEAST, MOST = 1 / 400, 0.6
"""The least share of the image that a part covers, and the largest share of its box."""
SAME = 0.8
"""Boxes that share more of their area count once."""
_ROUNDS = 10


def segments(pixels: Pixels) -> tuple[Box, ...]:
    """Return the boxes of the parts of an image, the largest first, at most ``MOST_SEGMENTS``.

    A part is a connected area that stands out from the image's median colour, at one of three thresholds, or a
    connected area of one of a few colours, which are found by k-means (Lloyd 1982). So things, and their parts, are
    likely among the boxes, whatever the image shows.

    Args:
        pixels: the image, shape (h, w, 3).

    Returns: boxes; none for an image of one colour. The same image gives the same boxes.
    """
    import cv2

    height, width = pixels.shape[:2]
    share = min(1.0, SIDE / max(height, width))
    small = resized(pixels, max(1, round(height * share)), max(1, round(width * share)))
    colours = cv2.cvtColor(cv2.medianBlur(small, 3), cv2.COLOR_RGB2LAB).astype(np.float32)
    found = sorted((box for mask in _masks(colours) for box in _boxes(mask)), key=_area, reverse=True)
    kept: list[Box] = []
    for box in found:
        if len(kept) < MOST_SEGMENTS and all(_overlap(box, other) <= SAME for other in kept):
            kept.append(box)
    return tuple(kept)


def _masks(colours: NDArray[np.float32]) -> Iterator[NDArray[np.bool_]]:
    import cv2

    rows = np.ascontiguousarray(colours.reshape(-1, 3))
    shape, median = colours.shape[:2], np.median(rows, axis=0)
    away = np.abs(colours - median).max(axis=2)
    for least in APART:
        yield away > least
    for number in COLOURS:
        if number > len(rows):
            return
        end = (cv2.TERM_CRITERIA_MAX_ITER, _ROUNDS, 0.0)
        first = _farthest(rows, median, number)
        _, labels, _ = cv2.kmeans(rows, number, first, end, 1, cv2.KMEANS_USE_INITIAL_LABELS)
        for label in range(number):
            yield labels.reshape(shape) == label


def _farthest(rows: NDArray[np.float32], start: NDArray[np.float32], number: int) -> NDArray[np.int32]:
    """The nearest of some colours that are far apart, for each colour (Gonzalez 1985); nothing in it is random."""
    nearest = np.full(len(rows), np.inf, np.float32)
    labels, centre = np.zeros((len(rows), 1), np.int32), start
    for label in range(number):
        distance = ((rows - centre) ** 2).sum(axis=1)
        labels[distance < nearest] = label
        nearest = np.minimum(nearest, distance)
        centre = rows[int(np.argmax(nearest))]
    return labels


def _boxes(mask: NDArray[np.bool_]) -> Iterator[Box]:
    import cv2

    height, width = mask.shape
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    for left, top, across, down, area in stats[1:].tolist():
        if area >= LEAST * height * width and across * down <= MOST * height * width:
            yield (left / width, top / height, (left + across) / width, (top + down) / height)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _overlap(one: Box, other: Box) -> float:
    """The shared area of two boxes as a share of what either covers."""
    across = max(0.0, min(one[2], other[2]) - max(one[0], other[0]))
    both = across * max(0.0, min(one[3], other[3]) - max(one[1], other[1]))
    return both / (_area(one) + _area(other) - both)
