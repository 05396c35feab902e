"""Choose among candidates so that classes are balanced, and no word is more frequent in foils than in captions."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from random import Random
from typing import TypeVar

import numpy as np

from vlgate.perturb.foils.candidates import Foil
from vlgate.seeds import quick_generator

# Choose among candidates so that their classes are balanced, as VALSE does.
# All functions take the classes of candidates and return the positions of those to keep, in ascending order; arguments
# and seed decide the result. Nothing here knows what a class is: a number, a preposition, a verb, "yes".

T = TypeVar("T", bound=Hashable)


def capped(classes: Sequence[T], cap: int, *, seed: int) -> tuple[int, ...]:
    """Keep at most ``cap`` candidates of each class, chosen at random; ValueError if the cap is below 1."""
    if cap < 1:
        raise ValueError(f"cap={cap!r} must be at least 1")
    return tuple(_taken(classes, dict.fromkeys(classes, cap), f"{seed}/capped"))


def even(classes: Sequence[T], wanted: Sequence[T], *, seed: int, limit: int | None = None) -> tuple[int, ...]:
    """Keep equally many candidates of each class that is wanted, chosen at random, at most ``limit`` in all."""
    counts = Counter(classes)
    each = min((counts[one] for one in wanted), default=0)
    if limit is not None:
        each = min(each, limit // max(len(wanted), 1))
    if not each:
        return ()
    among = [index for index, one in enumerate(classes) if one in set(wanted)]
    return tuple(among[n] for n in capped([classes[index] for index in among], each, seed=seed))


def even_within(
    classes: Sequence[T], groups: Sequence[Hashable], wanted: Sequence[T], *, seed: int, limit: int | None = None
) -> tuple[int, ...]:
    """Keep equally many candidates of each class that is wanted, in all and as far as possible within each group."""
    # A group is whatever may give the class away to a model that sees no image: of the VisDial questions whether the
    # image is in colour, nine in ten are answered with yes. In a group no class is kept more than once more often than
    # the rarest one.
    if len(groups) != len(classes):
        raise ValueError(f"len(groups)={len(groups)!r} must be len(classes)={len(classes)!r}")
    counts = Counter(zip(groups, classes, strict=True))
    room = {key: min(counts[key[0], one] for one in wanted) + 1 for key in counts if key[1] in wanted}
    kept = _taken(list(zip(groups, classes, strict=True)), room, f"{seed}/even_within")
    chosen = even([classes[index] for index in kept], wanted, seed=seed, limit=limit)
    return tuple(kept[n] for n in chosen)


def mutual(pairs: Sequence[tuple[T, T]], *, seed: int) -> tuple[int, ...]:
    """Keep equally many candidates that replace p by q as q by p, for every p and q, chosen at random."""
    # Afterwards each class occurs as often in captions as in foils (VALSE, appendix A.4).
    counts = Counter(pairs)
    room = {pair: min(count, counts[pair[::-1]]) for pair, count in counts.items() if pair[0] != pair[1]}
    return tuple(_taken(pairs, room, f"{seed}/mutual"))


def _taken(keys: Sequence[T], room: dict[T, int], name: str) -> list[int]:
    kept = []
    for index in _shuffled(len(keys), name):
        if room.get(keys[index], 0):
            room[keys[index]] -= 1
            kept.append(index)
    return sorted(kept)


def assigned(classes: Sequence[T], options: Sequence[Sequence[T]], *, seed: int) -> Mapping[int, T]:
    """Choose foils' classes by position so that captions and foils have the same distribution of classes."""
    # ``options`` are the classes that each candidate's foil may take. Candidates that cannot be given one are dropped,
    # until the foils of those that are left have exactly the classes of their captions. What is left is the most that
    # one round of matching after another leaves.
    if len(options) != len(classes):
        raise ValueError(f"len(options)={len(options)!r} must be len(classes)={len(classes)!r}")
    random = quick_generator(f"{seed}/assigned")
    left = _shuffled(len(classes), f"{seed}/assigned order")
    while True:
        room = Counter(classes[index] for index in left)
        open_to = {index: [one for one in dict.fromkeys(options[index]) if one != classes[index]] for index in left}
        chosen = _matched(left, open_to, room, random)
        if len(chosen) == len(left):
            return dict(sorted(chosen.items()))
        left = [index for index in left if index in chosen]


