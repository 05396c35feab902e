"""From candidates to a set: no case twice, balanced classes, a blind baseline near chance, at most so many cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vlgate.making.checks.blind import FOUND, Blind, blind, near_chance
from vlgate.making.checks.validity import repeated
from vlgate.making.kinds.kind import Item, Kind
from vlgate.seeds import quick_generator

BEYOND = "beyond --limit"
_ROUNDS = 5  # of balancing classes and dropping what is found blindly: each undoes a little of the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The items of a set, the others by reason, and the blind baseline before it decided anything.

    ``note`` says what is wrong with the balance of the items, if anything is.
    """

    items: tuple[Item, ...]
    dropped: Counter[str]
    before: Blind | None
    note: str = ""


def choose(kind: Kind, items: Sequence[Item], *, limit: int | None, seed: int) -> Chosen:
    """Choose the items of a set among the candidates of the inputs that were used.

    The blind baseline has the last word: it is measured again after each balancing of classes.
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
    left = _balanced(kind, left, seed, dropped, notes)
    if limit is not None and len(left) > limit:
        kept = sorted(quick_generator(f"{seed}:limit:{kind.name}").sample(range(len(left)), limit))
        dropped[BEYOND] += len(left) - limit
        left = _balanced(
            kind, _selected(kind, [left[place] for place in kept], seed, dropped, notes), seed, dropped, notes
        )
    return Chosen(items=tuple(left), dropped=dropped, before=before, note=notes[-1] if notes else "")


def _balanced(kind: Kind, items: list[Item], seed: int, dropped: Counter[str], notes: list[str]) -> list[Item]:
    for _ in range(_ROUNDS):
        left, found = near_chance(items, kind.shape)
        if not found:
            return items
        dropped[FOUND] += found
        items = _selected(kind, left, seed, dropped, notes)
    return items


def _selected(kind: Kind, items: list[Item], seed: int, dropped: Counter[str], notes: list[str]) -> list[Item]:
    if kind.select is None or not items:
        return items
    chosen = kind.select(items, seed)
    dropped.update(chosen.dropped)
    notes.append(chosen.note)
    return list(chosen.items)
