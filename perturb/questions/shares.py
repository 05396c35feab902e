"""How often a question has which form: the shares of CARETS, the number of pairs, and which drafts are kept."""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TypeVar

from vlgate.perturb.question_tests import Distribution, Test
from vlgate.perturb.questions.chance import sideways
from vlgate.perturb.questions.drafts import Draft, Kind

BLACK_WHITE = frozenset(("black", "white"))
_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The distribution of what is asked."""

    three: float  # of choice questions, those with three choices
    one: float  # of phrases, those with one attribute
    two: float  # of phrases, those with two attributes
    # Relations of left and right, by the kind of question; as the graphs have them, if not listed
    sideways: Mapping[str, float] = field(default_factory=lambda: _NONE)
    # Of attribute and action choices; equally frequent if there are none
    categories: Mapping[str, float] = field(default_factory=lambda: _NONE)
    black_white: float | None = None  # of this pair among antonyms; None for as many as of every other pair
    # Of the number of times that the graphs have a relation or an antonym: 0 makes all equally frequent
    power: float = 0.0


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RELEASE = Shares(**_TABLE["release"])
"""Counted in the released questions of CARETS (Jimenez et al. 2022) that are not perturbed."""
UNIFORM = Shares(three=0.5, one=0.45, two=0.05)
"""Every relation, antonym, category and answer equally often, as far as the graphs have them."""

SHARES: Mapping[Distribution, Shares] = MappingProxyType({"release": RELEASE, "uniform": UNIFORM})
"""The distributions by name."""


MAKEUP: Mapping[Test, Mapping[Kind, int]] = MappingProxyType(_TABLE["makeup"])
"""The questions of each kind in each test (CARETS, section 4.2 and Table 6; the last two are not the paper's)."""


def makeup(test: Test, size: int | None = None) -> dict[Kind, int]:
    """Divide ``size`` questions among the kinds of a test in the paper's proportions, or return the paper's numbers.

    The largest remainders are rounded up, and every kind gets at least one question if there are enough.

    Returns: the number of each kind; they sum to ``size``.
    Raises: ValueError if ``size`` is below 1.

    >>> makeup("antonym-dir", 7)
    {'attribute': 4, 'attribute-related': 3}
    """
    whole = MAKEUP[test]
    if size is None:
        return dict(whole)
    if size < 1:
        raise ValueError(f"size={size!r}: expected at least 1 question, or None for the paper's own number")
    least = 1 if size >= len(whole) else 0
    total, free = sum(whole.values()), size - least * len(whole)
    exact = {kind: free * count / total for kind, count in whole.items()}
    shares = {kind: least + int(share) for kind, share in exact.items()}
    by_remainder = sorted(whole, key=lambda kind: int(exact[kind]) - exact[kind])  # stable: ties in the paper's order
    for kind in by_remainder[: size - sum(shares.values())]:
        shares[kind] += 1
    return shares


K = TypeVar("K")
_Cell = tuple[str, int]
SLACK = (0.6, 1.6, 3.0, float("inf"))
"""How many times too often a word may be right or wrong: less as long as there are candidates."""


def selected(chance: Random, pool: Sequence[Draft], number: int, shares: Shares) -> list[Draft]:
    """Return ``number`` of the candidates, or all if there are fewer, in their order."""
    # A candidate is kept with a probability inverse to the counts of its class, of its answer (CARETS, section 4.1) and
    # of its relation, left and right aside. The numbers of choices, and the categories if there are shares of them, are
    # kept in their shares as far as the candidates allow. Of candidates alike in that, those come first with which each
    # word is right as often as by chance among the questions that offer it, so that no word tells whether it is right.
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
                right, *wrong = draft.choices
                excess[draft.category, right] += 1 - 1 / len(draft.choices)
                for word in wrong:
                    excess[draft.category, word] -= 1 / len(draft.choices)
    # What no cell has room for comes last; of that, categories with a share before those without.
    others = sorted((at for at in places if at not in kept), key=lambda at: _cell(pool[at], free) not in free)
    first = [place for place in places if place in kept]
    return [pool[other] for other in sorted((first + others)[:number])]


def _wordings(pool: Sequence[Draft]) -> dict[str, float]:
    """How often each relation is asked about; those to the left or right as often as others are on average."""
    # So these keep the share that was drawn.
    counts = Counter(draft.x.relation for draft in pool)
    others = [count for text, count in counts.items() if not sideways(text)]
    mean = sum(others) / len(others) if others else 1.0
    return {text: mean if sideways(text) else float(count) for text, count in counts.items()}


def _balanced(draft: Draft, excess: Mapping[tuple[str, str], float], most: float) -> bool:
    """Whether with the draft no word that it offers is right, or wrong, more than ``most`` times too often."""
    right, *wrong = draft.choices
    kind = draft.category
    return excess[kind, right] < most and all(excess[kind, word] > -most for word in wrong)


def _free(pool: Sequence[Draft], number: int, shares: Shares) -> dict[_Cell, int]:
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
    """Divide a number in shares that sum to 1; the largest remainders are rounded up."""
    whole = {key: int(number * share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: whole[key] - number * shares[key])
    for key in by_remainder[: number - sum(whole.values())]:
        whole[key] += 1
    return whole
