"""What a search may change, by name."""

from __future__ import annotations

from typing import Literal

Family = Literal["scene", "region", "image", "wording"]
FAMILIES: tuple[Family, ...] = ("scene", "region", "image", "wording")
"""A thing of a drawn scene, a region of a photograph, the whole image, or a text."""
