"""Clip, enlarge and move boxes on an image, and convert them to whole pixels.

Coordinates are pixels with fractions: x = 0 is the image's left edge and x = 1 the right edge of its first column.
"""

import math
from collections.abc import Iterable, Sequence

from vlgate.perturb.scene_graph import Box

SMALLEST = 32.0
"""The least width and height, in pixels, at which people still recognise what a box shows (Torralba et al. 2008), and
CARETS' own minimum (footnote 3)."""

# A box that was scaled there and back may miss the edge of a pixel by this much.
_TOUCH = 1e-6


def check_box(box: Box) -> None:
    if not all(map(math.isfinite, (box.x, box.y, box.w, box.h))) or box.w <= 0 or box.h <= 0:
        raise ValueError(f"box={box!r}: expected finite numbers, and a width and a height above 0")


def on_image(boxes: Iterable[Box], width: int, height: int) -> tuple[Box, ...]:
    """Clip the boxes to an image of ``width`` x ``height`` pixels, and leave out those beside it.

    Returns: at least one box, in the order given.
    Raises: ValueError if a box is not finite, its width or height is not above 0, or none overlaps the image.

    >>> on_image([Box(x=-5, y=2, w=10, h=100)], 20, 10)
    (Box(x=0.0, y=2.0, w=5.0, h=8.0),)
    """
    given = tuple(boxes)
    clipped: list[Box] = []
    for box in given:
        check_box(box)
        left, right = (float(min(max(0, at), width)) for at in (box.x, box.x + box.w))
        top, bottom = (float(min(max(0, at), height)) for at in (box.y, box.y + box.h))
        clipped.append(Box(x=left, y=top, w=right - left, h=bottom - top))
    kept = tuple(box for box in clipped if box.w > _TOUCH and box.h > _TOUCH)
    if not kept:
        many = ", ".join(map(str, given)) or "none given"
        remedy = "name at least one box on it, in its own pixels (see rescale)"
        raise ValueError(f"boxes={many}: no box overlaps the image of {width} x {height} pixels; {remedy}")
    return kept


def at_least(box: Box, width: int, height: int, *, smallest: float = SMALLEST) -> Box:
    """Enlarge a box to ``smallest`` x ``smallest`` pixels around its centre, and shift it inside the image.

    A side that is long enough keeps its length. If the image is smaller than ``smallest``, the box gets the length of
    the image. A box that is large enough and inside the image stays as it is.

    >>> at_least(Box(x=0, y=50, w=10, h=40), 100, 100)
    Box(x=0.0, y=50.0, w=32.0, h=40.0)
    """
    x, w = _grow(box.x, box.w, smallest, width)
    y, h = _grow(box.y, box.h, smallest, height)
    return Box(x=x, y=y, w=w, h=h)


def rescale(boxes: Iterable[Box], size: tuple[int, int], to: tuple[int, int]) -> tuple[Box, ...]:
    """Scale boxes from an image of ``size`` (width, height) to the same image of size ``to``.

    Raises: ValueError if a size is not above 0.

    >>> rescale([Box(x=10, y=10, w=5, h=5)], (100, 50), (200, 200))
    (Box(x=20.0, y=40.0, w=10.0, h=20.0),)
    """
    if min(*size, *to) <= 0:
        raise ValueError(f"size={size!r}, to={to!r}: expected (width, height) in pixels, both above 0")
    across, down = to[0] / size[0], to[1] / size[1]
    return tuple(Box(x=box.x * across, y=box.y * down, w=box.w * across, h=box.h * down) for box in boxes)


def mirror_box(box: Box, width: float) -> Box:
    """Return the box after the image, ``width`` pixels wide, is flipped left to right.

    >>> mirror_box(Box(x=0, y=5, w=10, h=10), 100)
    Box(x=90, y=5, w=10, h=10)
    """
    return Box(x=width - box.x - box.w, y=box.y, w=box.w, h=box.h)


def enlarge(box: Box, by: float) -> Box:
    # Each side moves outwards; the box may leave the image.
    return Box(x=box.x - by, y=box.y - by, w=box.w + 2 * by, h=box.h + 2 * by)


def around(boxes: Sequence[Box]) -> Box:
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.w for box in boxes), max(box.y + box.h for box in boxes)
    return Box(x=x, y=y, w=right - x, h=bottom - y)


def pixels_of(box: Box, width: int, height: int) -> tuple[slice, slice]:
    """All pixels that the box touches, as rows and columns."""
    return _span(box.y, box.h, height), _span(box.x, box.w, width)


def _grow(start: float, length: float, smallest: float, whole: int) -> tuple[float, float]:
    if length >= smallest and start >= 0 and start + length <= whole:
        return float(start), float(length)  # as it is: no rounding errors
    grown = min(max(length, smallest), float(whole))
    return min(max(0.0, start + (length - grown) / 2), whole - grown), grown


def _span(start: float, length: float, whole: int) -> slice:
    first = min(max(0, math.floor(start + _TOUCH)), whole - 1)
    return slice(first, min(whole, max(first + 1, math.ceil(start + length - _TOUCH))))
