"""A region of an image: cut out when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vlgate.errors import ImageError
from vlgate.types import LazyImage, Recipe, recipe_of

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = tuple[int, int, int, int]
"""A region in pixels: its left, its top, its width and its height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionLoad:
    """Loads an image and cuts a region out of it."""

    image: LazyImage
    region: Pixels

    def __call__(self) -> Image:
        """Return the region, mode RGB.

        Raises: ImageError if the image does not reach into the region.
        """
        x, y, width, height = self.region
        whole = self.image.load()
        inside = x, y, min(x + width, whole.width), min(y + height, whole.height)
        if inside[2] <= x or inside[3] <= y:
            size = f"{whole.width} x {whole.height} pixels"
            raise ImageError(self.image.key, f"{size}, so the region {self.region} is outside", "check its scale")
        return whole.crop(inside)

    def recipe(self) -> Recipe | None:
        """Return what the image is made of, and the region; None if the image does not tell."""
        whole = recipe_of(self.image)
        return None if whole is None else ("region", whole, *self.region)


def region_of(image: LazyImage, region: Pixels) -> LazyImage:
    """Return a region of an image; the parts of it beyond the image's edge are left out.

    >>> region_of(LazyImage(key="7.jpg", load=lambda: None), (10, 20, 30, 40)).key
    '7.jpg#10,20,30,40'
    """
    said = ",".join(map(str, region))
    load = RegionLoad(image=image, region=region)
    return LazyImage(key=f"{image.key}#{said}", load=load, where=f"{image.where}#{said}" if image.where else "")
