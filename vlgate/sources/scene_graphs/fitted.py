"""The image of a perturbed question, which is perturbed by the boxes of its scene graph when it is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vlgate.errors import ImageError
from vlgate.perturb.images import perturbed
from vlgate.perturb.scene_graph import Box
from vlgate.types import LazyImage, Recipe, recipe_of

if TYPE_CHECKING:
    from PIL.Image import Image

_TWICE = "occlude"


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLoad:
    """Loads a perturbed image; if the boxes do not fit the file, the error is one of the image, not of the model."""

    made: LazyImage
    origin: str

    def __call__(self) -> Image:
        """Return the image.

        Raises: ImageError if the image cannot be loaded, or if none of the boxes is on it.
        """
        try:
            return self.made.load()
        except ValueError as error:
            remedy = "use the image that was annotated, or give its width and height in the graph"
            raise ImageError(self.made.key, f"does not fit {self.origin} ({error})", remedy) from None

    def recipe(self) -> Recipe | None:
        """Return what the perturbed image is made of."""
        return recipe_of(self.made)


def fitted(
    image: LazyImage, perturbation: str, boxes: Sequence[Box], size: tuple[int, int] | None, origin: str
) -> LazyImage:
    """Return the perturbed image.

    An occluded image has a digest of its boxes at the end of its key, because a case shows two of one image.

    Args:
        image: the image of the graph.
        perturbation: the name of a perturbation of images.
        boxes: the boxes of the objects that the question is about, in the graph.
        size: (width, height) of the graph; None if it does not say.
        origin: the graph, for messages.
    """
    made = perturbed(image, perturbation, boxes, size=size)
    key = f"{made.key}-{made.where.rpartition('@')[2][:8]}" if perturbation == _TWICE else made.key
    return replace(made, key=key, load=FittedLoad(made=made, origin=origin))
