"""What is known of images from their captions or graphs: facts, and statements that are made of one or two facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from vlgate.perturb.grammar import with_article
from vlgate.perturb.inflection import plural
from vlgate.perturb.ontology.attributes import ACTION
from vlgate.perturb.ontology.ontology import Ontology

NUMBERS = ("one", "two", "three", "four", "five", "six")
"""The numbers that can change places; a caption seldom counts further."""

_FACING = frozenset({"in front of", "standing in front of", "sitting in front of"})
_ANIMATE = frozenset({"person", "animal"})


class Has(NamedTuple):
    """A thing has an attribute ("red", "sitting"), or there are so many of it: ``value`` is then one of ``NUMBERS``."""

    noun: str
    value: str


class Relates(NamedTuple):
    """A thing is in a relation to another one: ("dog", "behind", "cat")."""

    subject: str
    relation: str
    object: str


Fact = Has | Relates
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text that is true of an image: a whole caption, or one that says ``facts`` and no more, whose ``text`` is "".

    ``key`` are its words, sorted. A caption has its words in order, too, and its nouns, sorted; all are lemmas.
    """

    image: str
    key: Words
    facts: tuple[Fact, ...]
    text: str = ""
    words: Words = ()
    nouns: Words = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What captions or a graph say of an image.

    ``several`` are the names of which there may be more than one thing, so that a fact about one of them tells nothing
    of the others. ``captions`` are statements for the whole captions.
    """

    image: str
    facts: frozenset[Fact]
    several: frozenset[str]
    captions: tuple[Statement, ...] = field(default=(), repr=False)


class Vocabulary:
    """What the ontology says of names and values, each looked up once."""

    def __init__(self, ontology: Ontology) -> None:
        """Look up in this ontology."""
        self.ontology = ontology
        self.exclusive = lru_cache(maxsize=None)(self._exclusive)
        self.alike = lru_cache(maxsize=None)(self._alike)
        self.possible = lru_cache(maxsize=None)(self._possible)
        self.same = lru_cache(maxsize=None)(self._same)
        self.mutual = lru_cache(maxsize=None)(self._mutual)
        self.attribute = lru_cache(maxsize=None)(self._attribute)
        self.one_way = lru_cache(maxsize=None)(self._one_way)

    def knows(self, noun: str) -> bool:
        """Return whether a noun can name a thing: it is in the ontology, and is not of the kind of "part"."""
        return self.ontology.knows(noun) and self.ontology.nouns[noun].askable

    def countable(self, noun: str) -> bool:
        """Return whether there is a plural of a noun to say a number of."""
        return plural(noun) is not None

    def _one_way(self, relation: str) -> bool:
        """Whether a relation is known to hold in one direction only, and can be said."""
        found = self.ontology.relations.get(relation)
        return found is not None and found.asymmetric and bool(found.text)

    def _attribute(self, value: str) -> bool:
        """Whether an attribute is known and may stand before a noun."""
        return value in self.ontology.attributes and self.ontology.attributes[value].before

    def action(self, value: str) -> bool:
        """Return whether an attribute is an action or a pose that can be said behind a noun: "a man sitting"."""
        found = self.ontology.attributes.get(value)
        if found is None or not found.category or found.after != value:
            return False
        return self.ontology.words.categories[found.category].kind == ACTION

    def category(self, value: str) -> str:
        """Return the category of an attribute, such as "color"."""
        return self.ontology.attributes[value].category

    def exchangeable(self, one: Has, other: Has) -> bool:
        """Return whether two values exclude each other, and belong to two things with different names."""
        return (
            one.noun != other.noun and self.exclusive(one.value, other.value) and not self.alike(one.noun, other.noun)
        )

    def said(self, facts: Iterable[Fact]) -> str:
        """Return the facts as a noun phrase: "a dog behind a cat", "a red cup and a blue plate"."""
        return " and ".join(self._said(fact) for fact in facts)

    def _said(self, fact: Fact) -> str:
        if isinstance(fact, Relates):
            text = self.ontology.relations[fact.relation].text
            return f"{self._named(fact.subject)} {text} {self._named(fact.object)}"
        if fact.value in NUMBERS:
            return f"{fact.value} {fact.noun if fact.value == 'one' else plural(fact.noun)}"
        if self.action(fact.value):
            return f"{self._named(fact.noun)} {fact.value}"
        return self._named(fact.noun, f"{fact.value} {fact.noun}")

    def _named(self, noun: str, phrase: str = "") -> str:
        return with_article(phrase or noun) if self.ontology.nouns[noun].number == "singular" else phrase or noun

    def _exclusive(self, one: str, other: str) -> bool:
        if one in NUMBERS or other in NUMBERS:
            return one != other and one in NUMBERS and other in NUMBERS
        return self.ontology.exclusive(one, other)

    def _same(self, one: str, other: str) -> bool:
        """Whether two names are synonyms."""
        return other in self.ontology.certain(one) and one in self.ontology.certain(other)

    def _mutual(self, relation: str, one: str, other: str) -> bool:
        """Whether two things may be in a relation to each other: two who face each other are each in front."""
        return relation in _FACING and all(_ANIMATE & {*self.ontology.certain(name)} for name in (one, other))

    def _alike(self, one: str, other: str) -> bool:
        """Whether all things with one of two names have the other name, too, or one contains the other."""
        within = f" {one} " in f" {other} " or f" {other} " in f" {one} "
        return within or other in self.ontology.certain(one) or one in self.ontology.certain(other)

    def _possible(self, one: str, other: str) -> bool:
        """Whether a thing with the second name, which may be unknown, may be called by the first one."""
        return one == other or (self.knows(other) and other in self.ontology.possible(one))


def certain(scene: Scene, vocabulary: Vocabulary) -> frozenset[Fact]:
    """Return the facts whose contrary cannot hold in the image as well.

    They are about things of which there are not several, or say a number. Values that another caption of the image
    contradicts are left out, and so are relations in which both things may be to each other.
    """
    values: dict[str, list[Has]] = {}
    for fact in scene.facts:
        if isinstance(fact, Has):
            values.setdefault(fact.noun, []).append(fact)
    names = {name: [x for other in values if vocabulary.same(name, other) for x in values[other]] for name in values}
    return frozenset(
        fact
        for fact in scene.facts
        if (
            _one_way(fact, scene, vocabulary)
            if isinstance(fact, Relates)
            else (fact.value in NUMBERS[1:] or fact.noun not in scene.several)
            and not any(vocabulary.exclusive(fact.value, other.value) for other in names[fact.noun])
        )
    )


def statements(scene: Scene, facts: Iterable[Fact], vocabulary: Vocabulary) -> Iterator[Statement]:
    """Yield what facts of a scene say: each relation, and each two values of two things that exclude each other.

    Two numbers must come from one caption, because who counts one kind of things only may leave others unsaid.
    """
    values = []
    for fact in facts:
        if isinstance(fact, Relates):
            yield _statement(scene.image, fact)
        else:
            values.append(fact)
    exclusive = vocabulary.exclusive
    for one, other in combinations(sorted(values), 2):
        if not exclusive(one.value, other.value) or not vocabulary.exchangeable(one, other):
            continue
        if one.value not in NUMBERS or _said_at_once(scene, one, other):
            yield _statement(scene.image, one, other)


def _said_at_once(scene: Scene, *facts: Fact) -> bool:
    return any(set(facts) <= set(caption.facts) for caption in scene.captions)


def _one_way(fact: Relates, scene: Scene, vocabulary: Vocabulary) -> bool:
    return (
        not {fact.subject, fact.object} & scene.several
        and not vocabulary.alike(fact.subject, fact.object)
        and not vocabulary.mutual(fact.relation, fact.subject, fact.object)
    )


def _statement(image: str, *facts: Fact) -> Statement:
    return Statement(image=image, key=tuple(sorted(word for fact in facts for word in fact)), facts=facts)
