"""The smallest change of a case, its meaning kept, that makes a model get it wrong."""

from typing import Literal

Family = Literal["scene", "region", "image", "wording"]
FAMILIES: tuple[Family, ...] = ("scene", "region", "image", "wording")
"""What a search may change: a thing of a drawn scene, a region of a photograph, the whole image, or a text."""
