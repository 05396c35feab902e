"""From candidates to a set: no case twice, balanced classes, a blind baseline near chance, at most so many cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vlgate.making.checks.blind import FOUND, Blind, blind, near_chance
from vlgate.making.checks.pruning import PRUNED, Reached, pruned, reached
from vlgate.making.checks.validity import repeated
from vlgate.making.kinds.kind import Item, Kind
from vlgate.seeds import quick_generator

BEYOND = "beyond --limit"
_SLACK = 2  # cases below --limit, since balanced classes come in pairs
_ROUNDS = 5  # of balancing classes and dropping what is found blindly: each undoes a little of the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The items of a set, the others by reason, and the blind baseline before it decided anything.

    ``note`` says what is wrong with the balance of the items, if anything is. ``probes`` is what the probes of text
    reached before any of this; None if nothing is pruned.
    """

    items: tuple[Item, ...]
    dropped: Counter[str]
    before: Blind | None
    enough: bool
    """Whether further candidates would bring no more cases: the limit left some out, and balancing did not."""
    note: str = ""
    probes: Reached | None = None


def choose(kind: Kind, items: Sequence[Item], *, limit: int | None, seed: int, prune: bool = False) -> Chosen:
    """Choose the items of a set among the candidates of the inputs that were used.

    The blind baseline has the last word: it is measured again after each balancing of classes. If ``prune`` is true,
    the probes of text have it.
    """
    dropped: Counter[str] = Counter()
    notes: list[str] = []
    left = []
    for item, reason in zip(items, repeated(items), strict=True):
        if reason is None:
            left.append(item)
        else:
            dropped[reason] += 1
    left = _selected(kind, left, seed, dropped, notes)
    before = blind(left, kind.shape) if left else None
    probes = reached(left, kind.shape) if prune and left else None
    left = _balanced(kind, left, seed, dropped, notes)
    left = _pruned(kind, left, seed, dropped, notes) if prune else left
    over = limit is not None and len(left) > limit
    if limit is not None and over:
        fewer = _limited(kind, left, limit, seed)
        dropped[BEYOND] += len(left) - len(fewer)
        left = _balanced(kind, fewer, seed, dropped, notes)
        left = _pruned(kind, left, seed, dropped, notes) if prune else left
    enough = limit is not None and over and len(left) >= limit - max(_SLACK, limit // 5)
    return Chosen(
        items=tuple(left),
        dropped=dropped,
        before=before,
        enough=enough,
        note=notes[-1] if notes else "",
        probes=probes,
    )


def _limited(kind: Kind, items: list[Item], limit: int, seed: int) -> list[Item]:
    """Return at most ``limit`` items whose classes are balanced, as near to the limit as halving intervals comes.

    A sample of a balanced set is not balanced, and balancing it leaves fewer: the sample must be larger than the limit.
    If nothing so small is balanced, the items are a plain sample.
    """
    order = list(range(len(items)))
    quick_generator(f"{seed}:limit:{kind.name}").shuffle(order)
    plain = [items[place] for place in sorted(order[:limit])]
    best = _selected(kind, plain, seed, Counter(), [])
    low, high = limit, len(items)
    while low + 1 < high and len(best) < limit:
        middle = (low + high) // 2
        some = _selected(kind, [items[place] for place in sorted(order[:middle])], seed, Counter(), [])
        if len(some) > limit:
            high = middle
        else:
            low, best = middle, max(best, some, key=len)
    return best or plain


def _balanced(kind: Kind, items: list[Item], seed: int, dropped: Counter[str], notes: list[str]) -> list[Item]:
    for _ in range(_ROUNDS):
        left, found = near_chance(items, kind.shape)
        if not found:
            return items
        dropped[FOUND] += found
        items = _selected(kind, left, seed, dropped, notes)
    return items


def _pruned(kind: Kind, items: list[Item], seed: int, dropped: Counter[str], notes: list[str]) -> list[Item]:
    for _ in range(_ROUNDS):
        left, found = pruned(items, kind.shape) if items else (items, 0)
        if not found:
            return items
        dropped[PRUNED] += found
        items = _selected(kind, left, seed, dropped, notes)
    return items


def _selected(kind: Kind, items: list[Item], seed: int, dropped: Counter[str], notes: list[str]) -> list[Item]:
    if kind.select is None or not items:
        return items
    chosen = kind.select(items, seed)
    dropped.update(chosen.dropped)
    notes.append(chosen.note)
    return list(chosen.items)
