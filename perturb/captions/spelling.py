"""Slips of the pen: a word that the dictionary lacks and that is one letter away from a word which it has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from string import ascii_lowercase

from vlgate.perturb.dictionary import is_word
from vlgate.perturb.ontology.ontology import default_ontology

_SHORTEST = 5  # letters; most short strings are one letter away from a word
_RIGHT = frozenset(
    ("decker", "detector", "entrees", "goers", "parka", "rugby", "sippy", "terrier", "texting", "wheeler")
)
"""Words that the dictionary lacks, although there are others near to them."""


@lru_cache(maxsize=65_536)
def misspelt(word: str) -> bool:
    """Whether a word in lower case is likely a slip: not a word, but one letter or exchange away from one.

    Words that nothing is near to, as those of a special field, are taken as right.

    >>> [misspelt(word) for word in ("telivision", "staning", "television", "pneumothorax")]
    [True, True, False, False]
    """
    if len(word) < _SHORTEST or _known(word):
        return False
    return any(map(_known, _near(word)))


def _known(word: str) -> bool:
    return word in _RIGHT or is_word(word) or default_ontology().knows(word)


def _near(word: str) -> Iterator[str]:
    """Yield the strings that one letter fewer, more, another or exchanged makes of a word."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        yield from (f"{before}{letter}{after}" for letter in ascii_lowercase)
        if after:
            yield f"{before}{after[1:]}"
            yield from (f"{before}{letter}{after[1:]}" for letter in ascii_lowercase)
        if len(after) > 1:
            yield f"{before}{after[1]}{after[0]}{after[2:]}"
