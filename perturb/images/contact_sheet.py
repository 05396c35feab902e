"""One picture under every perturbation, side by side, for people to look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.boxes import on_picture
from vlgate.perturb.images.pixels import IMAGENET_MEAN, Pixels, checked
from vlgate.perturb.images.registry import PERTURBATIONS
from vlgate.perturb.scene_graph import Box

COLUMNS = 5
_LABEL = 22
_GAP = 6
_PAPER = (255, 255, 255)
_INK = (0, 0, 0)
_OUTLINE = (255, 0, 0)


def contact_sheet(
    image: ArrayLike, boxes: Sequence[Box], *, side: int = 320, seed: int = 0, fill: ArrayLike = IMAGENET_MEAN
) -> Pixels:
    """Draw a picture, its boxes, and every perturbation of ``PERTURBATIONS`` under its name, five in a row.

    Args:
        image: shape (h, w, 3), uint8, RGB.
        boxes: the foreground, at least one, in pixels.
        side: the longer side of each picture on the sheet, in pixels.
        seed: decides what is random.
        fill: the colour of "mask" and "occlude".

    Returns: the sheet, of shape (h', w', 3), uint8.
    Raises: ValueError where no box overlaps the picture, or an argument is not as above.

    >>> contact_sheet(np.zeros((60, 80, 3), np.uint8), [Box(x=9, y=9, w=20, h=20)], side=40).shape
    (578, 236, 3)
    """
    picture = checked(image)
    perturbed = {name: each(picture, boxes, seed=seed, fill=fill) for name, each in PERTURBATIONS.items()}
    plates = _in_rows({"original": _outlined(picture, boxes), **perturbed})
    height, width = picture.shape[:2]
    scale = side / max(height, width)
    cell = (round(width * scale), round(height * scale))
    sheet = np.full((len(plates) * (cell[1] + _LABEL) + _GAP, COLUMNS * (cell[0] + _GAP) + _GAP, 3), _PAPER, np.uint8)
    for row, plates_of_row in enumerate(plates):
        for column, (name, plate) in enumerate(plates_of_row):
            top, left = row * (cell[1] + _LABEL), _GAP + column * (cell[0] + _GAP)
            sheet[top : top + cell[1] + _LABEL, left : left + cell[0]] = _labelled(name, plate, cell)
    return sheet


def _in_rows(plates: dict[str, Pixels]) -> list[list[tuple[str, Pixels]]]:
    """Break into rows; those of one family, severity 1 to 5, share a row of their own."""
    rows: list[list[tuple[str, Pixels]]] = [[]]
    for name, plate in plates.items():
        if len(rows[-1]) == COLUMNS or name.endswith("-1"):
            rows.append([])
        rows[-1].append((name, plate))
    return rows


def _outlined(picture: Pixels, boxes: Sequence[Box]) -> Pixels:
    from PIL import Image, ImageDraw

    height, width = picture.shape[:2]
    canvas = Image.fromarray(picture)
    draw = ImageDraw.Draw(canvas)
    for box in on_picture(boxes, width, height):
        corners = (round(box.x), round(box.y), round(box.x + box.w) - 1, round(box.y + box.h) - 1)
        draw.rectangle(_ordered(corners), outline=_OUTLINE, width=max(1, max(height, width) // 200))
    return np.array(canvas)


def _ordered(corners: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Pillow refuses a rectangle whose right edge lies left of the left one, as a thin box's may after rounding."""
    left, top, right, bottom = corners
    return left, top, max(left, right), max(top, bottom)


def _labelled(name: str, plate: Pixels, cell: tuple[int, int]) -> Pixels:
    """Fit a picture into a cell (width, height), under its name."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = cell
    scale = min(width / plate.shape[1], height / plate.shape[0])
    fitted = (max(1, round(plate.shape[1] * scale)), max(1, round(plate.shape[0] * scale)))
    canvas = Image.new("RGB", (width, height + _LABEL), _PAPER)
    canvas.paste(Image.fromarray(plate).resize(fitted, Image.Resampling.BILINEAR), (0, _LABEL))
    ImageDraw.Draw(canvas).text((0, 3), name, fill=_INK, font=ImageFont.load_default(size=14))
    return np.array(canvas)
