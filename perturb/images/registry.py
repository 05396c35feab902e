"""All perturbations of images by name, and images that are perturbed when they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vlgate.errors import nearest
from vlgate.perturb.images import corruptions
from vlgate.perturb.images.background import blur_background, crop_to, mask_background, occlude
from vlgate.perturb.images.blur import defocus_blur, motion_blur
from vlgate.perturb.images.boxes import check_box, on_image, rescale
from vlgate.perturb.images.graded import AWAY, blurred_away
from vlgate.perturb.images.pixels import IMAGENET_MEAN, SEVERITIES, Pixels, as_colour
from vlgate.perturb.scene_graph import Box
from vlgate.seeds import seed_of
from vlgate.types import LazyImage, Recipe, recipe_of

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """A named perturbation with fixed parameters.

    ``uses`` names the arguments of a call that change the result: ``boxes``, ``seed``, ``fill``. A perturbation that
    uses boxes needs at least one. ``family`` is the name without a number: "blur", "gaussian-noise".
    """

    name: str
    family: str
    function: Callable[..., Pixels]
    uses: tuple[str, ...] = ()

    def __call__(
        self, image: ArrayLike, boxes: Sequence[Box] = (), *, seed: int = 0, fill: ArrayLike = IMAGENET_MEAN
    ) -> Pixels:
        """Perturb an image of shape (h, w, 3), uint8.

        Returns: a new array, of the same shape except for "crop".
        Raises: ValueError as its function does.
        """
        given = {"boxes": boxes, "seed": seed, "fill": fill}
        return self.function(image, **{name: given[name] for name in self.uses})


_Entry = tuple[str, Callable[..., Pixels], tuple[str, ...]]
_SINGLE: tuple[_Entry, ...] = (
    ("mask", mask_background, ("boxes", "fill")),
    ("crop", crop_to, ("boxes",)),
    ("occlude", occlude, ("boxes", "fill")),
    ("flip", corruptions.flip, ()),
    ("greyscale", corruptions.greyscale, ()),
    (AWAY, blurred_away, ()),
)
_GRADED: tuple[_Entry, ...] = (
    ("gaussian-noise", corruptions.gaussian_noise, ("seed",)),
    ("shot-noise", corruptions.shot_noise, ("seed",)),
    ("motion-blur", motion_blur, ("seed",)),
    ("defocus-blur", defocus_blur, ()),
    ("brightness", corruptions.brightness, ()),
    ("contrast", corruptions.contrast, ()),
    ("jpeg", corruptions.jpeg, ()),
    ("pixelate", corruptions.pixelate, ()),
    ("rotate", corruptions.rotate, ("seed",)),
)


def _all() -> Iterator[Perturbation]:
    for sigma in (3, 6, 9):
        blur = partial(blur_background, sigma=float(sigma))
        yield Perturbation(name=f"blur{sigma}", family="blur", function=blur, uses=("boxes",))
    for name, function, uses in _SINGLE:
        yield Perturbation(name=name, family=name, function=function, uses=uses)
    for family, function, uses in _GRADED:
        for severity in SEVERITIES:
            graded = partial(function, severity=severity)
            yield Perturbation(name=f"{family}-{severity}", family=family, function=graded, uses=uses)


PERTURBATIONS: Mapping[str, Perturbation] = MappingProxyType({one.name: one for one in _all()})
"""Every perturbation by its name: "blur6", "mask", "flip", "gaussian-noise-3"."""


def perturbation(name: str) -> Perturbation:
    """Return the perturbation of that name.

    Raises: ValueError if there is none; the message names the nearest one.

    >>> perturbation("blur6").uses
    ('boxes',)
    """
    if name not in PERTURBATIONS:
        raise ValueError(f"name={name!r} is not a perturbation of images; {nearest(name, PERTURBATIONS)}")
    return PERTURBATIONS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedLoad:
    """Loads an image and perturbs it; it can be pickled if the image's own ``load`` can."""

    image: LazyImage
    name: str
    boxes: tuple[Box, ...]
    size: tuple[int, int] | None
    seed: int
    fill: tuple[int, int, int]

    def __call__(self) -> Image:
        from PIL import Image

        original = self.image.load()
        boxes = self.boxes if self.size is None else rescale(self.boxes, self.size, original.size)
        pixels = perturbation(self.name)(np.asarray(original), boxes, seed=self.seed, fill=self.fill)
        return Image.fromarray(pixels)

    def recipe(self) -> Recipe | None:
        original = recipe_of(self.image)
        if original is None:
            return None
        boxes = tuple((float(box.x), float(box.y), float(box.w), float(box.h)) for box in self.boxes)
        return ("perturbed", original, self.name, boxes, self.size, self.seed, self.fill)


def perturbed(
    image: LazyImage,
    name: str,
    boxes: Sequence[Box] = (),
    *,
    size: tuple[int, int] | None = None,
    seed: int = 0,
    fill: ArrayLike = IMAGENET_MEAN,
) -> LazyImage:
    """Return an image that applies the perturbation ``name`` to ``image`` when it is loaded.

    Its key is that of the image with ``#`` and the name, or with ``+`` and the name if the image is perturbed already:
    "2357834#flip+blur6". The perturbations are applied in that order, and the boxes are those of ``image`` as it is
    given (``mirror_box`` moves a box with "flip"). The boxes, the seed and the colour are part of ``where`` if the
    perturbation uses them, so that different images of one key can be told apart.

    Args:
        image: the image to perturb.
        name: a key of ``PERTURBATIONS``.
        boxes: the objects of the question, for the perturbations that use them; ignored by the others.
        size: (width, height) of the image that the boxes belong to, such as the scene graph's; the file may have
            another size. By default the boxes are in the pixels of the file.
        seed: the seed of random changes; with the image's key it gives each image its own noise.
        fill: the colour of "mask" and "occlude", 0..255; see ``channel_mean``.

    Raises: ValueError if there is no such perturbation, or if it uses boxes and there is none, none overlaps the image
        of ``size``, or one is not finite. Without ``size``, boxes beside the image are an error when it is loaded.

    >>> perturbed(LazyImage(key="2357834", load=lambda: None), "blur6", [Box(x=0, y=0, w=50, h=50)]).key
    '2357834#blur6'
    """
    used = perturbation(name).uses
    kept = tuple(boxes) if "boxes" in used else ()
    if "boxes" in used:
        if not kept:
            raise ValueError(f"boxes=(): {name!r} needs the boxes of the objects that the question is about")
        if size is not None:
            on_image(kept, *size)
        for box in kept:
            check_box(box)
    red, green, blue = as_colour(fill).tolist()
    # Arguments that change nothing are left out, so that equal images compare equal and a model is asked once.
    load = PerturbedLoad(
        image=image,
        name=name,
        boxes=kept,
        size=size if kept else None,
        seed=seed_of(f"{seed}/{image.key}") if "seed" in used else 0,
        fill=(red, green, blue) if "fill" in used else (0, 0, 0),
    )
    joint = "+" if "#" in image.key else "#"
    corners = [(float(box.x), float(box.y), float(box.w), float(box.h)) for box in kept]
    digest = sha256(repr((corners, load.size, load.seed, load.fill)).encode()).hexdigest()[:16]
    return LazyImage(key=f"{image.key}{joint}{name}", load=load, where=f"{image.where}#{name}@{digest}")
