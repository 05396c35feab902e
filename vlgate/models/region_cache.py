"""Regions that were seen before, by picture: a picture is looked into once, whatever the number of its texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from vlgate.errors import NoReplyError
from vlgate.models.regions import Regions
from vlgate.types import Picture

KEPT = 512
"""Pictures that are remembered: 150 MB. A run goes through the pictures in their order."""


class RegionCache:
    """The regions of the pictures that were asked for last."""

    def __init__(self, kept: int = KEPT) -> None:
        """Remember at most ``kept`` pictures."""
        self._kept = kept
        self._seen: OrderedDict[Picture, Regions] = OrderedDict()

    def regions(
        self, pictures: Sequence[Picture], look: Callable[[Sequence[Picture]], Sequence[Regions | None]], lacking: str
    ) -> list[Regions]:
        """Give the regions of pictures; ``look`` is called once, with those that are new, each once.

        Args:
            pictures: any number, with repetitions.
            look: gives the regions of pictures, None where there are none.
            lacking: what is said of pictures without regions, with ``{keys}`` for the first of their keys.

        Raises: NoReplyError with the positions of the pictures without regions.
        """
        new = [picture for picture in dict.fromkeys(pictures) if picture not in self._seen]
        # What is asked for now stays at hand until it is given, however much it is.
        found = {picture: self._seen[picture] for picture in pictures if picture in self._seen}
        looked = dict(zip(new, look(new), strict=True)) if new else {}
        found |= {picture: regions for picture, regions in looked.items() if regions is not None}
        for picture, regions in found.items():
            self._seen[picture] = regions
            self._seen.move_to_end(picture)
        while len(self._seen) > self._kept:
            self._seen.popitem(last=False)
        without = [position for position, picture in enumerate(pictures) if picture not in found]
        if without:
            keys = dict.fromkeys(pictures[position].key for position in without)
            shown = ", ".join(repr(key) for key in list(keys)[:3]) + (", ..." if len(keys) > 3 else "")
            raise NoReplyError(without, lacking.format(keys=shown))
        return [found[picture] for picture in pictures]
