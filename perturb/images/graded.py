"""Images that are blurred, reduced in contrast or mixed with another by any strength when they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from vlgate.errors import UnknownNameError
from vlgate.perturb.images.gaussian import gaussian_blur
from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.perturb.images.strengths import scale_contrast
from vlgate.types import LazyImage, Recipe, recipe_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedLoad:
    """Loads an image and changes it by ``strength``; the change "mix" needs the ``other`` image."""

    image: LazyImage
    name: str
    strength: float
    other: LazyImage | None = None

    def __call__(self) -> Image:
        """Return the changed image, mode RGB."""
        from PIL import Image

        pixels = np.asarray(self.image.load())
        if self.other is not None:
            return Image.fromarray(mixed(pixels, np.asarray(self.other.load()), self.strength))
        return Image.fromarray(_CHANGES[self.name](pixels, self.strength))

    def recipe(self) -> Recipe | None:
        """Return what the images are made of, and what changes them; None if one does not tell."""
        made = tuple(recipe_of(image) for image in (self.image, self.other) if image is not None)
        return None if None in made else ("graded", *made, self.name, self.strength)


_CHANGES: Mapping[str, Callable[[Pixels, float], Pixels]] = MappingProxyType(
    {"blur": gaussian_blur, "contrast": scale_contrast}
)


def graded(image: LazyImage, name: str, strength: float) -> LazyImage:
    """Return an image that is changed when it is loaded: by "blur" of a sigma in pixels, or "contrast" times a factor.

    Raises: UnknownNameError for another name.

    >>> graded(LazyImage(key="7.jpg", load=lambda: None), "blur", 2.5).key
    '7.jpg#blur=2.5'
    """
    if name not in _CHANGES:
        raise UnknownNameError("graded change", name, _CHANGES)
    load = GradedLoad(image=image, name=name, strength=strength)
    return LazyImage(key=f"{image.key}#{name}={strength:g}", load=load, where=f"{image.where}#{name}={strength!r}")


def mixture(image: LazyImage, other: LazyImage, weight: float) -> LazyImage:
    """Return the mixture of two images of one size, with ``weight`` for the other one, made when it is loaded."""
    load = GradedLoad(image=image, name="mix", strength=weight, other=other)
    where = f"{image.where}#mix={weight!r} of {other.where}"
    return LazyImage(key=f"{image.key}#mix={weight:g}", load=load, where=where)


def mixed(image: ArrayLike, other: ArrayLike, weight: float) -> Pixels:
    """Return ``(1 - weight) * image + weight * other``, rounded, for images of shape (h, w, 3), uint8, RGB.

    Raises: ValueError if the weight is outside 0..1, the shapes differ, or an image is not 8-bit RGB.

    >>> mixed(np.zeros((1, 1, 3), np.uint8), np.full((1, 1, 3), 100, np.uint8), 0.3).tolist()
    [[[30, 30, 30]]]
    """
    one, two = checked(image), checked(other)
    if not 0 <= weight <= 1 or one.shape != two.shape:
        raise ValueError(f"weight={weight!r}, shapes {one.shape} and {two.shape}: expected 0 to 1, and one shape")
    return np.rint((1 - weight) * one + weight * two).astype(np.uint8)
