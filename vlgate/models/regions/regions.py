"""Region features of images: boxes with one vector each, from a detector or from files, kept by image."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import NoReplyError
from vlgate.types import LazyImage

COUNT = 36  # boxes per image: the number with which LXMERT and VOLTA's controlled models were trained
WIDTH = 2048  # numbers per box: the channels of the detector's last stage
KEPT = 160_000_000  # bytes of regions that a source keeps: 512 images of LXMERT's detector, 18,000 of tiny-lxmert's

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Regions:
    """The n boxes that a detector finds in one image, the most certain first if the detector orders them."""

    features: Float32  # of shape (n, d)
    boxes: Float32  # of shape (n, 4): x1, y1, x2, y2 in 0..1, from the left and from the top
    # Each of shape (n,): indices into the detector's vocabularies, and their probabilities; None if not known.
    objects: Int64 | None = None
    object_scores: Float32 | None = None
    attributes: Int64 | None = None
    attribute_scores: Float32 | None = None

    @property
    def size(self) -> int:
        arrays = (getattr(self, field.name) for field in fields(self))
        return sum(array.nbytes for array in arrays if array is not None)


# Returns the regions of images; for an image without regions, the reason, or None.
Look = Callable[[Sequence[LazyImage]], Sequence[Regions | str | None]]


class RegionSource:
    image_names = False  # whether images are looked up by their names

    def __init__(self, look: Look, *, fingerprint: str, note: str, lacking: str = "", kept: int = KEPT) -> None:
        self.look = look
        self.fingerprint = fingerprint
        self.note = note
        self._lacking = lacking  # the reason for images without one of their own, with {keys}
        self._kept = kept
        self._held = 0
        self._seen: OrderedDict[LazyImage, Regions] = OrderedDict()

    def regions(self, images: Sequence[LazyImage]) -> list[Regions]:
        new = [image for image in dict.fromkeys(images) if image not in self._seen]
        # Hold what this call needs, even if it is more than the source keeps.
        held = {image: self._seen[image] for image in images if image in self._seen}
        lost: dict[LazyImage, str | None] = {}
        for image, regions in zip(new, self.look(new) if new else (), strict=True):
            if isinstance(regions, Regions):
                held[image] = regions
            else:
                lost[image] = regions
        for image, regions in held.items():
            self._held += 0 if image in self._seen else regions.size
            self._seen[image] = regions
            self._seen.move_to_end(image)
        while self._held > self._kept:
            self._held -= self._seen.popitem(last=False)[1].size
        if lost:
            why = None if None in lost.values() else next(iter(lost.values()))
            positions = [index for index, image in enumerate(images) if image in lost and lost[image] == why]
            keys = list(dict.fromkeys(repr(images[position].key) for position in positions))
            shown = ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "")
            raise NoReplyError(positions, why or self._lacking.replace("{keys}", shown))
        return [held[image] for image in images]
