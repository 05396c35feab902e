"""Choose among candidates so that classes are balanced, and no word is more frequent in foils than in captions."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby, pairwise
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
ENOUGH = 30
"""The cases that a gate needs by default."""


def capped(classes: Sequence[T], cap: int, *, seed: int) -> tuple[int, ...]:
    """Keep at most ``cap`` candidates of each class, chosen at random; ValueError if the cap is below 1."""
    if cap < 1:
        raise ValueError(f"cap={cap!r} must be at least 1")
    return tuple(_taken(classes, dict.fromkeys(classes, cap), f"{seed}/capped"))


def even(classes: Sequence[T], wanted: Sequence[T], *, seed: int) -> tuple[int, ...]:
    """Keep equally many candidates of each class that is wanted, chosen at random."""
    counts = Counter(classes)
    each = min((counts[one] for one in wanted), default=0)
    if not each:
        return ()
    among = [index for index, one in enumerate(classes) if one in set(wanted)]
    return tuple(among[n] for n in capped([classes[index] for index in among], each, seed=seed))


def even_within(classes: Sequence[T], groups: Sequence[Hashable], wanted: Sequence[T], *, seed: int) -> tuple[int, ...]:
    """Keep equally many candidates of each class that is wanted, in all and as far as possible within each group."""
    # A group is whatever may give the class away to a model that sees no image: of the VisDial questions whether the
    # image is in colour, nine in ten are answered with yes. In a group each class is kept as often as the rarest one,
    # or once more if that would leave fewer than ``ENOUGH``.
    if len(groups) != len(classes):
        raise ValueError(f"len(groups)={len(groups)!r} must be len(classes)={len(classes)!r}")
    counts = Counter(zip(groups, classes, strict=True))
    for more in (0, 1):
        room = {key: min(counts[key[0], one] for one in wanted) + more for key in counts if key[1] in wanted}
        kept = _taken(list(zip(groups, classes, strict=True)), room, f"{seed}/even_within")
        chosen = even([classes[index] for index in kept], wanted, seed=seed)
        if len(chosen) >= ENOUGH:
            break
    return tuple(kept[n] for n in chosen)


def _taken(keys: Sequence[T], room: dict[T, int], name: str) -> list[int]:
    kept = []
    for index in _shuffled(len(keys), name):
        if room.get(keys[index], 0):
            room[keys[index]] -= 1
            kept.append(index)
    return sorted(kept)


def assigned(classes: Sequence[T], options: Sequence[Sequence[T]], *, seed: int | str) -> Mapping[int, T]:
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
    for group, part in members.items():
        if len(part) >= smallest:  # with one seed for all, equal groups would put the same number for each number
            chosen |= _of(classes, options, part, f"{seed}/{group}")
    return chosen


def _of(classes: Sequence[T], options: Sequence[Sequence[T]], indexes: Sequence[int], seed: int | str) -> dict[int, T]:
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
            least = min(used[option] for option in options[index])
            chosen[index] = random.choice([option for option in options[index] if used[option] == least])
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


def exchange(foil: Foil) -> Exchange:
    """What a caption has and what its foil has instead: the classes, with the quantifiers of a plurality foil."""
    before, _, after = foil.tags.get("quantifiers", "/").partition("/")
    return f"{before} {foil.classes[0]}".strip(), f"{after} {foil.classes[1]}".strip()


class _Exchanges:
    """Foils to choose from, by exchange and by whether the caption is the likelier text; ``chosen`` by source."""

    def __init__(
        self, foils: Sequence[Foil], sources: Sequence[Hashable], leads: Sequence[float], random: Random
    ) -> None:
        self.pools: dict[Exchange, dict[bool, deque[int]]] = {}
        self.chosen: dict[Hashable, int] = {}
        self._sources = sources
        self._surplus = 0  # twos with the caption likelier in both, less those with the foil likelier in both
        for index in random.sample(range(len(foils)), len(foils)):
            likelier = bool(leads) and leads[index] > 0
            pools = self.pools.setdefault(exchange(foils[index]), {True: deque(), False: deque()})
            pools[likelier].append(index)

    def order(self, pair: Exchange) -> tuple[float, int]:
        """The most one-sided exchanges come first, then the rarest: their few foils of one side go with many."""
        sizes = sorted(sum(map(len, self.pools[way].values())) for way in (pair, pair[::-1]))
        return (-sizes[1] / sizes[0], sizes[0])

    def mixed(self, pair: Exchange) -> bool:
        """Choose two foils, p for q and q for p, one of whose captions is the likelier text."""
        one, other = self.pools[pair], self.pools[pair[::-1]]
        return self._take(one[True], other[False]) or self._take(one[False], other[True])

    def alike(self, pair: Exchange) -> bool:
        """Choose two whose captions are both less likely, or both likelier as long as about half of all are."""
        one, other = self.pools[pair], self.pools[pair[::-1]]
        if self._take(one[False], other[False]):
            self._surplus -= 1
            return True
        if self._surplus + 1 > _SLACK * len(self.chosen) or not self._take(one[True], other[True]):
            return False
        self._surplus += 1
        return True

    def _take(self, there: deque[int], back: deque[int]) -> bool:
        for pool in (there, back):
            while pool and self._sources[pool[0]] in self.chosen:
                pool.popleft()
        if not there or not back:
            return False
        source = self._sources[there[0]]
        if self._sources[back[0]] == source:  # the other foil must be of another source
            free = (
                index for index in back if self._sources[index] != source and self._sources[index] not in self.chosen
            )
            other = next(free, None)
            if other is None:
                return False
            back.remove(other)
            back.appendleft(other)
        for pool in (there, back):
            index = pool.popleft()
            self.chosen[self._sources[index]] = index
        return True


_SLACK = 0.02  # twos of all cases: a share of 0.52


def exchanged(
    foils: Sequence[Foil], sources: Sequence[Hashable], seed: int, leads: Sequence[float] = ()
) -> tuple[int, ...]:
    """Select foils so that each exchange, p for q, is made as often as q for p (VALSE, A.4), one foil of each source.

    ``leads`` say by how much each caption is the likelier text: about half of the selected captions are.
    """
    if len(foils) != len(sources):
        raise ValueError(f"len(foils)={len(foils)} and len(sources)={len(sources)} must be equal")
    random = quick_generator(f"{seed}/exchanged")
    exchanges = _Exchanges(foils, sources, leads, random)
    both_ways = [pair for pair in exchanges.pools if pair[0] < pair[1] and pair[::-1] in exchanges.pools]
    random.shuffle(both_ways)
    # The most one-sided exchanges are served first; equal ones, such as those of one noun with "some" and with
    # "a number of", take turns in an order that the seed decides.
    order = {pair: exchanges.order(pair) for pair in both_ways}
    groups = [list(turns) for _, turns in groupby(sorted(both_ways, key=order.__getitem__), key=order.__getitem__)]
    for take in (exchanges.mixed, exchanges.alike, exchanges.alike):
        for group in groups:
            turns = group
            while turns:
                turns = [pair for pair in turns if take(pair)]
    return tuple(sorted(exchanges.chosen.values()))
