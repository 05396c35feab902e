"""Images that show nothing: of one colour, or blurred beyond recognition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.gaussian import gaussian_blur
from vlgate.perturb.images.pixels import Pixels, checked
from vlgate.types import LazyImage, Recipe

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
    """Loads an image of one colour."""

    level: int

    def __call__(self) -> Image:
        """Return the image, mode RGB."""
        from PIL import Image

        return Image.new("RGB", (SIDE, SIDE), (self.level,) * 3)

    def recipe(self) -> Recipe:
        """Return what the pixels depend on."""
        return ("uniform", self.level, SIDE)


def uniform(colour: str) -> LazyImage:
    """Return an image of one colour, a key of ``LEVELS``. There is one of each, so that a model encodes it once.

    >>> uniform("grey").key
    'uniform-grey'
    """
    name = f"{_KEY}{colour}"
    return LazyImage(key=name, load=UniformLoad(level=LEVELS[colour]), where=f"vlgate:{name}")


def shows_nothing(key: str) -> bool:
    """Return whether an image is of one colour or blurred away, given by its key.

    >>> shows_nothing("uniform-grey"), shows_nothing("7.jpg#flip+blurred-away"), shows_nothing("7.jpg#flip")
    (True, True, False)
    """
    plain = key.startswith(_KEY) and key.removeprefix(_KEY) in LEVELS
    return plain or key.endswith((f"#{AWAY}", f"+{AWAY}"))


def blurred_away(image: ArrayLike) -> Pixels:
    """Blur an image of shape (h, w, 3), uint8, with a standard deviation of an eighth of its longer side.

    What is left is worth about 4 x 4 pixels. People need about 32 x 32 to tell what a photograph shows (Torralba 2009,
    Visual Neuroscience 26, 123-131). The image is blurred at 64 pixels, because nothing finer remains.

    Returns: a new array of the same shape.

    >>> blurred_away(np.full((4, 5, 3), 200, np.uint8)).shape
    (4, 5, 3)
    """
    from PIL import Image

    whole = Image.fromarray(checked(image))
    scale = _REDUCED / max(whole.size)
    reduced = whole.resize([max(1, round(side * scale)) for side in whole.size], Image.Resampling.BOX)
    blurred = Image.fromarray(gaussian_blur(np.asarray(reduced), _SIGMA))
    return np.array(blurred.resize(whole.size, Image.Resampling.BICUBIC))
