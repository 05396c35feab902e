"""The parts of an image that are changed one at a time: windows, boxes or segments, painted over or exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vlgate.perturb.images.pixels import Pixels
from vlgate.types import Box, FloatArray, LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 112  # the longer side at which a box is painted: the smooth colours that fill it need no more pixels
RADIUS = 3  # how far the painting looks from each pixel


class Decoded:
    """The pixels of an image, shape (h, w, 3), decoded once for all of its changed copies."""

    def __init__(self, image: LazyImage) -> None:
        self.image = image

    @cached_property
    def pixels(self) -> Pixels:
        found: Pixels = np.asarray(self.image.load())
        return found

    @cached_property
    def small(self) -> Pixels:
        return _shrunk(self.pixels, SIDE)

    @cached_property
    def mean(self) -> Pixels:
        colour: Pixels = np.rint(self.pixels.reshape(-1, 3).mean(axis=0)).astype(np.uint8)
        return colour


def _with_box(decoded: Decoded, box: Box, other: Decoded | None = None) -> Image:
    from PIL import Image

    pixels = decoded.pixels.copy()
    place = places(box, *pixels.shape[:2])
    if other is None:
        pixels[place] = resized(painted(decoded, box), *pixels[place].shape[:2])
    else:
        pixels[place] = resized(other.pixels, *pixels.shape[:2])[place]
    return Image.fromarray(pixels)


def painted(decoded: Decoded, box: Box) -> Pixels:
    """Return the pixels of a box: colours that run in from its edges (Telea 2004, in OpenCV), or the mean colour."""
    # A patch of one colour would be a new thing in many images. What runs in from the edges is hardly one.
    import cv2

    small = decoded.small
    rows, columns = places(box, *small.shape[:2])
    top, left = max(0, rows.start - RADIUS - 1), max(0, columns.start - RADIUS - 1)
    around: Pixels = np.ascontiguousarray(small[top : rows.stop + RADIUS + 1, left : columns.stop + RADIUS + 1])
    inside = (slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left))
    hole = np.zeros(around.shape[:2], np.uint8)
    hole[inside] = 1
    if hole.all():
        return np.broadcast_to(decoded.mean, around.shape)
    filled: Pixels = np.asarray(cv2.inpaint(around, hole, RADIUS, cv2.INPAINT_TELEA), dtype=np.uint8)
    return filled[inside]


def resized(pixels: Pixels, height: int, width: int) -> Pixels:
    import cv2

    if pixels.shape[:2] == (height, width):
        return pixels
    shrinks = height * width < pixels.shape[0] * pixels.shape[1]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=how), dtype=np.uint8)


def _shrunk(pixels: Pixels, side: int) -> Pixels:
    height, width = pixels.shape[:2]
    share = min(1.0, side / max(height, width))
    return resized(pixels, max(1, round(height * share)), max(1, round(width * share)))


def places(box: Box, height: int, width: int) -> tuple[slice, slice]:
    return _span(box[1], box[3], height), _span(box[0], box[2], width)


def _span(start: float, stop: float, length: int) -> slice:
    first = min(max(round(start * length), 0), length - 1)
    return slice(first, min(max(round(stop * length), first + 1), length))


ACROSS = 4  # the side of a window is this part of the image's
WINDOWS: tuple[Box, ...] = tuple(
    (x / 8, y / 8, x / 8 + 1 / ACROSS, y / 8 + 1 / ACROSS) for y in range(7) for x in range(7)
)  # windows of a quarter of the image's width and height, each half a window from the next: 7 rows of 7
MOST_BOXES = 49
"""The most boxes of an image that are changed, the first ones, so that a case costs the same for every model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    box: Box
    changed: LazyImage = field(repr=False)


def hidden(image: LazyImage, boxes: Sequence[Box] = WINDOWS) -> tuple[Region, ...]:
    decoded = Decoded(image)
    return tuple(_region(image, box, "hidden", partial(_with_box, decoded, box)) for box in boxes[:MOST_BOXES])


def from_another(image: LazyImage, other: LazyImage, boxes: Sequence[Box] = WINDOWS) -> tuple[Region, ...]:
    decoded, source = Decoded(image), Decoded(other)
    load = partial(_with_box, decoded, other=source)
    return tuple(_region(image, box, f"from-{other.key}", partial(load, box)) for box in boxes[:MOST_BOXES])


def heat(boxes: Sequence[Box], effects: FloatArray, side: int = 64) -> FloatArray:
    """Return a map of shape (side, side): each pixel has the effect of the smallest box that covers it, or 0."""
    # if several of the smallest have the same size, as windows have, the mean of their effects
    sizes = [round((right - left) * (bottom - top), 6) for left, top, right, bottom in boxes]
    found = np.zeros((side, side))
    for size in sorted(set(sizes), reverse=True):
        total, count = np.zeros((side, side)), np.zeros((side, side))
        for box, effect, own in zip(boxes, effects, sizes, strict=True):
            if own == size:
                place = places(box, side, side)
                total[place] += effect
                count[place] += 1
        found = np.where(count > 0, total / np.maximum(count, 1), found)
    return found


def _region(image: LazyImage, box: Box, how: str, load: Callable[[], Image]) -> Region:
    said = ",".join(f"{edge:.4g}" for edge in box)
    digest = sha256(repr(box).encode()).hexdigest()[:16]
    changed = LazyImage(key=f"{image.key}#{how}-{said}", where=f"{image.where}#{how}@{digest}", load=load)
    return Region(box=box, changed=changed)


MOST_SEGMENTS = 49  # the most parts of an image, the largest ones
SEGMENTED_SIDE = 160  # the longer side at which an image is cut into parts
APART = (15, 30, 60)  # how far the colour of what stands out is from the image's median colour, in CIELAB of OpenCV
COLOURS = (4, 8)  # the numbers of colours that the image is reduced to
LEAST, MOST = 1 / 400, 0.6  # the least share of the image that a part covers, and the largest share of its box
SAME = 0.8  # boxes that share more of their area count once
_ROUNDS = 10


def segments(pixels: Pixels) -> tuple[Box, ...]:
    # A part is a connected area that stands out from the image's median colour, at one of three thresholds, or a
    # connected area of one of a few colours, which are found by k-means (Lloyd 1982). So things, and their parts, are
    # likely among the boxes, whatever the image shows.
    import cv2

    colours = cv2.cvtColor(cv2.medianBlur(_shrunk(pixels, SEGMENTED_SIDE), 3), cv2.COLOR_RGB2LAB).astype(np.float32)
    found = sorted((box for mask in _masks(colours) for box in _boxes(mask)), key=_area, reverse=True)
    kept: list[Box] = []
    for box in found:
        if len(kept) < MOST_SEGMENTS and all(overlap(box, other) <= SAME for other in kept):
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


def overlap(one: Box, other: Box) -> float:
    across = max(0.0, min(one[2], other[2]) - max(one[0], other[0]))
    both = across * max(0.0, min(one[3], other[3]) - max(one[1], other[1]))
    return both / (_area(one) + _area(other) - both)
