"""Existence: "There are no animals shown" against "There are animals shown" (VALSE, section 3.1 and appendix A.1).

Both come from a how-many question whose answer is a numeral. From zero the caption says "no"; from another number it
says that there are some, in the number of the answer: "There is a dog".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vlgate.perturb.foils.balance import even_within
from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.foils.how_many.noun_number import KINDS
from vlgate.perturb.foils.how_many.statements import Statement, statement
from vlgate.perturb.grammar import with_article
from vlgate.perturb.inflection import plural
from vlgate.perturb.parsing.parsed import Parsed

_WORDS = ("0", "more")


def existence(question: Parsed, answer: str, *, singular: bool = False) -> Found:
    """Make a caption and a foil about whether there are any, from a how-many question and its answer.

    With ``singular`` an answer of zero is said in the singular, "There is no dog", if there is a wording for it. In the
    release only the answer one has the singular, so that "There is a dog" is always true; in a set in which some zeros
    are singular, the number of the noun gives nothing away.

    The tag ``provenance`` says which way the foil goes, as in the release: "zero_to_something" or "something_to_zero".
    """
    made = statement(question, answer)
    if isinstance(made, str):
        return Found(refused=(made,))
    reason = _unfit(made, question)
    if reason:
        return Found(refused=(reason,))
    zero = made.number == 0
    one = made.number == 1 or (zero and singular and made.one is not None)
    nothing, something = made.said("no", one=one), _something(made, one=one)
    if nothing is None or something is None:
        return Found(refused=("no wording for one",))
    caption, foil = (nothing, something) if zero else (something, nothing)
    why = f"The answer is {made.number}: there are {'none' if zero else 'some'}, and the foil says the opposite."
    classes = _WORDS if zero else _WORDS[::-1]
    provenance = "zero_to_something" if zero else "something_to_zero"
    return Found(
        candidates=(Foil(caption=caption, foil=foil, classes=classes, why=why, tags={"provenance": provenance}),)
    )


def selected(candidates: Sequence[Foil], *, seed: int, limit: int | None = None) -> tuple[int, ...]:
    """Choose candidates of which half come from zero, and of which no noun is much more often there than not.

    Returns: the positions of the chosen candidates, in ascending order.
    """
    ways = [one.tags["provenance"] for one in candidates]
    nouns = [_first_noun(one) for one in candidates]
    return even_within(ways, nouns, ("zero_to_something", "something_to_zero"), seed=seed, limit=limit)


_QUANTIFIED = re.compile(r"(?:there (?:is|are) )?(?:no |an? )?(?P<word>[\w-]+)", re.IGNORECASE)


def _first_noun(made: Foil) -> str:
    """Return the first word behind the quantifier, in the plural if it has one: the noun, or an adjective of it."""
    found = _QUANTIFIED.match(min(made.caption, made.foil, key=len))
    word = found["word"].lower() if found else made.caption
    return plural(word) or word


def _something(made: Statement, *, one: bool) -> str | None:
    if not one:
        return made.said("")
    if made.one is None:
        return None
    before, behind = made.one
    return Statement(number=1, noun=made.noun, one=(before, with_article(behind)), many=made.many, form=made.form).said(
        "", one=True
    )


def _unfit(made: Statement, question: Parsed) -> str:
    """Return why a statement of a number has no counterpart about existence; empty if it has one."""
    words = {token.lower for token in question.tokens}
    noun = made.noun.lower().split()
    checks = (
        (made.form == "group", "a part of a group is counted"),
        (words & {"not", "no", "without"}, "negated"),
        (set(noun) & KINDS, "kinds are counted"),
        ("and" in noun, "two nouns are counted"),
        (noun[0] in {"different", "various", "several"}, "the noun says that there are several"),
        (made.form == "clause" and "been" not in words, "what can be is not what is there"),
    )
    return next((reason for found, reason in checks if found), "")
