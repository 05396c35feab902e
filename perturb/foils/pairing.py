"""Balance replacements: as many foils with q for p as with p for q, so that no word is more frequent on one side."""

from __future__ import annotations

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
    """Select foils so that each class replaces others exactly as often as others replace it (VALSE, A.5).

    Classes need not be paired: "ride" may be replaced by "push", "push" by "pull" and "pull" by "ride". Such rings are
    found by walks from class to class; a class without a way on is left out.

    Args:
        foils: n candidates; ``classes`` are what is replaced and what replaces it.
        sources: n keys of what the candidates were made from; each source is used once, and has one class.
        seed: decides the walks.

    Returns: the positions of the selected candidates, in increasing order.

    >>> from vlgate.perturb.foils.candidate import Foil
    >>> made = [("ride", "push"), ("push", "pull"), ("pull", "ride"), ("push", "ride"), ("ride", "carry")]
    >>> foils = [Foil(caption="", foil="", classes=classes, why="") for classes in made]
    >>> matched(foils, [1, 2, 3, 2, 1], seed=0) in {(0, 1, 2), (0, 3)}
    True
    """
    ways: dict[str, dict[str, list[int]]] = {}
    for place in np.random.default_rng(seed).permutation(len(foils)).tolist():
        one, other = foils[place].classes
        ways.setdefault(one, {}).setdefault(other, []).append(place)
    taken: list[int] = []
    used: set[Hashable] = set()
    for start in list(ways):
        while start in ways:
            _walk(start, ways, sources, used, taken)
    return tuple(sorted(taken))


def _walk(
    start: str,
    ways: dict[str, dict[str, list[int]]],
    sources: Sequence[Hashable],
    used: set[Hashable],
    taken: list[int],
) -> None:
    """Walk from class to class until a ring closes, whose candidates are taken, or no way goes on from ``start``."""
    path, steps = [start], list[int]()
    while path:
        step = _step(path[-1], ways, sources, used)
        if step is None:  # nothing replaces this class any more: nothing may be replaced by it
            del ways[path.pop()]
            steps = steps[: max(0, len(path) - 1)]
            continue
        place, other = step
        steps.append(place)
        if other in path:
            ring = path.index(other)
            taken += steps[ring:]
            used.update(sources[one] for one in steps[ring:])
            for number, left in enumerate(steps[:ring]):  # the way to the ring can still be gone
                ways[path[number]][path[number + 1]].append(left)
            return
        path.append(other)


def _step(
    here: str, ways: Mapping[str, dict[str, list[int]]], sources: Sequence[Hashable], used: set[Hashable]
) -> tuple[int, str] | None:
    found = ways[here]
    while found:
        other = next(iter(found))
        places = found.pop(other)
        while places and other in ways:
            place = places.pop()
            if sources[place] not in used:
                found[other] = places  # back to the end, so that all classes take turns
                return place, other
    return None
