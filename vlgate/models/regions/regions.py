"""Region features of images: 36 boxes with one vector each, and their cache by image."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import NoReplyError
from vlgate.types import LazyImage

# Region features of images, the input of LXMERT, VisualBERT, ViLBERT and UNITER: 36 boxes with one vector each.
#
# The Visual Genome Faster R-CNN (Anderson et al., CVPR 2018) finds them while the model runs, or they are read from
# files that were made before. A model uses either through the same protocol, ``RegionSource``.

COUNT = 36
"""Boxes per image: the number with which LXMERT and VOLTA's controlled models were trained."""
WIDTH = 2048
"""Numbers per box: the channels of the detector's last stage."""

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regions:
    """The n boxes that a detector finds in one image, the most certain first if the detector orders them.

    ``features`` has shape (n, d), ``boxes`` shape (n, 4): x1, y1, x2, y2 in 0..1, from the left and from the top.
    Each of the others has shape (n,) or is None if it is not known: ``objects`` and ``attributes`` are indices into
    the detector's vocabulary of 1,600 objects and 400 attributes, and the scores are their probabilities.
    """

    features: Float32
    boxes: Float32
    objects: Int64 | None = None
    object_scores: Float32 | None = None
    attributes: Int64 | None = None
    attribute_scores: Float32 | None = None


class RegionSource(Protocol):
    """Provides the region features of images."""

    @property
    def fingerprint(self) -> str:
        """A string that differs between any two sources whose features may differ."""

    @property
    def note(self) -> str:
        """A phrase for the report that says where the features come from."""

    def regions(self, images: Sequence[LazyImage]) -> list[Regions]:
        """Return the regions of each image; an image that occurs several times is processed once.

        Pass one image per request, repeated if requests share it: the positions in NoReplyError, for images without
        regions, are then those of the requests. Features have shape (count, width) and boxes shape (count, 4), as
        requested from ``region_source``: (36, 2048) and (36, 4) by default.
        """


Look = Callable[[Sequence[LazyImage]], Sequence[Regions | str | None]]
"""Returns the regions of images; for an image without regions, the reason, or None."""
KEPT = 512
"""How many images a cache keeps: 150 MB. A run goes through its images in order."""


class RegionCache:
    """The regions of the images that were requested last."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._seen: OrderedDict[LazyImage, Regions] = OrderedDict()

    def regions(self, images: Sequence[LazyImage], look: Look, lacking: str) -> list[Regions]:
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