def assigned_within(
    classes: Sequence[T], options: Sequence[Sequence[T]], groups: Sequence[Hashable], *, seed: int, smallest: int = 1
) -> Mapping[int, T]:
    """Choose foils' classes as ``assigned`` does, within each group first and then among those that are left."""
    # Groups with fewer than ``smallest`` candidates are not balanced: in the rest of a small group, what is true of one
    # candidate is always false more often, and a classifier that is tested on one after training on the rest learns it.
    # A group is whatever may give the class away to a model that sees no image: people are counted in images without
    # people, but nobody counts the zebras in images without zebras.
    chosen = _in_groups(classes, options, groups, seed, smallest)
    left = [index for index in range(len(classes)) if index not in chosen]
    return dict(sorted((chosen | _of(classes, options, left, seed)).items()))


def _in_groups(
    classes: Sequence[T], options: Sequence[Sequence[T]], groups: Sequence[Hashable], seed: int, smallest: int
) -> dict[int, T]:
    members: dict[Hashable, list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)
    chosen: dict[int, T] = {}
    for part in members.values():
        if len(part) >= smallest:
            chosen |= _of(classes, options, part, seed)
    return chosen


def _of(classes: Sequence[T], options: Sequence[Sequence[T]], indexes: Sequence[int], seed: int) -> dict[int, T]:
    some = assigned([classes[index] for index in indexes], [options[index] for index in indexes], seed=seed)
    return {indexes[n]: one for n, one in some.items()}


def near_within(
    classes: Sequence[T], options: Sequence[Sequence[T]], groups: Sequence[Hashable], *, seed: int
) -> Mapping[int, T]:
    """Choose foils' classes as ``assigned`` does within each group, and nearly so among those that are left."""
    # Among these, a class is given to at most ``n + sqrt(n)`` foils if n captions have it, as a random draw may give
    # it. That keeps far more candidates than an exact balance of rare classes does, and a classifier that learns from a
    # part of the set finds no class more often true in it because the rest of the set has it false.
    chosen = _in_groups(classes, options, groups, seed, smallest=1)
    left = [index for index in _shuffled(len(classes), f"{seed}/near order") if index not in chosen]
    room = {one: n + round(sqrt(n)) for one, n in Counter(classes[index] for index in left).items()}
    open_to = {index: [one for one in dict.fromkeys(options[index]) if one != classes[index]] for index in left}
    chosen |= _matched(left, open_to, room, quick_generator(f"{seed}/near"))
    return dict(sorted(chosen.items()))


def spread(options: Sequence[Sequence[T]], *, seed: int) -> Mapping[int, T]:
    """Choose a foil's class for each caption so that the foils' classes are as even as their options allow."""
    # Counting-adversarial gives its captions foils of 0 to 3 so. Candidates without options are left out.
    random = quick_generator(f"{seed}/spread")
    used: Counter[T] = Counter()
    chosen: dict[int, T] = {}
    for index in sorted(_shuffled(len(options), f"{seed}/spread order"), key=lambda one: len(options[one])):
        if options[index]:
            least = min(used[one] for one in options[index])
            chosen[index] = random.choice([one for one in options[index] if used[one] == least])
            used[chosen[index]] += 1
    return dict(sorted(chosen.items()))


def _shuffled(count: int, name: str) -> list[int]:
    indexes = list(range(count))
    quick_generator(name).shuffle(indexes)
    return indexes


def _matched(
    indexes: Sequence[int], options: Mapping[int, Sequence[T]], room: Mapping[T, int], random: Random
) -> dict[int, T]:
    """Match as many candidates to classes as have room, by augmenting paths between classes (Kuhn 1955)."""
    free = Counter(room)
    chosen: dict[int, T] = {}
    # Who holds a class and may move to another; dictionaries, since the order of a set of strings changes by process.
    movable: dict[tuple[T, T], dict[int, None]] = defaultdict(dict)
    reach: dict[T, dict[T, None]] = defaultdict(dict)

    def hold(index: int, one: T) -> None:
        chosen[index] = one
        for other in options[index]:
            movable[one, other][index] = None
            reach[one][other] = None

    for index in indexes:
        path = _path(random.sample(list(options[index]), len(options[index])), free, movable, reach)
        if path is None:
            continue
        free[path[-1]] -= 1
        for held, into in reversed(list(pairwise(path))):
            mover = next(iter(movable[held, into]))
            one = chosen.pop(mover)
            for other in options[mover]:
                del movable[one, other][mover]
            hold(mover, into)
        hold(index, path[0])
    return chosen


def _path(
    starts: Sequence[T],
    free: Mapping[T, int],
    movable: Mapping[tuple[T, T], Mapping[int, None]],
    reach: Mapping[T, Mapping[T, None]],
) -> list[T] | None:
    # Classes from one of ``starts`` to one with room; each can hand a candidate to the next.
    came: dict[T, T | None] = dict.fromkeys(starts)
    todo = deque(starts)
    while todo:
        one = todo.popleft()
        if free.get(one, 0) > 0:
            path = [one]
            while (before := came[path[-1]]) is not None:
                path.append(before)
            return path[::-1]
        for other in reach.get(one, ()):
            if other not in came and movable.get((one, other)):
                came[other] = one
                todo.append(other)
    return None


