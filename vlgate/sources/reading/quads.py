"""The requests of two images and a caption of each, in the order that the shape ``quad`` fixes."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.types import LazyImage, Match

QUAD_TRUTHS = (True, False, False, True)
"""The truths of these requests: each caption is true of its own image."""


def quad_requests(images: Sequence[LazyImage], captions: Sequence[str]) -> tuple[Match, ...]:
    """Return (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1).

    >>> images = [LazyImage(key=key, load=lambda: None) for key in ("1.jpg", "2.jpg")]
    >>> [(one.image.key, one.text) for one in quad_requests(images, ("a", "b"))][1:3]
    [('1.jpg', 'b'), ('2.jpg', 'a')]
    """
    return tuple(Match(image=image, text=caption) for image in images for caption in captions)
