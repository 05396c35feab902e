"""Images faded when they are loaded: blurred, reduced or mixed by any strength, or showing nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vlgate.errors import UnknownNameError
from vlgate.perturb.images.blur import gaussian_blur
from vlgate.perturb.images.corruptions import scale_contrast
from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.types import LazyImage, Recipe, recipe_of

if TYPE_CHECKING:
    from PIL.Image import Image


LEVELS: Mapping[str, int] = MappingProxyType({"grey": 128, "blank": 255})
"""The level of all channels of an image of one colour, in 0..255."""
SIDE = 224  # pixels, the input of most image encoders; processors refuse an image of 1 x 1, or cannot tell its axes
_REDUCED = 64  # pixels of the longer side, at which an image is blurred away
_SIGMA = _REDUCED / 8
_KEY = "uniform-"
AWAY = "blurred-away"
"""The name of ``blurred_away`` among the perturbations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformLoad:
    level: int

    def __call__(self) -> Image:
        from PIL import Image

        return Image.new("RGB", (SIDE, SIDE), (self.level,) * 3)

    def recipe(self) -> Recipe:
        return ("uniform", self.level, SIDE)


def uniform(colour: str) -> LazyImage:
    """An image of one colour, a key of ``LEVELS``. There is one of each, so that a model encodes it once."""
    name = f"{_KEY}{colour}"
    return LazyImage(key=name, load=UniformLoad(level=LEVELS[colour]), where=f"vlgate:{name}")


def shows_nothing(key: str) -> bool:
    """Whether an image is of one colour or blurred away, given by its key.

    >>> shows_nothing("uniform-grey"), shows_nothing("7.jpg#flip+blurred-away"), shows_nothing("7.jpg#flip")
    (True, True, False)
    """
    plain = key.startswith(_KEY) and key.removeprefix(_KEY) in LEVELS
    return plain or key.endswith((f"#{AWAY}", f"+{AWAY}"))


def blurred_away(image: ArrayLike) -> Pixels:
    """Blur an image of shape (h, w, 3), uint8, with a standard deviation of an eighth of its longer side.

    What is left is worth about 4 x 4 pixels. People need about 32 x 32 to tell what a photograph shows (Torralba 2009,
    Visual Neuroscience 26, 123-131). The image is blurred at 64 pixels, because nothing finer remains.
    """
    from PIL import Image

    whole = Image.fromarray(checked(image))
    scale = _REDUCED / max(whole.size)
    reduced = whole.resize([max(1, round(side * scale)) for side in whole.size], Image.Resampling.BOX)
    blurred = Image.fromarray(gaussian_blur(np.asarray(reduced), _SIGMA))
    return np.array(blurred.resize(whole.size, Image.Resampling.BICUBIC))


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedLoad:
    """Loads an image and changes it by ``strength``; the change "mix" needs the ``other`` image."""

    image: LazyImage
    name: str
    strength: float
    other: LazyImage | None = None

    def __call__(self) -> Image:
        from PIL import Image

        pixels = np.asarray(self.image.load())
        if self.other is not None:
            return Image.fromarray(mixed(pixels, np.asarray(self.other.load()), self.strength))
        return Image.fromarray(_CHANGES[self.name](pixels, self.strength))

    def recipe(self) -> Recipe | None:
        made = tuple(recipe_of(image) for image in (self.image, self.other) if image is not None)
        return None if None in made else ("graded", *made, self.name, self.strength)


_CHANGES: Mapping[str, Callable[[Pixels, float], Pixels]] = MappingProxyType(
    {"blur": gaussian_blur, "contrast": scale_contrast}
)


def graded(image: LazyImage, name: str, strength: float) -> LazyImage:
    """An image that is changed when it is loaded: by "blur" of a sigma in pixels, or "contrast" times a factor."""
    if name not in _CHANGES:
        raise UnknownNameError("graded change", name, _CHANGES)
    load = GradedLoad(image=image, name=name, strength=strength)
    return LazyImage(key=f"{image.key}#{name}={strength:g}", load=load, where=f"{image.where}#{name}={strength!r}")


def mixture(image: LazyImage, other: LazyImage, weight: float) -> LazyImage:
    load = GradedLoad(image=image, name="mix", strength=weight, other=other)
    where = f"{image.where}#mix={weight!r} of {other.where}"
    return LazyImage(key=f"{image.key}#mix={weight:g}", load=load, where=where)


def mixed(image: ArrayLike, other: ArrayLike, weight: float) -> Pixels:
    """Mix two images of one shape, as ``(1 - weight) * image + weight * other``, rounded."""
    one, two = checked(image), checked(other)
    if not 0 <= weight <= 1 or one.shape != two.shape:
        raise ValueError(f"weight={weight!r}, shapes {one.shape} and {two.shape}: expected 0 to 1, and one shape")
    return np.rint((1 - weight) * one + weight * two).astype(np.uint8)
