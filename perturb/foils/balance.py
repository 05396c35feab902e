"""Choose among candidates so that their classes are balanced, as VALSE does.

All functions take the classes of candidates and return the positions of those to keep, in ascending order; arguments
and seed decide the result. Nothing here knows what a class is: a number, a preposition, a verb, "yes".
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from random import Random
from typing import TypeVar

from vlgate.seeds import quick_generator

T = TypeVar("T", bound=Hashable)


def capped(classes: Sequence[T], cap: int, *, seed: int) -> tuple[int, ...]:
    """Keep at most ``cap`` candidates of each class, chosen at random.

    Raises: ValueError if the cap is below 1.

    >>> [("abaa"[n]) for n in capped("abaa", 2, seed=0)].count("a")
    2
    """
    if cap < 1:
        raise ValueError(f"cap={cap!r} must be at least 1")
    taken: Counter[T] = Counter()
    kept = []
    for place in _shuffled(len(classes), f"{seed}/capped"):
        if taken[classes[place]] < cap:
            taken[classes[place]] += 1
            kept.append(place)
    return tuple(sorted(kept))


def even(classes: Sequence[T], wanted: Sequence[T], *, seed: int, limit: int | None = None) -> tuple[int, ...]:
    """Keep equally many candidates of each class that is wanted, chosen at random, at most ``limit`` in all.

    Existence takes half of its captions from the answer zero, coreference half from the answer yes.

    >>> sorted("yes no no".split()[n] for n in even("yes no no".split(), ("yes", "no"), seed=0))
    ['no', 'yes']
    """
    counts = Counter(classes)
    each = min((counts[one] for one in wanted), default=0)
    if limit is not None:
        each = min(each, limit // max(len(wanted), 1))
    if not each:
        return ()
    among = [place for place, one in enumerate(classes) if one in set(wanted)]
    return tuple(among[n] for n in capped([classes[place] for place in among], each, seed=seed))


def even_within(
    classes: Sequence[T],
    groups: Sequence[Hashable],
    wanted: Sequence[T],
    *,
    seed: int,
    limit: int | None = None,
) -> tuple[int, ...]:
    """Keep equally many candidates of each class that is wanted, in all and as far as possible within each group.

    A group is whatever may give the class away to a model that sees no image: of the VisDial questions whether the
    image is in colour, nine in ten are answered with yes. In a group no class is kept more than once more often than
    the rarest one.

    Raises: ValueError if there are not as many groups as classes.

    >>> len(even_within(["yes", "yes", "yes", "no"], ["in color"] * 3 + ["raining"], ("yes", "no"), seed=0))
    2
    """
    if len(groups) != len(classes):
        raise ValueError(f"len(groups)={len(groups)!r} must be len(classes)={len(classes)!r}")
    counts = Counter(zip(groups, classes, strict=True))
    room = {key: min(counts[key[0], one] for one in wanted) + 1 for key in counts if key[1] in wanted}
    kept = []
    for place in _shuffled(len(classes), f"{seed}/even_within"):
        key = (groups[place], classes[place])
        if room.get(key, 0):
            room[key] -= 1
            kept.append(place)
    kept.sort()
    chosen = even([classes[place] for place in kept], wanted, seed=seed, limit=limit)
    return tuple(kept[n] for n in chosen)


def mutual(pairs: Sequence[tuple[T, T]], *, seed: int) -> tuple[int, ...]:
    """Keep equally many candidates that replace p by q as q by p, for every p and q, chosen at random.

    Afterwards each class occurs as often in captions as in foils (VALSE, appendix A.4).

    >>> mutual([("on", "under"), ("under", "on"), ("on", "in")], seed=0)
    (0, 1)
    """
    counts = Counter(pairs)
    left = {pair: min(count, counts[pair[::-1]]) for pair, count in counts.items() if pair[0] != pair[1]}
    kept = []
    for place in _shuffled(len(pairs), f"{seed}/mutual"):
        if left.get(pairs[place], 0):
            left[pairs[place]] -= 1
            kept.append(place)
    return tuple(sorted(kept))


def assigned(classes: Sequence[T], options: Sequence[Sequence[T]], *, seed: int) -> Mapping[int, T]:
    """Choose a foil's class for each caption so that captions and foils have the same distribution of classes.

    ``options`` are the classes that each candidate's foil may take; the candidate's own class is none of them.
    Candidates that cannot be given one are dropped, until the foils of those that are left have exactly the classes of
    their captions. What is left is the most that one round of matching after another leaves.

    Returns: the foil's class by the position of the candidate, in ascending order.

    Raises: ValueError if there are not as many options as classes.

    >>> dict(assigned("aabb", ["b", "b", "a", "a"], seed=0))
    {0: 'b', 1: 'b', 2: 'a', 3: 'a'}
    """
    if len(options) != len(classes):
        raise ValueError(f"len(options)={len(options)!r} must be len(classes)={len(classes)!r}")
    random = quick_generator(f"{seed}/assigned")
    left = _shuffled(len(classes), f"{seed}/assigned order")
    while True:
        room = Counter(classes[place] for place in left)
        open_to = {place: [one for one in dict.fromkeys(options[place]) if one != classes[place]] for place in left}
        chosen = _matched(left, open_to, room, random)
        if len(chosen) == len(left):
            return dict(sorted(chosen.items()))
        left = [place for place in left if place in chosen]


def assigned_within(
    classes: Sequence[T],
    options: Sequence[Sequence[T]],
    groups: Sequence[Hashable],
    *,
    seed: int,
    smallest: int = 1,
) -> Mapping[int, T]:
    """Choose foils' classes as ``assigned`` does, within each group first and then among those that are left.

    Groups with fewer than ``smallest`` candidates are not balanced: in the rest of a small group, what is true of one
    candidate is always false more often, and a classifier that is tested on one after training on the rest learns it.

    A group is whatever may give the class away to a model that sees no image: people are counted in images without
    people, but nobody counts the zebras in images without zebras.

    >>> dict(assigned_within("abc", ["bc", "ac", "ab"], ["dogs", "dogs", "cats"], seed=0))
    {0: 'b', 1: 'a'}
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    chosen: dict[int, T] = {}
    for part in (part for part in members.values() if len(part) >= smallest):
        chosen |= _of(classes, options, part, seed)
    left = [place for place in range(len(classes)) if place not in chosen]
    return dict(sorted((chosen | _of(classes, options, left, seed)).items()))


