"""What the other captions of an image say about the things of a caption: which nouns they have, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vlgate.perturb.foils.agreement import is_person
from vlgate.perturb.foils.noun_phrases import number
from vlgate.perturb.foils.word_lists import words
from vlgate.perturb.inflection import singular
from vlgate.perturb.ontology.ontology import Ontology, default_ontology
from vlgate.perturb.parsing.parsed import Parsed

_GROUPS = words("group of people")
_ANIMALS = words("group of animals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """The nouns of a caption in the singular, by the number in which they stand; ``words`` are all its words.

    ``numbers`` are the counts that stand before a noun ("two dogs").
    """

    one: frozenset[str]
    several: frozenset[str]
    words: frozenset[str]
    numbers: Mapping[str, frozenset[int]]


def mentions(parsed: Parsed) -> Mentions:
    """Return the nouns that a caption mentions, with the two-word names that they end ("fire hydrant")."""
    one: set[str] = set()
    several: set[str] = set()
    numbers: dict[str, set[int]] = {}
    before = ""
    for token in parsed.tokens:
        if token.pos in {"NOUN", "PROPN"}:
            name = (singular(token.lower) if token.tag in {"NNS", "NNPS"} else None) or token.lower
            names = {name, f"{before} {name}"} if before else {name}
            (several if token.tag in {"NNS", "NNPS"} else one).update(names)
        if token.tag == "CD" and (count := number(token.lower)) is not None and token.dep == "nummod":
            head = parsed.tokens[token.head]
            numbers.setdefault(singular(head.lower) or head.lower, set()).add(count)
        before = token.lower
    return Mentions(
        one=frozenset(one),
        several=frozenset(several),
        words=frozenset(token.lower for token in parsed.tokens),
        numbers={name: frozenset(counts) for name, counts in numbers.items()},
    )


@lru_cache(maxsize=65_536)
def may_be_same(one: str, two: str) -> bool:
    """Whether two nouns in the singular may name the same thing, as far as the ontology knows."""
    ontology = default_ontology()
    if one == two:
        return True
    return (ontology.knows(one) and two in ontology.possible(one)) or (
        ontology.knows(two) and one in ontology.possible(two)
    )


@lru_cache(maxsize=65_536)
def is_kind_of(one: str, two: str) -> bool:
    """Whether one of two nouns in the singular is certainly the other, by a hypernym or a synonym."""
    ontology = default_ontology()
    return one == two or _certain(ontology, one, two) or _certain(ontology, two, one)


def _certain(ontology: Ontology, one: str, two: str) -> bool:
    return ontology.knows(one) and two in ontology.certain(one)


def say_several(noun: str, others: Iterable[Mentions]) -> bool:
    """Whether another caption speaks of several things that may be called ``noun``."""
    groups = _GROUPS if is_person(noun) else _ANIMALS if is_kind_of(noun, "animal") else frozenset[str]()
    for said in others:
        if any(may_be_same(noun, one) for one in said.several) or said.one & groups:
            return True
        if len({one for one in said.one if " " not in one and one != noun and _below(noun, one)}) > 1:
            return True
    return False


def _below(noun: str, one: str) -> bool:
    return _certain(default_ontology(), one, noun)


def say_one(noun: str, others: Iterable[Mentions]) -> int:
    """Return how many of the other captions speak of one thing that is certainly called ``noun`` too."""
    return sum(any(is_kind_of(noun, one) for one in other.one) for other in others)


def say_count(noun: str, others: Sequence[Mentions]) -> frozenset[int]:
    """Return the counts that the other captions give for things that may be called ``noun``."""
    found: set[int] = set()
    for other in others:
        for one, counts in other.numbers.items():
            if may_be_same(noun, one):
                found |= counts
    return frozenset(found)
