"""What the other captions of an image say about the things of a caption: which nouns they have, and how many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vlgate.perturb.foils.captions.agreement import is_person
from vlgate.perturb.foils.captions.noun_phrases import number
from vlgate.perturb.ontology.ontology import Ontology, default_ontology
from vlgate.perturb.text.grammar import singular
from vlgate.perturb.text.parsed import Parsed, Token
from vlgate.perturb.word_lists import words

_GROUPS = words("group of people")
_MANY = words("many")
_TWO = frozenset({"pair", "couple", "both", "two"})
_MANY_OR_TWO = _MANY | _TWO
_COUNTS = frozenset({"nummod", "amod", "compound"})
_PLURAL = frozenset({"NNS", "NNPS"})
_ANIMALS = words("group of animals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """The nouns that a caption mentions, all written in the singular."""

    one: frozenset[str]  # those in the singular
    several: frozenset[str]  # those in the plural
    numbers: frozenset[tuple[str, int]]  # with the counts before them ("two dogs")
    many: frozenset[str]  # "several" or "a group of" them
    pairs: frozenset[str]  # "a couple of" them


def mentions(parsed: Parsed) -> Mentions:
    """Return the nouns that a caption mentions, with the two-word names that they end ("fire hydrant")."""
    one: set[str] = set()
    several: set[str] = set()
    before = ""
    for token in parsed.tokens:
        if token.pos in {"NOUN", "PROPN"}:
            name = _name(token)
            names = {name, f"{before} {name}"} if before else {name}
            # "A table in the center and a table at the door" are several.
            (several if token.tag in _PLURAL or name in one else one).update(names)
        before = token.lower
    counted = [(token.dep, token.lower, noun) for token, noun in _counted(parsed)]
    counts = ((noun, number(word)) for dep, word, noun in counted if dep == "nummod")
    return Mentions(
        one=frozenset(one),
        several=frozenset(several),
        numbers=frozenset((noun, count) for noun, count in counts if count is not None),
        many=frozenset(noun for _, word, noun in counted if word in _MANY),
        pairs=frozenset(noun for _, word, noun in counted if word in _TWO),
    )


def _counted(parsed: Parsed) -> Iterator[tuple[Token, str]]:
    for token in parsed.tokens:
        if token.dep in _COUNTS:
            head = parsed.tokens[token.head]
            if head.pos == "NOUN":
                yield token, _name(head)
        elif token.dep == "pobj":
            head = parsed.tokens[token.head]
            above = parsed.tokens[head.head]
            if head.lower == "of" and above.lower in _MANY_OR_TWO:
                yield above, _name(token)


def _name(token: Token) -> str:
    return (singular(token.lower) if token.tag in _PLURAL else None) or token.lower


@lru_cache(maxsize=65_536)
def may_be_same(one: str, two: str) -> bool:
    ontology = default_ontology()
    return one == two or any(
        ontology.knows(name) and other in ontology.possible(name) for name, other in ((one, two), (two, one))
    )


@lru_cache(maxsize=65_536)
def is_kind_of(one: str, two: str) -> bool:
    ontology = default_ontology()
    return one == two or _certain(ontology, one, two) or _certain(ontology, two, one)


def _certain(ontology: Ontology, one: str, two: str) -> bool:
    return ontology.knows(one) and two in ontology.certain(one)


def say_several(noun: str, others: Iterable[Mentions], *, sure: bool = False) -> bool:
    """Whether another caption speaks of several things that may be, or if ``sure`` certainly are, a ``noun``."""
    same, ontology = is_kind_of if sure else may_be_same, default_ontology()
    groups = _GROUPS if is_person(noun) else _ANIMALS if is_kind_of(noun, "animal") else frozenset[str]()
    for other in others:
        if other.one & groups or any(same(noun, one) for one in other.several):
            return True
        if len({one for one in other.one if " " not in one and one != noun and _certain(ontology, one, noun)}) > 1:
            return True
    return False


def say_one(noun: str, others: Iterable[Mentions]) -> int:
    return sum(any(is_kind_of(noun, one) for one in other.one) for other in others)


def say_count(noun: str, others: Sequence[Mentions], *, sure: bool = False) -> frozenset[int]:
    same = is_kind_of if sure else may_be_same
    return frozenset(count for other in others for one, count in other.numbers if same(noun, one))


def say_many(noun: str, others: Iterable[Mentions]) -> bool:
    return any(may_be_same(noun, one) for other in others for one in other.many)


def say_two(noun: str, others: Iterable[Mentions], *, sure: bool = False) -> bool:
    # If ``sure``, they certainly are two: "two teams" may be many, and a pair of boys beside a boy are not surely two.
    if not sure:
        return any(may_be_same(noun, pair) for other in others for pair in other.pairs)
    pairs = ((one, other) for other in others for one in other.pairs - other.one - words("group"))
    return any(is_kind_of(noun, one) and not any(is_kind_of(noun, more) for more in other.one) for one, other in pairs)
