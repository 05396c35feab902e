"""Boxes that may hold a thing, from the image alone: what stands out from the background, and its colours and parts.

Things that touch stand out together. Their colours separate them: connected areas of one colour, pairs of neighbouring
areas, what is left without one of them, and the halves and thirds of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MOST = 48
"""The most boxes of an image."""
LEAST_SIDE = 8  # pixels; smaller boxes are left out
LEAST_AREA = 40  # pixels of one colour
STANDS_OUT = 34  # grey levels in some channel between a thing and the background
MOST_AREAS = 7  # of one thing whose pairs are tried
SAME = 0.9  # boxes that overlap more count once
BRIDGES = (3, 11)  # pixels; the wider one joins the stripes of a pattern

Pixels = NDArray[np.uint8]
Boxes = NDArray[np.float32]
Mask = NDArray[np.uint8]
_Box = tuple[int, int, int, int]  # left, top, right, bottom

_DARK, _PALE, _GRAY, _BROWN, _SKIN = 1, 2, 3, 4, 5
_HUES = (8, 20, 33, 85, 126, 151, 170)  # of OpenCV's 180: red, orange, yellow, green, blue, purple, pink
_FIRST_HUE = 6
_BLACK, _DIM, _LIGHT = 90, 165, 215  # of 255
_WEAK, _OF_SKIN = 45, 125  # saturation, of 255


def propose(pixels: Pixels) -> Boxes:
    """Propose boxes for the things in an RGB image of shape (h, w, 3), uint8.

    Returns: boxes of shape (n, 4), left, top, right and bottom in pixels, at most ``MOST``; the whole image if nothing
    stands out.
    """
    import cv2

    smooth: Pixels = np.asarray(cv2.medianBlur(pixels, 3), dtype=np.uint8)
    apart = _apart(smooth)
    colours = _colours(smooth)
    contours, _ = cv2.findContours(apart, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    wholes = sorted((_rectangle(cv2.boundingRect(one)) for one in contours), key=_area, reverse=True)
    wholes = [box for box in wholes if _large(box)]
    ranked = [_parts(apart, colours, box) for box in wholes]
    found = [*wholes]
    for place in range(max(map(len, ranked), default=0)):
        found.extend(parts[place] for parts in ranked if place < len(parts))
    kept = _distinct(found) or [(0, 0, pixels.shape[1], pixels.shape[0])]
    return np.array(kept, dtype=np.float32)


def overlaps(some: Boxes, others: Boxes) -> Boxes:
    """Return the area that two boxes share as a share of the area that either covers.

    ``some``: boxes of shape (n, 4), left, top, right and bottom. ``others``: boxes of shape (m, 4).
    """
    one, other = some[:, None, :], others[None, :, :]
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    both = sides.clip(0).prod(axis=2)
    shares: Boxes = both / (_areas_of(some)[:, None] + _areas_of(others)[None, :] - both)
    return shares


def _areas_of(boxes: Boxes) -> Boxes:
    areas: Boxes = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def _apart(smooth: Pixels) -> Mask:
    import cv2

    median = np.median(smooth[::4, ::4].reshape(-1, 3), axis=0)
    red, green, blue = cv2.split(cv2.absdiff(smooth, np.array((*median, 0.0))))
    _, apart = cv2.threshold(cv2.max(cv2.max(red, green), blue), STANDS_OUT, 1, cv2.THRESH_BINARY)
    return np.asarray(cv2.morphologyEx(apart, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), dtype=np.uint8)


def _colours(smooth: Pixels) -> Mask:
    """Give each pixel the number of a colour: dark, pale, gray, brown, skin, or a hue."""
    import cv2

    hue, strength, light = cv2.split(cv2.cvtColor(smooth, cv2.COLOR_RGB2HSV))
    numbers = np.searchsorted(_HUES, np.arange(256), side="right") % len(_HUES) + _FIRST_HUE
    found = np.asarray(cv2.LUT(hue, numbers.astype(np.uint8)), dtype=np.uint8)
    warm, dim, weak = found == _FIRST_HUE + 1, light < _DIM, strength < _WEAK
    found[warm & dim] = _BROWN
    found[warm & ~dim & (strength < _OF_SKIN)] = _SKIN
    found[weak] = _GRAY
    found[weak & (light > _LIGHT)] = _PALE
    found[light < _BLACK] = _DARK
    return found


def _parts(apart: Mask, colours: Mask, whole: _Box) -> list[_Box]:
    """Propose the parts of what stands out in the box ``whole``, the likeliest things first."""
    left, top, right, bottom = whole
    inside, labels = apart[top:bottom, left:right], colours[top:bottom, left:right]
    areas = sorted(_areas(inside, labels), key=_area, reverse=True)
    areas = _distinct(areas)[:MOST_AREAS]
    pairs = [_around(one, other) for one, other in combinations(areas, 2) if _touch(one, other)]
    rest = [box for box in (_rest(inside, area) for area in areas[:4]) if box is not None]
    width, height = right - left, bottom - top
    cuts = [
        (0, 0, width, height // 2),
        (0, height // 2, width, height),
        (0, height // 3, width, height),
        (0, 0, width, 2 * height // 3),
        (0, 0, width // 2, height),
        (width // 2, 0, width, height),
    ]
    return [(a + left, b + top, c + left, d + top) for a, b, c, d in (*areas, *rest, *pairs, *cuts) if c - a and d - b]


def _areas(inside: Mask, labels: Mask) -> list[_Box]:
    """The boxes of the connected areas of each colour, with gaps bridged narrowly and widely."""
    import cv2

    found: list[_Box] = []
    for label in np.flatnonzero(np.bincount((labels * inside).ravel(), minlength=1) >= LEAST_AREA):
        if label in {0, _DARK, _PALE}:
            continue
        mask = ((labels == label) & (inside > 0)).astype(np.uint8)
        for bridge in BRIDGES:
            closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((bridge, bridge), np.uint8))
            _, _, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
            found.extend(
                _rectangle((int(x), int(y), int(w), int(h))) for x, y, w, h, area in stats[1:] if area >= LEAST_AREA
            )
        found.append(_rectangle(cv2.boundingRect(mask)))
    return [box for box in found if _large(box)]


def _rest(inside: Mask, area: _Box) -> _Box | None:
    """The box around what stands out without what is in ``area``."""
    import cv2

    left, top, right, bottom = area
    rest = inside.copy()
    rest[max(0, top - 2) : bottom + 2, max(0, left - 2) : right + 2] = 0
    rest = np.asarray(cv2.morphologyEx(rest, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), dtype=np.uint8)
    box = _rectangle(cv2.boundingRect(rest))
    return box if _large(box) else None


def _distinct(boxes: list[_Box]) -> list[_Box]:
    large = [box for box in dict.fromkeys(boxes) if _large(box)]
    if not large:
        return []
    same = overlaps(np.array(large, dtype=np.float32), np.array(large, dtype=np.float32)) >= SAME
    kept: list[int] = []
    free = np.ones(len(large), dtype=bool)
    for place in range(len(large)):
        if free[place]:
            kept.append(place)
            free &= ~same[place]
            if len(kept) == MOST:
                break
    return [large[place] for place in kept]


def _touch(one: _Box, other: _Box) -> bool:
    gap = 6
    return (
        one[0] <= other[2] + gap and other[0] <= one[2] + gap and one[1] <= other[3] + gap and other[1] <= one[3] + gap
    )


def _around(one: _Box, other: _Box) -> _Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _rectangle(box: Sequence[int]) -> _Box:
    left, top, width, height = box
    return left, top, left + width, top + height


def _area(box: _Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _large(box: _Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) >= LEAST_SIDE
