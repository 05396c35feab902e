"""What kinds share that choose among the candidates of a whole set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlgate.making.kinds.kind import Item, Select, Selected
from vlgate.perturb.foils.candidate import Foil

UNPAIRED = "a word of it is false more often than true"
"""The reason for which a candidate is dropped by a balance of classes."""

Places = Callable[[Sequence[Foil], Sequence[str], int], Sequence[int]]
"""Chooses among foils: their classes, the origins of their captions, and the seed give the positions that stay."""


def selecting(places: Places) -> Select:
    """Return a selection of items by the positions that a function chooses; the others are counted as unpaired."""

    def select(items: Sequence[Item], seed: int) -> Selected:
        """Choose among the items, and count the others by reason."""
        found = [item.candidate for item in items if isinstance(item.candidate, Foil)]
        chosen = [items[place] for place in places(found, [item.origin for item in items], seed)]
        return Selected(items=tuple(chosen), dropped={UNPAIRED: len(items) - len(chosen)})

    return select
