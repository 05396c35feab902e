"""What gives the answer to a choice away: a word of the question with the stem of one of its choices."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from vlgate.perturb.questions.phrases import NounPhrase

_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_ENDINGS = ("", "s", "es", "e", "er", "ers", "ing", "ed", "en", "y")
_LONG = 4  # letters of a stem from which every word that begins with it counts


def tells(phrase: NounPhrase, choices: Iterable[str]) -> bool:
    """Whether a word of the phrase, or of what it is related to, has the stem of a choice.

    >>> tells(NounPhrase("skater", "singular"), ("skating", "skiing"))
    True
    >>> tells(NounPhrase("man", "singular", (), "on", NounPhrase("skis", "plural")), ("surfing", "skiing"))
    True
    >>> tells(NounPhrase("skirt", "singular"), ("skating", "skiing"))
    False
    """
    words = frozenset(phrase.plain.bare.split())
    return any(not words.isdisjoint(_alike(stem)) or _begins(stem, words) for stem in map(_stem, choices))


@cache  # as many as there are attributes
def _stem(choice: str) -> str:
    word = choice.rsplit(maxsplit=1)[-1]
    return _DOUBLED.sub(r"\1", word.removesuffix("ing")) if word.endswith("ing") else word


@cache
def _alike(stem: str) -> frozenset[str]:
    doubled = stem + stem[-1]
    return frozenset(root + ending for root in (stem, doubled) for ending in _ENDINGS)


def _begins(stem: str, words: Iterable[str]) -> bool:
    return len(stem) >= _LONG and any(word.startswith(stem) for word in words)
