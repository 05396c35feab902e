"""Balance replacements: as many foils with q for p as with p for q, so that no word is more frequent on one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from vlgate.perturb.foils.candidate import Foil


def paired(foils: Sequence[Foil], sources: Sequence[Hashable], seed: int) -> tuple[int, ...]:
    """Select foils so that each pair of classes occurs as often in one direction as in the other (VALSE, A.4).

    The pairs take turns, so that a frequent pair does not crowd out the others, and each source is used once.

    Args:
        foils: n candidates; ``classes`` are what is replaced and what replaces it.
        sources: n keys of what the candidates were made from, such as the id of a caption or an image.
        seed: decides which candidates of a pair are taken.

    Returns: the positions of the selected candidates, in increasing order.
    Raises: ValueError if there are not as many sources as foils.

    >>> from vlgate.perturb.foils.candidate import Foil
    >>> made = [("on", "under"), ("under", "on"), ("on", "under"), ("in", "outside")]
    >>> foils = [Foil(caption="", foil="", classes=classes, why="") for classes in made]
    >>> [foils[place].classes for place in paired(foils, range(4), seed=0)].count(("on", "under"))
    1
    """
    if len(foils) != len(sources):
        raise ValueError(f"len(foils)={len(foils)} and len(sources)={len(sources)} must be equal")
    queues: dict[tuple[str, str], list[int]] = {}
    for place in np.random.default_rng(seed).permutation(len(foils)).tolist():
        queues.setdefault(foils[place].classes, []).append(place)
    open_pairs = sorted((one, other) for one, other in queues if one < other and (other, one) in queues)
    used: set[Hashable] = set()
    taken: list[int] = []
    while open_pairs:
        still = []
        for one, other in open_pairs:
            found = _two(queues[one, other], queues[other, one], sources, used)
            if found:
                taken += found
                still.append((one, other))
        open_pairs = still
    return tuple(sorted(taken))


def _two(one: list[int], other: list[int], sources: Sequence[Hashable], used: set[Hashable]) -> list[int]:
    """Take the next candidate of each direction and mark their sources as used; empty if a direction has none left."""
    found: list[int] = []
    for queue in (one, other):
        while queue and sources[queue[-1]] in used:
            queue.pop()
        if not queue:
            used.difference_update(sources[place] for place in found)
            return []
        found.append(queue.pop())
        used.add(sources[found[-1]])
    return found


def matched(foils: Sequence[Foil], sources: Sequence[Hashable], seed: int) -> tuple[int, ...]:
    """Select one foil for each source so that a class replaces others as often as others replace it, or rarer.

    A source that finds no class with room is dropped; its own class then has room for one foil less. So the classes of
    captions and foils have nearly the same frequencies (VALSE, A.5), without being paired.

    Args:
        foils: n candidates; ``classes`` are what is replaced and what replaces it.
        sources: n keys of what the candidates were made from.
        seed: decides the order of the sources.

    Returns: the positions of the selected candidates, in increasing order.

    >>> from vlgate.perturb.foils.candidate import Foil
    >>> made = [("ride", "push"), ("push", "ride"), ("push", "pull")]
    >>> foils = [Foil(caption="", foil="", classes=classes, why="") for classes in made]
    >>> matched(foils, [1, 2, 3], seed=0)
    (0, 1)
    """
    options: dict[Hashable, list[int]] = {}
    for place in np.random.default_rng(seed).permutation(len(foils)).tolist():
        options.setdefault(sources[place], []).append(place)
    taken: dict[Hashable, int] = {}
    while True:
        room = Counter(foils[some[0]].classes[0] for some in options.values())
        taken = _matched(foils, options, room)
        if len(taken) == len(options):
            return tuple(sorted(taken.values()))
        options = {source: some for source, some in options.items() if source in taken}


def _matched(foils: Sequence[Foil], options: Mapping[Hashable, list[int]], room: Counter[str]) -> dict[Hashable, int]:
    """Give each source, those with the fewest options first, the class that has most room left."""
    taken = {}
    for source in sorted(options, key=lambda one: len(options[one])):
        best = max(options[source], key=lambda place: room[foils[place].classes[1]])
        if room[foils[best].classes[1]] > 0:
            room[foils[best].classes[1]] -= 1
            taken[source] = best
    return taken