def paired(foils: Sequence[Foil], sources: Sequence[Hashable], seed: int) -> tuple[int, ...]:
    """Select foils so that each pair of classes occurs as often in one direction as in the other (VALSE, A.4)."""
    # The pairs take turns, so that a frequent pair does not crowd out the others. Each source, such as a caption or an
    # image, is used once.
    if len(foils) != len(sources):
        raise ValueError(f"len(foils)={len(foils)} and len(sources)={len(sources)} must be equal")
    queues: dict[tuple[str, str], list[int]] = {}
    for index in np.random.default_rng(seed).permutation(len(foils)).tolist():
        queues.setdefault(foils[index].classes, []).append(index)
    open_pairs = sorted((one, other) for one, other in queues if one < other and (other, one) in queues)
    used: set[Hashable] = set()
    taken: list[int] = []
    while open_pairs:
        still = []
        for one, other in open_pairs:
            two = _two(queues[one, other], queues[other, one], sources, used)
            if two:
                taken += two
                still.append((one, other))
        open_pairs = still
    return tuple(sorted(taken))


def _two(one: list[int], other: list[int], sources: Sequence[Hashable], used: set[Hashable]) -> list[int]:
    two: list[int] = []
    for queue in (one, other):
        while queue and sources[queue[-1]] in used:
            queue.pop()
        if not queue:
            used.difference_update(sources[index] for index in two)
            return []
        two.append(queue.pop())
        used.add(sources[two[-1]])
    return two


def matched(foils: Sequence[Foil], sources: Sequence[Hashable], seed: int) -> tuple[int, ...]:
    """Select foils so that each class replaces others exactly as often as others replace it (VALSE, A.5)."""
    # Classes need not be paired: "ride" may be replaced by "push", "push" by "pull" and "pull" by "ride". Such rings
    # are found by walks from class to class; a class without a way on is left out. Each source is used once.
    ways: dict[str, dict[str, list[int]]] = {}
    for index in np.random.default_rng(seed).permutation(len(foils)).tolist():
        one, other = foils[index].classes
        ways.setdefault(one, {}).setdefault(other, []).append(index)
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
        index, other = step
        steps.append(index)
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
    ways_on = ways[here]
    while ways_on:
        other = next(iter(ways_on))
        indexes = ways_on.pop(other)
        while indexes and other in ways:
            index = indexes.pop()
            if sources[index] not in used:
                ways_on[other] = indexes  # back to the end, so that all classes take turns
                return index, other
    return None


Exchange = tuple[str, str]  # what a caption has and what its foil has instead


def exchanged(groups: Sequence[Sequence[Foil]], *, seed: int) -> tuple[tuple[int, Foil], ...]:
    """Choose at most one foil of each caption so that each word, with its quantifier, is as often true as false."""
    # A foil that puts "dogs" for "dog" is chosen only together with one that puts "dog" for "dogs", in another caption.
    # The rarest exchanges are served first.
    pools: dict[Exchange, list[tuple[int, Foil]]] = {}
    random = quick_generator(f"{seed}/exchanged")
    for index in random.sample(range(len(groups)), len(groups)):
        for foil in groups[index]:
            pools.setdefault(exchange(foil), []).append((index, foil))
    chosen: dict[int, Foil] = {}
    both_ways = [pair for pair in pools if pair[0] < pair[1] and pair[::-1] in pools]
    for pair in sorted(both_ways, key=lambda one: (min(len(pools[one]), len(pools[one[::-1]])), one)):
        _take(pools[pair], pools[pair[::-1]], chosen)
    return tuple(sorted(chosen.items()))


def exchange(foil: Foil) -> Exchange:
    """What a caption has and what its foil has instead: the classes, with the quantifiers of a plurality foil."""
    before, _, after = foil.tags.get("quantifiers", "/").partition("/")
    return f"{before} {foil.classes[0]}".strip(), f"{after} {foil.classes[1]}".strip()


def _take(there: list[tuple[int, Foil]], back: list[tuple[int, Foil]], chosen: dict[int, Foil]) -> None:
    while True:
        one = next((item for item in there if item[0] not in chosen), None)
        two = next((item for item in back if item[0] not in chosen and (one is None or item[0] != one[0])), None)
        if one is None or two is None:
            return
        chosen.update((one, two))
        there, back = there[there.index(one) + 1 :], back[back.index(two) + 1 :]
