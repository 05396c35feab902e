"""Choose among candidates so that classes are balanced, and no word is more frequent in foils than in captions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from random import Random
from typing import Any, TypeVar

import numpy as np

from vlgate.perturb.foils.candidates import Foil
from vlgate.seeds import generator, quick_generator

# Choose among candidates so that their classes are balanced, as VALSE does.
# All functions take the classes of candidates and return the positions of those to keep, in ascending order; arguments
# and seed decide the result. Nothing here knows what a class is: a number, a preposition, a verb, "yes".

T = TypeVar("T", bound=Hashable)
ENOUGH = 30
"""The cases that a gate needs by default."""


def capped(classes: Sequence[T], cap: int, *, seed: int) -> tuple[int, ...]:
    if cap < 1:
        raise ValueError(f"cap={cap!r} must be at least 1")
    return tuple(_taken(classes, dict.fromkeys(classes, cap), f"{seed}/capped"))


def even(classes: Sequence[T], wanted: Sequence[T], *, seed: int) -> tuple[int, ...]:
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


Row = Mapping[int, float]
"""The coefficients of a linear constraint, by the position of what may be chosen."""


def most(likes: Sequence[float], at_most: Sequence[tuple[Row, float]], zero: Sequence[Row]) -> tuple[int, ...]:
    """Choose as many things as the constraints let, each whole or not at all; ``likes`` of 0 to 1 decide ties."""
    # A linear programme, and a whole one over what it uses (HiGHS, Huangfu and Hall 2018): within 1 % of the most for
    # 40,000 candidates, in seconds.
    count = len(likes)
    if not count:
        return ()
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp  # takes half a second
    from scipy.sparse import csr_array

    def matrix(rows: Sequence[Row]) -> Any:
        places = [(number, place) for number, row in enumerate(rows) for place in row]
        values = [value for row in rows for value in row.values()]
        return csr_array((values, tuple(zip(*places, strict=True)) or ([], [])), shape=(len(rows), count))

    limits = np.array([limit for _, limit in at_most], dtype=np.float64)
    upper, equal = matrix([row for row, _ in at_most]), matrix(zero)
    weights = -1 - np.asarray(likes) / 1000
    relaxed = linprog(weights, A_ub=upper, b_ub=limits, A_eq=equal, b_eq=np.zeros(len(zero)), bounds=(0, 1))
    used = np.flatnonzero(relaxed.x > _NO_PART)
    if not used.size:
        return ()
    constraints = [LinearConstraint(upper[:, used], -np.inf, limits), LinearConstraint(equal[:, used], 0, 0)]
    options = {"mip_rel_gap": 0.005, "node_limit": 200}  # not a time limit: the machine's speed must not decide
    whole = milp(weights[used], constraints=constraints, integrality=1, bounds=Bounds(0, 1), options=options)
    return () if whole.x is None else tuple(used[np.flatnonzero(whole.x > 0.5)].tolist())


_NO_PART = 1e-9
_UNEVEN = 0.05  # by which share of its texts a pair of words may be more often true than false, or the reverse,
_FEW = 2  # and by how many texts more, so that rare pairs do not decide
_COMMON = 30  # the captions that must have a pair of words before it counts
_ENOUGH_TO_TELL = 100  # with fewer cases, a share cannot be told from chance
_SLACK = 0.02  # the share of cases by which the captions may be the likelier texts more often than the foils


def exchange(foil: Foil) -> tuple[str, str]:
    """What a caption has and what its foil has instead: the classes, with the quantifiers of a plurality foil."""
    before, _, after = foil.tags.get("quantifiers", "/").partition("/")
    return f"{before} {foil.classes[0]}".strip(), f"{after} {foil.classes[1]}".strip()


def exchanged(
    foils: Sequence[Foil], sources: Sequence[Hashable], seed: int, leads: Sequence[float] = (), *, rings: bool = False
) -> tuple[int, ...]:
    """Select as many foils as can be balanced, one of each source, by their positions in ascending order.

    Each exchange, p for q, is made as often as q for p (VALSE, A.4), rare ones first. With ``rings``, each class
    replaces others as often as others replace it (A.5): "ride" by "push", "push" by "pull" and "pull" by "ride".
    ``leads`` say by how much each caption is the likelier text: half of the selected captions are. Pairs of
    neighbouring words are about as often in captions as in foils.
    """
    if len(foils) != len(sources):
        raise ValueError(f"len(foils)={len(foils)} and len(sources)={len(sources)} must be equal")
    flows: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for index, foil in enumerate(foils):
        one, other = exchange(foil)
        if rings:
            flows[one][index], flows[other][index] = 1, -1
        else:
            flows[min(one, other), max(one, other)][index] = 1 if one < other else -1
    rare = Counter(map(exchange, foils))
    random = generator(f"{seed}/exchanged").random(len(foils))
    likes = [(draw + 1 / rare[exchange(foil)]) / 2 for draw, foil in zip(random, foils, strict=True)]
    once, zero = one_of_each(sources), list(flows.values())
    chosen = most(likes, [*once, *half_likelier(leads), *_pairs_of_words(foils, sources)], zero)
    if len(chosen) >= _ENOUGH_TO_TELL:
        return chosen
    # of so few, plausibility tells little: it does not cost more than half of them
    plain = most(likes, once, zero)
    return chosen if 2 * len(chosen) >= len(plain) else plain


def one_of_each(sources: Sequence[Hashable]) -> list[tuple[Row, float]]:
    rows: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for index, source in enumerate(sources):
        rows[source][index] = 1
    return [(row, 1) for row in rows.values()]


def half_likelier(leads: Sequence[float]) -> list[tuple[Row, float]]:
    """The constraints that the caption is the likelier text in half of what is chosen; none without any lead."""
    if not any(leads):
        return []
    return [({index: way * sign - _SLACK for index, sign in enumerate(np.sign(leads))}, 0) for way in (1, -1)]


def _pairs_of_words(foils: Sequence[Foil], sources: Sequence[Hashable]) -> Iterator[tuple[Row, float]]:
    # A classifier of single words and pairs of neighbours, such as the blind baseline, learns these.
    surplus: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for index, foil in enumerate(foils):
        for text, sign in ((foil.caption, 1), (foil.foil, -1)):
            words = re.findall(r"[\w']+", text.lower())
            for pair in pairwise(words):
                surplus[pair][index] = surplus[pair].get(index, 0) + sign
    for row in surplus.values():
        uneven = {index: value for index, value in row.items() if value}
        if len({sources[index] for index in uneven}) >= _COMMON:
            for way in (1, -1):
                yield {index: way * value - _UNEVEN * abs(value) for index, value in uneven.items()}, _FEW
