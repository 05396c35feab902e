"""What the captions of one image say about the places of things, so that no foil says the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vlgate.perturb.foils.prepositions import prepositions
from vlgate.perturb.parsing.parsed import Parsed

AROUND = "around"
"""What ``said_of`` notes of a thing that surrounds another one."""
SEVERAL = "several"
"""What ``said_of`` notes of a thing that a caption has in the plural."""

Said = Mapping[str, frozenset[str]]
"""The prepositions that captions of an image say before a noun, by the noun's lemma."""


def said_of(captions: Iterable[Parsed]) -> Said:
    """Return what the captions of one image say about the places of things, so that no foil says the same."""
    found: dict[str, set[str]] = {}
    for text in captions:
        for one in prepositions(text):
            if one.thing is not None:
                found.setdefault(text.tokens[one.thing].lemma.lower(), set()).add(one.name)
        for token in text.tokens:
            if token.tag == "NNS":
                found.setdefault(token.lemma.lower(), set()).add(SEVERAL)
        for thing, name in (*((place, AROUND) for place in _around(text)), *_next_to(text)):
            found.setdefault(text.tokens[thing].lemma.lower(), set()).add(name)
    return {thing: frozenset(names) for thing, names in found.items()}


def _around(text: Parsed) -> Iterator[int]:
    """Yield the things that are around something: "a fence around it", "surrounded by a fence"."""
    for one in prepositions(text):
        if one.name == "around" and one.head is not None and text.tokens[one.head].pos == "NOUN":
            yield one.head
    for place, token in enumerate(text.tokens):
        by = text.tokens[token.head]
        if token.dep == "pobj" and by.lower == "by" and text.tokens[by.head].lower == "surrounded":
            yield place


def _next_to(text: Parsed) -> Iterator[tuple[int, str]]:
    """Yield the noun behind each "next to"; a parser may take "next to open luggage" for an infinitive."""
    tokens = text.tokens
    for place in range(len(tokens) - 1):
        if (tokens[place].lower, tokens[place + 1].lower) == ("next", "to"):
            nouns = [n for n in range(place + 2, len(tokens)) if tokens[n].pos == "NOUN"]
            yield from ((n, "next to") for n in nouns[:1])
