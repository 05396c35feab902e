"""All perturbations of images by name, as it stands behind ``#`` in the key of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from numpy.typing import ArrayLike

from vlgate.errors import nearest
from vlgate.perturb.images.background import blur_background, crop_to, mask_background, occlude
from vlgate.perturb.images.compression import jpeg, pixelate
from vlgate.perturb.images.geometry import flip, rotate
from vlgate.perturb.images.hidden import AWAY, blurred_away
from vlgate.perturb.images.lens import defocus_blur, motion_blur
from vlgate.perturb.images.noise import gaussian_noise, shot_noise
from vlgate.perturb.images.pixels import IMAGENET_MEAN, Pixels
from vlgate.perturb.images.severity import SEVERITIES
from vlgate.perturb.images.tone import brightness, contrast, greyscale
from vlgate.perturb.scene_graph import Box


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
    ("flip", flip, ()),
    ("greyscale", greyscale, ()),
    (AWAY, blurred_away, ()),
)
_GRADED: tuple[_Entry, ...] = (
    ("gaussian-noise", gaussian_noise, ("seed",)),
    ("shot-noise", shot_noise, ("seed",)),
    ("motion-blur", motion_blur, ("seed",)),
    ("defocus-blur", defocus_blur, ()),
    ("brightness", brightness, ()),
    ("contrast", contrast, ()),
    ("jpeg", jpeg, ()),
    ("pixelate", pixelate, ()),
    ("rotate", rotate, ("seed",)),
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
