"""Regions of a photograph that may be covered: those that touch nothing that the texts of the case name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from vlgate.errors import ImageError
from vlgate.perturb.images.boxes import on_image, rescale
from vlgate.perturb.images.lazy import PerturbedLoad
from vlgate.perturb.images.pixels import IMAGENET_MEAN, Pixels
from vlgate.perturb.scene_graph import Box
from vlgate.shrink.moves import Move
from vlgate.shrink.truth import graph_of
from vlgate.types import Case, LazyImage, images_of

ROWS = 5
"""Regions grow around the centres of ``ROWS`` x ``ROWS`` cells of the image."""
SIDES = tuple(share / 100 for share in range(5, 51, 5))
"""The side of a region as a share of the image's; the largest covers a quarter of the image, which has the size 1."""
AROUND = 0.02
"""A region keeps this share of the image's longer side away from the boxes of what the texts name."""
UNKNOWN = "the data has no boxes of what the texts name"


def region_moves(case: Case) -> tuple[tuple[tuple[Move, ...], ...], str]:
    """Return the regions of a case's images that may be covered, in directions, each from the smallest to the largest.

    What the texts name is known from ``Case.named``, or from a perturbation of the image that the case itself has. A
    drawn scene has none: covering a thing would say nothing that removing it does not say better.

    Returns: the directions, and why there are none; empty if there are some, or no image could have any.
    """
    images = {image.key: image for request in case.requests for image in images_of(request)}
    photographs = {key: image for key, image in images.items() if graph_of(_original(image)) is None}
    placed = {key: _known(case, image, images.values()) for key, image in photographs.items()}
    known = {key: boxes for key, boxes in placed.items() if boxes is not None}
    if not known:
        return (), UNKNOWN if photographs else ""
    found: list[tuple[Move, ...]] = []
    for number, (key, (boxes, size)) in enumerate(known.items(), start=1):
        try:
            loaded = photographs[key].load().size
        except ImageError:
            continue
        scaled = boxes if size is None else rescale(boxes, size, loaded)
        found += _directions(key, number, scaled, loaded)
    return tuple(found), "" if found else "every region touches what the texts name"


def _original(image: LazyImage) -> LazyImage:
    return _original(image.load.image) if isinstance(image.load, PerturbedLoad) else image


def _known(
    case: Case, image: LazyImage, images: Iterable[LazyImage]
) -> tuple[tuple[Box, ...], tuple[int, int] | None] | None:
    """The boxes of what the texts name on an image, and the size of the image that they belong to."""
    if image.key in case.named:
        return tuple(Box(x=x, y=y, w=w, h=h) for x, y, w, h in case.named[image.key]), None
    for other in images:
        load = other.load
        if isinstance(load, PerturbedLoad) and load.image == image and load.boxes:
            return load.boxes, load.size
    return None


def _directions(key: str, number: int, boxes: Iterable[Box], size: tuple[int, int]) -> Iterator[tuple[Move, ...]]:
    width, height = size
    away = AROUND * max(size)
    try:
        kept = [
            (box.x - away, box.y - away, box.x + box.w + away, box.y + box.h + away) for box in on_image(boxes, *size)
        ]
    except ValueError:  # no box is on the image
        return
    for row in range(ROWS):
        for column in range(ROWS):
            middle = (column + 0.5) / ROWS, (row + 0.5) / ROWS
            moves: list[Move] = []
            for side in SIDES:
                region = _region(middle, side)
                left, top, right, low = (edge * (width, height)[at % 2] for at, edge in enumerate(region))
                if any(left < b[2] and right > b[0] and top < b[3] and low > b[1] for b in kept):
                    break
                moves.append(_cover(key, f"cover {number}.{row}{column} ", side, region))
            if moves:
                yield tuple(moves)


def _region(middle: tuple[float, float], side: float) -> tuple[float, float, float, float]:
    x, y = middle
    return max(0.0, x - side / 2), max(0.0, y - side / 2), min(1.0, x + side / 2), min(1.0, y + side / 2)


def _cover(key: str, kind: str, side: float, region: tuple[float, float, float, float]) -> Move:
    share = (region[2] - region[0]) * (region[3] - region[1])
    return Move(
        kind=kind,
        strength=round(side, 2),
        says=f"{share:.1%} of the image covered, at {region[0]:.0%} from the left and {region[1]:.0%} from the top",
        distance=share / SIDES[-1] ** 2,
        alter=partial(covered, region=region),
        of=key,
        family="region",
        about="a region that the texts do not name",
    )


def covered(pixels: Pixels, *, region: tuple[float, float, float, float]) -> Pixels:
    """Paint a region of an image of shape (h, w, 3) with the mean colour of ImageNet.

    ``region`` is left, top, right and bottom as shares of the width and height.

    >>> covered(np.zeros((2, 2, 3), np.uint8), region=(0, 0, 0.5, 0.5))[:, :, 0].tolist()
    [[124, 0], [0, 0]]
    """
    height, width = pixels.shape[:2]
    left, right = (round(edge * width) for edge in region[::2])
    top, low = (round(edge * height) for edge in region[1::2])
    painted = pixels.copy()
    painted[top : max(low, top + 1), left : max(right, left + 1)] = np.rint(IMAGENET_MEAN).astype(np.uint8)
    return painted
