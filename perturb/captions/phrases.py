"""Noun phrases of a parsed text: their number, and the quantity that they begin with."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.perturb.inflection import plural, singular
from vlgate.perturb.parsing.parsed import Parsed

INDEFINITE = frozenset(("a", "an", "some", "another", "one"))
"""Words before a noun that only say that there is one, or some."""
_MANY = frozenset(("several", "many", "multiple", "numerous", "various", "couple", "few", "some", "different"))
_SMALL_NUMBERS = frozenset(
    ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "2", "3", "4", "5", "6")
)
_OF = frozenset(
    ("lot", "lots", "couple", "bunch", "number", "variety", "plenty", "dozen", "dozens", "handful", "assortment")
)
"""Nouns before "of" that are a quantity of what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indefinite:
    """An indefinite noun phrase: the positions of its noun and of the end of its quantity, and its number."""

    noun: int
    start: int
    end_of_quantity: int
    is_plural: bool


def is_plural(parsed: Parsed, position: int) -> bool | None:
    """Return whether a noun is plural; None if the tag and the dictionary disagree, or it may be either."""
    token = parsed.tokens[position]
    if token.tag not in {"NN", "NNS"} or token.pos == "PRON":
        return None
    word = token.lower
    if word in {"people", "men", "women", "children"}:
        return True
    one, many = singular(word), plural(word)
    if one == word or (one is not None and many is not None):
        return None if parsed.children(position, "det", "nummod") == () else token.tag == "NNS"
    told = token.tag == "NNS"
    if told:
        return True if one is not None or (many is None and word.endswith("s")) else None
    return False if one is None else None


def indefinite(parsed: Parsed, start: int, noun: int) -> Indefinite | None:
    """Read the phrase from ``start`` to ``noun`` as an indefinite one; None if it is definite or not understood.

    "A lot of" and "a couple of" are quantities: the noun is the one that follows them.
    """
    tokens = parsed.tokens
    first = tokens[start].lower
    if tokens[noun].lower in _OF and noun + 1 < len(tokens) and tokens[noun + 1].lower == "of":
        counted = parsed.children(noun + 1, "pobj")
        if len(counted) != 1 or not _plain(parsed, noun + 2, counted[0]) or first not in {"a", *_OF}:
            return None
        return _of_number(parsed, start, noun + 2, counted[0])
    if first == "a" and start + 1 < noun and tokens[start + 1].lower in {"few", "couple", "dozen"}:
        return _of_number(parsed, start, start + 2, noun)
    if first in INDEFINITE | _MANY | _SMALL_NUMBERS and first != "few":
        return _of_number(parsed, start, start + 1, noun) if _plain(parsed, start + 1, noun) else None
    return _of_number(parsed, start, start, noun) if _plain(parsed, start, noun) else None


def _plain(parsed: Parsed, start: int, noun: int) -> bool:
    """Whether only modifiers of the noun stand before it: no determiner, number, possessor or comparison."""
    fine = {"amod", "compound", "advmod", "nmod", "punct", "npadvmod", "cc", "conj"}
    tags = {"DT", "CD", "PRP$", "POS", "PDT", "WDT", "WP", "JJR", "JJS", "PRP", "NNP", "NNPS", "EX", "RBR", "RBS", "IN"}
    return start <= noun and all(
        token.dep in fine and token.tag not in tags and not (token.dep == "compound" and token.tag == "NNS")
        for token in parsed.tokens[start:noun]
    )


def _of_number(parsed: Parsed, start: int, end: int, noun: int) -> Indefinite | None:
    while (
        end > start
        and end < noun
        and parsed.tokens[end].lower in {"different", "various", "assorted", "other"}
        and not (
            parsed.tokens[end + 1].text.endswith("ed") or parsed.tokens[end + 1].lower in {"kinds", "types", "sorts"}
        )
    ):
        end += 1  # "several different dogs": "no different dogs" would say something else
    many = is_plural(parsed, noun)
    if many is None or noun < end:
        return None
    if not many and end > start + 1 and plural(parsed.tokens[noun].lower) is not None:
        return None  # "a lot of vegetable"
    first = parsed.tokens[start].lower if end > start else "some"
    of_one = first in INDEFINITE and first != "some"
    if first != "some" and of_one == many and parsed.tokens[start + 1].lower not in {"few", "dozen"} | _OF:
        return None  # "a dogs", "two dog"
    return Indefinite(noun=noun, start=start, end_of_quantity=end, is_plural=many)