def _of(classes: Sequence[T], options: Sequence[Sequence[T]], places: Sequence[int], seed: int) -> dict[int, T]:
    some = assigned([classes[place] for place in places], [options[place] for place in places], seed=seed)
    return {places[n]: one for n, one in some.items()}


def near_within(
    classes: Sequence[T], options: Sequence[Sequence[T]], groups: Sequence[Hashable], *, seed: int
) -> Mapping[int, T]:
    """Choose foils' classes as ``assigned`` does within each group, and nearly so among those that are left.

    Among these, a class is given to at most ``n + sqrt(n)`` foils if n captions have it, as a random draw may give it.
    That keeps far more candidates than an exact balance of rare classes does, and a classifier that learns from a part
    of the set finds no class more often true in it because the rest of the set has it false.

    Returns: the foil's class by the position of the candidate, in ascending order.

    >>> dict(near_within("aab", ["b", "b", "a"], ["dogs", "dogs", "cats"], seed=0))
    {0: 'b', 1: 'b', 2: 'a'}
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    chosen: dict[int, T] = {}
    for part in members.values():
        chosen |= _of(classes, options, part, seed)
    left = [place for place in _shuffled(len(classes), f"{seed}/near order") if place not in chosen]
    room = {one: n + round(sqrt(n)) for one, n in Counter(classes[place] for place in left).items()}
    open_to = {place: [one for one in dict.fromkeys(options[place]) if one != classes[place]] for place in left}
    chosen |= _matched(left, open_to, room, quick_generator(f"{seed}/near"))
    return dict(sorted(chosen.items()))


def spread(options: Sequence[Sequence[T]], *, seed: int) -> Mapping[int, T]:
    """Choose a foil's class for each caption so that the foils' classes are as even as their options allow.

    Counting-adversarial gives its captions foils of 0 to 3 so. Candidates without options are left out.

    >>> sorted(spread([(0, 1), (0, 1)], seed=0).values())
    [0, 1]
    """
    random = quick_generator(f"{seed}/spread")
    used: Counter[T] = Counter()
    chosen: dict[int, T] = {}
    for place in sorted(_shuffled(len(options), f"{seed}/spread order"), key=lambda one: len(options[one])):
        if options[place]:
            least = min(used[one] for one in options[place])
            chosen[place] = random.choice([one for one in options[place] if used[one] == least])
            used[chosen[place]] += 1
    return dict(sorted(chosen.items()))


def _shuffled(count: int, name: str) -> list[int]:
    places = list(range(count))
    quick_generator(name).shuffle(places)
    return places


def _matched(
    places: Sequence[int], options: Mapping[int, Sequence[T]], room: Mapping[T, int], random: Random
) -> dict[int, T]:
    """Match as many candidates to classes as have room, by augmenting paths between classes (Kuhn 1955)."""
    free = Counter(room)
    chosen: dict[int, T] = {}
    # Who holds a class and may move to another; dictionaries, since the order of a set of strings changes by process.
    movable: dict[tuple[T, T], dict[int, None]] = defaultdict(dict)
    reach: dict[T, dict[T, None]] = defaultdict(dict)

    def hold(place: int, one: T) -> None:
        """Choose an option for a place."""
        chosen[place] = one
        for other in options[place]:
            movable[one, other][place] = None
            reach[one][other] = None

    def leave(place: int) -> None:
        """Take the choice for a place back."""
        one = chosen.pop(place)
        for other in options[place]:
            del movable[one, other][place]

    for place in places:
        path = _path(random.sample(list(options[place]), len(options[place])), free, movable, reach)
        if path is None:
            continue
        free[path[-1]] -= 1
        for held, into in reversed(list(pairwise(path))):
            mover = next(iter(movable[held, into]))
            leave(mover)
            hold(mover, into)
        hold(place, path[0])
    return chosen


def _path(
    starts: Sequence[T],
    free: Mapping[T, int],
    movable: Mapping[tuple[T, T], Mapping[int, None]],
    reach: Mapping[T, Mapping[T, None]],
) -> list[T] | None:
    """Return classes from one of ``starts`` to one with room; each can hand a candidate to the next."""
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
