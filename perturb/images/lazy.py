"""A picture perturbed when a model asks for it, and not before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.boxes import check_box, on_picture, rescale
from vlgate.perturb.images.pixels import IMAGENET_MEAN, as_colour
from vlgate.perturb.images.registry import perturbation
from vlgate.perturb.scene_graph import Box
from vlgate.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Decodes a picture and perturbs it; it travels to other processes with the picture's own ``load``."""

    picture: Picture
    name: str
    boxes: tuple[Box, ...]
    size: tuple[int, int] | None
    seed: int
    fill: tuple[int, int, int]

    def __call__(self) -> Image:
        """Return the perturbed picture, mode RGB."""
        from PIL import Image

        original = self.picture.image()
        boxes = self.boxes if self.size is None else rescale(self.boxes, self.size, original.size)
        pixels = perturbation(self.name)(np.asarray(original), boxes, seed=self.seed, fill=self.fill)
        return Image.fromarray(pixels)


def perturbed(
    picture: Picture,
    name: str,
    boxes: Sequence[Box] = (),
    *,
    size: tuple[int, int] | None = None,
    seed: int = 0,
    fill: ArrayLike = IMAGENET_MEAN,
) -> Picture:
    """Return ``picture`` as the perturbation ``name`` leaves it, made when it is asked for.

    Its key is that of the picture with ``#`` and the name, or ``+`` and the name where it is a perturbed one already
    ("2357834#flip+blur6"): the perturbations happen in that order, and the boxes are those of the picture that is given
    here (``mirror_box`` moves a box with "flip"). Its ``where`` differs wherever the boxes, the seed or the colour make
    another picture of the same key; what a perturbation does not use makes none.

    Args:
        picture: any picture.
        name: a key of ``PERTURBATIONS``.
        boxes: the objects of the question, for the perturbations that use them; ignored by the others.
        size: (width, height) of the picture in whose pixels the boxes are, such as the scene graph's; the file may have
            another size. By default the boxes are in the pixels of the file.
        seed: decides what is random, together with the picture's key: each picture gets its own noise.
        fill: the colour of "mask" and "occlude", 0..255; see ``channel_mean``.

    Raises: ValueError where there is no such perturbation, where it uses boxes and there is none, none overlaps the
        picture of ``size``, or one is not finite. Without ``size`` the picture itself raises it when it is asked for.

    >>> perturbed(Picture(key="2357834", load=lambda: None), "blur6", [Box(x=0, y=0, w=50, h=50)]).key
    '2357834#blur6'
    """
    used = perturbation(name).uses
    kept = tuple(boxes) if "boxes" in used else ()
    if "boxes" in used:
        _check(name, kept, size)
    red, green, blue = as_colour(fill).tolist()
    # Arguments that change nothing are left out, so that equal pictures are equal and asked for once.
    load = Load(
        picture=picture,
        name=name,
        boxes=kept,
        size=size if kept else None,
        seed=_seed_of(picture.key, seed) if "seed" in used else 0,
        fill=(red, green, blue) if "fill" in used else (0, 0, 0),
    )
    joint = "+" if "#" in picture.key else "#"
    return Picture(key=f"{picture.key}{joint}{name}", load=load, where=f"{picture.where}#{name}@{_digest(load)}")


def _check(name: str, boxes: tuple[Box, ...], size: tuple[int, int] | None) -> None:
    if not boxes:
        raise ValueError(f"boxes=(): {name!r} needs the boxes of the objects that the question is about")
    if size is not None:
        on_picture(boxes, *size)
    for box in boxes:
        check_box(box)


def _seed_of(key: str, seed: int) -> int:
    return int.from_bytes(sha256(f"{seed}/{key}".encode()).digest()[:8], "big")


def _digest(load: Load) -> str:
    boxes = [(float(box.x), float(box.y), float(box.w), float(box.h)) for box in load.boxes]
    return sha256(repr((boxes, load.size, load.seed, load.fill)).encode()).hexdigest()[:16]
