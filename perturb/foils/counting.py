"""Counting: "There are exactly 4 wheels" against another number (VALSE, section 3.3 and appendix A.3).

The statements come from how-many questions; which number a foil takes depends on the whole set, so that a candidate is
made in two steps: ``countable`` for one question, and ``balanced``, ``adversarial`` or ``small`` for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from vlgate.perturb.foils.balance import assigned_within, capped, spread
from vlgate.perturb.foils.candidate import Foil
from vlgate.perturb.foils.how_many.statements import Statement, statement
from vlgate.perturb.parsing.parsed import Parsed

SMALL = (0, 1, 2, 3)
"""The numbers of small-numbers captions and foils, and of adversarial foils."""

CAP = 130
"""The most captions of one number, as in the release of counting-balanced: 121 to 131 for 0 to 5."""


_FEW = 25  # of 1,022 candidates a text-only classifier then ranks 46 in 100 right; 24 if each noun is balanced


def countable(question: Parsed, answer: str) -> Statement | str:
    """Turn a how-many question into a statement of an exact number.

    Returns: the statement, or a short reason why there is none.
    """
    made = statement(question, answer)
    if isinstance(made, str):
        return made
    if made.form == "objects":
        return "a number that may be meant one by one"
    return made


def counted(made: Statement, number: int) -> str | None:
    """Return the statement with an exact number, or None if it has no wording for one.

    A statement of zero is said with the numeral: "There are exactly 0 cups".
    """
    return made.said(f"exactly {number}", one=number == 1)


def balanced(statements: Sequence[Statement], *, seed: int, cap: int = CAP) -> Mapping[int, Foil]:
    """Make foils whose numbers have the same distribution as the captions', with at most ``cap`` captions of a number.

    So it is for each noun that is counted, too, as far as its numbers allow.

    Returns: candidates by the position of their statement.
    """
    kept = capped([one.number for one in statements], cap, seed=seed)
    return _exchanged(statements, kept, seed=seed, smallest=_FEW)


def small(statements: Sequence[Statement], *, seed: int, cap: int = 2 * CAP) -> Mapping[int, Foil]:
    """Make foils as ``balanced`` does, from captions of 0 to 3 with foils of 0 to 3."""
    low = [place for place, one in enumerate(statements) if one.number in SMALL]
    kept = [low[n] for n in capped([statements[place].number for place in low], cap, seed=seed)]
    return _exchanged(statements, kept, seed=seed, smallest=1)


def adversarial(statements: Sequence[Statement], *, seed: int, cap: int = 2 * CAP) -> Mapping[int, Foil]:
    """Make foils of 0 to 3, as many of each, for captions of 4 and more.

    A model that prefers frequent numbers prefers the foils. The larger number is always the caption's.
    """
    high = [place for place, one in enumerate(statements) if one.number > SMALL[-1]]
    kept = [high[n] for n in capped([statements[place].number for place in high], cap, seed=seed)]
    chosen = spread([_sayable(statements[place], SMALL) for place in kept], seed=seed)
    return {kept[n]: _foil(statements[kept[n]], number) for n, number in chosen.items()}


Selection = Callable[..., Mapping[int, Foil]]

INSTRUMENTS: Mapping[str, Selection] = MappingProxyType(
    {"counting-balanced": balanced, "counting-small": small, "counting-adversarial": adversarial}
)
"""The three instruments by the name of their kind."""


def _exchanged(statements: Sequence[Statement], kept: Sequence[int], *, seed: int, smallest: int) -> Mapping[int, Foil]:
    numbers = [statements[place].number for place in kept]
    present = sorted(set(numbers))
    options = [_sayable(statements[place], present) for place in kept]
    nouns = [statements[place].noun for place in kept]
    chosen = assigned_within(numbers, options, nouns, seed=seed, smallest=smallest)
    return {kept[n]: _foil(statements[kept[n]], number) for n, number in chosen.items()}


def _sayable(made: Statement, numbers: Sequence[int]) -> list[int]:
    return [number for number in numbers if number != made.number and (number != 1 or made.one is not None)]


def _foil(made: Statement, number: int) -> Foil:
    caption, foil = counted(made, made.number), counted(made, number)
    if caption is None or foil is None:
        raise ValueError(f"number={number!r} has no wording in {made.many!r}")
    why = f"The answer is {made.number}, and the foil says {number}."
    return Foil(caption=caption, foil=foil, classes=(str(made.number), str(number)), why=why)
