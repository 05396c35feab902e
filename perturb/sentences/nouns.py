"""The grammatical number of a noun phrase, and its articles."""

from __future__ import annotations

import re
from functools import cache

from vlgate.perturb.grammar import with_article
from vlgate.perturb.inflection import plural, singular
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.ontology.nouns import Number

_BEHIND = re.compile(r" (?:at|behind|by|for|from|in|of|on|to|under|with) ")


@cache
def number_of(noun: str) -> Number | None:
    """Return the number of a noun or noun phrase without its article, or None if it is not certain.

    The ontology answers first, for the phrase and then for its last word, then the dictionary of plurals. What stands
    behind a preposition does not count.

    >>> [number_of(noun) for noun in ("cup", "red cups", "water", "slice of pizza", "sheep", "gribbleflax")]
    ['singular', 'plural', 'mass', 'singular', None, None]
    """
    head = _BEHIND.split(noun, maxsplit=1)[0]
    nouns = default_ontology().nouns
    for name in (noun, head, head.rpartition(" ")[2]):
        known = nouns.get(name)
        if known is not None and plural(name) != name:
            return known.number
    word = head.rpartition(" ")[2]
    several, one = plural(word), singular(word)
    if several is not None and one is None:
        return "singular"
    return "plural" if one is not None and several is None else None


def bare_or_a(phrase: str, number: Number) -> str:
    """Return a phrase with its indefinite article if it is singular, else as it is.

    >>> bare_or_a("old cup", "singular"), bare_or_a("jeans", "plural"), bare_or_a("water", "mass")
    ('an old cup', 'jeans', 'water')
    """
    return with_article(phrase) if number == "singular" else phrase
