"""Regions that were seen before, by picture: a picture is looked into once, whatever the number of its texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from vlgate.errors import NoReplyError
from vlgate.models.regions import Regions
from vlgate.types import Picture

Look = Callable[[Sequence[Picture]], Sequence[Regions | str | None]]
"""Gives the regions of pictures; None, or why, where there are none."""
KEPT = 512
"""Pictures that are remembered: 150 MB. A run goes through the pictures in their order."""


class RegionCache:
    """The regions of the pictures that were asked for last."""

    def __init__(self, kept: int = KEPT) -> None:
        """Remember at most ``kept`` pictures."""
        self._kept = kept
        self._seen: OrderedDict[Picture, Regions] = OrderedDict()

    def regions(self, pictures: Sequence[Picture], look: Look, lacking: str) -> list[Regions]:
        """Give the regions of pictures; ``look`` is called once, with those that are new, each once.

        Args:
            pictures: any number, with repetitions.
            look: what gives the regions.
            lacking: what is said of pictures for which it gives None, with ``{keys}`` for the first of their keys.

        Raises: NoReplyError with the positions of the pictures for which it gives None; where there are none of them,
            of the first for which it says why.
        """
        new = [picture for picture in dict.fromkeys(pictures) if picture not in self._seen]
        # What is asked for now stays at hand until it is given, however much it is.
        found = {picture: self._seen[picture] for picture in pictures if picture in self._seen}
        looked = dict(zip(new, look(new), strict=True)) if new else {}
        found |= {picture: regions for picture, regions in looked.items() if isinstance(regions, Regions)}
        for picture, regions in found.items():
            self._seen[picture] = regions
            self._seen.move_to_end(picture)
        while len(self._seen) > self._kept:
            self._seen.popitem(last=False)
        lost = {picture: regions for picture, regions in looked.items() if not isinstance(regions, Regions)}
        if lost:
            raise _without(pictures, lost, lacking)
        return [found[picture] for picture in pictures]


def _without(pictures: Sequence[Picture], lost: Mapping[Picture, str | None], lacking: str) -> NoReplyError:
    why = None if None in lost.values() else next(iter(lost.values()))
    places = [place for place, picture in enumerate(pictures) if picture in lost and lost[picture] == why]
    keys = list(dict.fromkeys(repr(pictures[place].key) for place in places))
    shown = ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "")
    return NoReplyError(places, why or lacking.replace("{keys}", shown))
