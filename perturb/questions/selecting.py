"""Which candidates for choice questions are kept: in given shares, with answers as balanced as possible."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from vlgate.perturb.questions.drafts import Draft
from vlgate.perturb.questions.links import sideways
from vlgate.perturb.questions.shares import Shares

K = TypeVar("K")
_Cell = tuple[str, int]
SLACK = (0.6, 1.6, 3.0, float("inf"))
"""How many times too often a word may be right or wrong: less as long as there are candidates."""


def selected(chance: Random, pool: Sequence[Draft], number: int, shares: Shares) -> list[Draft]:
    """Return ``number`` of the candidates, or all if there are fewer, in their order.

    A candidate is kept with a probability inverse to the counts of its class, of its answer (CARETS, section 4.1) and
    of its relation, left and right aside.
    The numbers of choices, and the categories if there are shares of them, are kept in their shares as far as the
    candidates allow. Of candidates alike in that, those come first with which each word is right as often as by chance
    among the questions that offer it, so that no word tells whether it is right.
    """
    classes = Counter(draft.category for draft in pool)
    answers = Counter(draft.answer for draft in pool)
    # The n smallest exponential waiting times are a weighted sample without replacement (Efraimidis and Spirakis 2006).
    wordings = _wordings(pool)
    often = [classes[draft.category] * answers[draft.answer] * wordings[draft.x.relation] for draft in pool]
    waits = [chance.expovariate(1 / count) for count in often]
    places = sorted(range(len(pool)), key=waits.__getitem__)
    free, excess = _free(pool, number, shares), defaultdict[tuple[str, str], float](float)
    kept: set[int] = set()
    for most in SLACK:
        for place in places:
            draft = pool[place]
            if place not in kept and _balanced(draft, excess, most) and _take(free, _cell(draft, free)):
                kept.add(place)
                _count(draft, excess)
    # What no cell has room for comes last; of that, categories with a share before those without.
    others = sorted((at for at in places if at not in kept), key=lambda at: _cell(pool[at], free) not in free)
    first = [place for place in places if place in kept]
    return [pool[place] for place in sorted((first + others)[:number])]


def _wordings(pool: Sequence[Draft]) -> dict[str, float]:
    """How often each relation is asked about; those to the left or right as often as others are on average.

    So these keep the share that was drawn.
    """
    counts = Counter(draft.x.relation for draft in pool)
    others = [count for text, count in counts.items() if not sideways(text)]
    mean = sum(others) / len(others) if others else 1.0
    return {text: mean if sideways(text) else float(count) for text, count in counts.items()}


def _balanced(draft: Draft, excess: Mapping[tuple[str, str], float], most: float) -> bool:
    """Whether with the draft no word that it offers is right, or wrong, more than ``most`` times too often."""
    right, *wrong = draft.choices
    kind = draft.category
    return excess[kind, right] < most and all(excess[kind, word] > -most for word in wrong)


def _count(draft: Draft, excess: dict[tuple[str, str], float]) -> None:
    right, *wrong = draft.choices
    excess[draft.category, right] += 1 - 1 / len(draft.choices)
    for word in wrong:
        excess[draft.category, word] -= 1 / len(draft.choices)


def _free(pool: Sequence[Draft], number: int, shares: Shares) -> dict[_Cell, int]:
    """The number of questions to keep of each category and number of choices."""
    listed = {draft.category: shares.categories.get(draft.category, 0.0) for draft in pool}
    total = sum(listed.values())
    by_category = {name: share / total for name, share in listed.items() if share} if total else {"": 1.0}
    sizes = {3: shares.three, 2: 1 - shares.three}
    return divided(number, {(name, of): a * b for name, a in by_category.items() for of, b in sizes.items()})


def _cell(draft: Draft, free: Mapping[_Cell, int]) -> _Cell:
    of = len(draft.choices)
    return ("", of) if ("", of) in free else (draft.category, of)


def _take(free: dict[_Cell, int], cell: _Cell) -> bool:
    if free.get(cell, 0) == 0:
        return False
    free[cell] -= 1
    return True


def divided(number: int, shares: Mapping[K, float]) -> dict[K, int]:
    """Divide a number in shares that sum to 1; the largest remainders are rounded up.

    >>> divided(10, {"a": 0.26, "b": 0.74})
    {'a': 3, 'b': 7}
    """
    whole = {key: int(number * share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: whole[key] - number * shares[key])
    for key in by_remainder[: number - sum(whole.values())]:
        whole[key] += 1
    return whole
