"""A cache of region features by image, so that an image with many texts goes through the detector once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from vlgate.errors import NoReplyError
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage

Look = Callable[[Sequence[LazyImage]], Sequence[Regions | str | None]]
"""Returns the regions of images; for an image without regions, the reason, or None."""
KEPT = 512
"""How many images a cache keeps: 150 MB. A run goes through its images in order."""


class RegionCache:
    """The regions of the images that were requested last."""

    def __init__(self, kept: int = KEPT) -> None:
        """Keep at most ``kept`` images."""
        self._kept = kept
        self._seen: OrderedDict[LazyImage, Regions] = OrderedDict()

    def regions(self, images: Sequence[LazyImage], look: Look, lacking: str) -> list[Regions]:
        """Return the regions of images; ``look`` is called once, with the distinct images that are not cached.

        Args:
            images: any number, with repetitions.
            look: returns the regions of images.
            lacking: the message if ``look`` returns None for some images; ``{keys}`` stands for the first of their
                keys.

        Raises: NoReplyError with the positions of the images for which ``look`` returns None; if there are no such
            images, with the positions of those that share the first reason.
        """
        new = [image for image in dict.fromkeys(images) if image not in self._seen]
        # Hold what this call needs, even if it is more than the cache keeps.
        found = {image: self._seen[image] for image in images if image in self._seen}
        looked = dict(zip(new, look(new), strict=True)) if new else {}
        found |= {image: regions for image, regions in looked.items() if isinstance(regions, Regions)}
        for image, regions in found.items():
            self._seen[image] = regions
            self._seen.move_to_end(image)
        while len(self._seen) > self._kept:
            self._seen.popitem(last=False)
        lost = {image: regions for image, regions in looked.items() if not isinstance(regions, Regions)}
        if lost:
            raise _without(images, lost, lacking)
        return [found[image] for image in images]


def _without(images: Sequence[LazyImage], lost: Mapping[LazyImage, str | None], lacking: str) -> NoReplyError:
    why = None if None in lost.values() else next(iter(lost.values()))
    places = [place for place, image in enumerate(images) if image in lost and lost[image] == why]
    keys = list(dict.fromkeys(repr(images[place].key) for place in places))
    shown = ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "")
    return NoReplyError(places, why or lacking.replace("{keys}", shown))
