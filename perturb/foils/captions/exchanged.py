"""Choose one foil for each caption so that what foils put in is what captions have: p for q as often as q for p."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vlgate.perturb.foils.candidate import Foil
from vlgate.seeds import quick_generator

Exchange = tuple[str, str]
"""What a caption has and what its foil has instead."""


def exchanged(groups: Sequence[Sequence[Foil]], *, seed: int) -> tuple[tuple[int, Foil], ...]:
    """Choose at most one foil of each caption so that each word, with its quantifier, is as often true as false.

    A foil that puts "dogs" for "dog" is chosen only together with one that puts "dog" for "dogs", in another caption.
    The rarest exchanges are served first; within one, and among equally rare ones, the seed decides.

    Args:
        groups: the foils of each caption, in the captions' order.
        seed: decides what is chosen.

    Returns: the caption's position and its foil, in the captions' order.

    >>> one = Foil(caption="a dog", foil="a cat", classes=("dog", "cat"), why="")
    >>> two = Foil(caption="a cat", foil="a dog", classes=("cat", "dog"), why="")
    >>> len(exchanged([[one], [one], [two]], seed=1))
    2
    """
    pools: dict[Exchange, list[tuple[int, Foil]]] = {}
    random = quick_generator(f"{seed}/exchanged")
    for place in random.sample(range(len(groups)), len(groups)):
        for foil in groups[place]:
            pools.setdefault(exchange(foil), []).append((place, foil))
    chosen: dict[int, Foil] = {}
    for pair in sorted(_both_ways(pools), key=lambda one: (min(len(pools[one]), len(pools[one[::-1]])), one)):
        _take(pools[pair], pools[pair[::-1]], chosen)
    return tuple(sorted(chosen.items()))


def exchange(foil: Foil) -> Exchange:
    """Return what a caption has and what its foil has instead: the classes, with the quantifiers of a plurality foil.

    >>> tags = {"direction": "sg2pl", "quantifiers": "a single/some"}
    >>> exchange(Foil(caption="", foil="", classes=("dog", "dogs"), why="", tags=tags))
    ('a single dog', 'some dogs')
    """
    before, _, after = foil.tags.get("quantifiers", "/").partition("/")
    return f"{before} {foil.classes[0]}".strip(), f"{after} {foil.classes[1]}".strip()


def _both_ways(pools: Iterable[Exchange]) -> list[Exchange]:
    known = set(pools)
    return [pair for pair in known if pair[0] < pair[1] and pair[::-1] in known]


def _take(there: list[tuple[int, Foil]], back: list[tuple[int, Foil]], chosen: dict[int, Foil]) -> None:
    """Add foils of both directions, one of each at a time, of captions that have none yet."""
    while True:
        one = next((item for item in there if item[0] not in chosen), None)
        two = next((item for item in back if item[0] not in chosen and (one is None or item[0] != one[0])), None)
        if one is None or two is None:
            return
        chosen.update((one, two))
        there, back = there[there.index(one) + 1 :], back[back.index(two) + 1 :]
