"""Names and phrases of a scene graph's things: what may be called what, "a cup on a table"."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from vlgate.perturb.kept import kept
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.scene_graph import Relation, SceneGraph, SceneObject
from vlgate.perturb.text.grammar import article, is_word, singular
from vlgate.perturb.text.sentences import number_of, object_of, read_predicate
from vlgate.perturb.word_lists import words


def may_be_called(named: str, name: str, ontology: Ontology) -> bool:
    """Return whether a thing that is annotated ``named`` may be called ``name`` by somebody else."""
    # A name that the ontology does not know counts by its last word; if that is unknown too, by the words they share.
    if named == name:
        return True
    one, other = known_form(named, ontology), known_form(name, ontology)
    if one is None or other is None:
        return not set(named.replace("-", " ").split()).isdisjoint(name.replace("-", " ").split())
    return other in ontology.possible(one)


class Namesakes:
    """The things of a graph that may be called by a name; each name is compared once."""

    def __init__(self, graph: SceneGraph, ontology: Ontology) -> None:
        self._ontology = ontology
        self._things: dict[str, list[SceneObject]] = {}
        for thing in graph.objects.values():
            self._things.setdefault(thing.name, []).append(thing)
        self._kept: dict[Any, Any] = {}

    @kept
    def of(self, name: str) -> tuple[SceneObject, ...]:
        """Return the things that may be called so, those of one name together."""
        alike = (things for named, things in self._things.items() if may_be_called(named, name, self._ontology))
        return tuple(thing for things in alike for thing in things)


def same_kind(one: str, other: str, ontology: Ontology) -> bool:
    """Return whether one name says what the other does: they are equal, synonyms, or one is above the other."""
    a, b = known_form(one, ontology), known_form(other, ontology)
    return one == other or (a is not None and b is not None and (a in ontology.certain(b) or b in ontology.certain(a)))


def known_form(name: str, ontology: Ontology) -> str | None:
    if ontology.knows(name):
        return name
    head = name.rpartition(" ")[2]
    return head if ontology.knows(head) else None


def contradict(some: Iterable[str], others: Iterable[str], ontology: Ontology) -> bool:
    """Return whether a thing with the first attributes cannot have one of the others."""
    # Attributes of several colors ("red and black") count by their parts: none of a color's parts may go together.
    mine = [parts_of(attribute) for attribute in some]
    theirs = [parts_of(attribute) for attribute in others]
    return any(
        any(all(ontology.exclusive(a, b) for a in one for b in other) for one in mine)
        and not any(set(one) & set(other) for one in mine for other in theirs)
        for other in theirs
    )


def parts_of(attribute: str) -> tuple[str, ...]:
    """Return the attributes that "and" joins: ("red", "black") of "red and black"."""
    return tuple(attribute.split(" and "))


# Phrases of a scene graph's things and relations: "a cup on a table", "a plane in the sky".

_THE = frozenset(
    ("air", "background", "beach", "floor", "foreground", "ground", "horizon", "moon", "ocean", "sea", "sky", "sun")
)
"""Things that an image has once: "the sky"."""

_VAGUE = words("vague thing") | {"top of"}
_PARTS = frozenset(("area", "part", "parts", "portion", "section", "side"))
"""What names no thing behind any word: "an inner part"."""

NO_NUMBER = "the number of a noun is not certain"
VAGUE = "a noun is vague"
ODD = "a name is misspelt, or no English noun"
_LONGEST = 60  # characters of a name
_NAME_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*'?")
_NO_PART = words("no part of a name")
_NOTHING = words("names nothing")
_NOUNS = words("noun beside the dictionary") | words("inner")
_INNER = words("inner")  # of a name, but neither its first word nor its last


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A relation of a graph with its wording, and the determiners of both nouns ("a", "an", "the" or "")."""

    subject: SceneObject
    text: str
    object: SceneObject
    determiners: tuple[str, str]

    def said(self, *, subject: str = "", text: str = "", object: str = "") -> str:  # noqa: A002
        """Return the phrase, with other words in some places: "a cup on a table"."""
        one, other = self.determiners
        return " ".join(
            f"{one} {subject or self.subject.name} {text or self.text} {other} {object or self.object.name}".split()
        )


def triple_of(subject: SceneObject, relation: Relation, graph: SceneGraph, ontology: Ontology) -> Triple | str:
    other, text = graph.objects.get(relation.object), wording(relation.name, ontology)
    if not text:
        return "the relation does not read between two nouns"
    if other is None or other.id == subject.id or other.name == subject.name:
        return "the relation is one of a thing to itself or to its like"
    if why := unsaid(subject.name, ontology) or unsaid(other.name, ontology):
        return why
    determiners = determiner(subject.name), object_determiner(text, other.name)
    if determiners[0] is None or determiners[1] is None:
        return NO_NUMBER
    return Triple(subject=subject, text=text, object=other, determiners=(determiners[0], determiners[1]))


def object_determiner(text: str, phrase: str, noun: str = "") -> str | None:
    """As ``determiner``, of an object behind a relation or a verb: "a" ball, but none of who plays ball."""
    predicate, word = read_predicate(text), determiner(phrase, noun)
    bare = word in {"a", "an"} and predicate is not None and object_of(predicate.verb, phrase, "singular") == phrase
    return "" if bare else word


def triples_of(graph: SceneGraph, ontology: Ontology) -> list[Triple | str]:
    return [
        triple_of(object_, relation, graph, ontology)
        for object_ in graph.objects.values()
        for relation in object_.relations
    ]


def unsaid(name: str, ontology: Ontology) -> str | None:
    """Return why a name is in no text: it is vague ("part"), a place in the image ("right"), or no English noun."""
    asked = not ontology.knows(name) or ontology.nouns[name].askable
    vague = name in _VAGUE or name.rpartition(" ")[2] in _PARTS or not asked
    return VAGUE if vague else ODD if is_odd(name, ontology) else None


def is_odd(name: str, ontology: Ontology) -> bool:
    """Return whether a name reads in no text: a word of it is misspelt or stands twice, or it has other signs."""
    if ontology.knows(name) or name in _NOTHING:
        return name in _NOTHING
    parts = name.split() or [""]
    twice = any((singular(one) or one) == (singular(other) or other) for one, other in pairwise(parts))
    cut = len(name) > _LONGEST or not _INNER.isdisjoint((parts[0], parts[-1]))
    return twice or cut or not all(_is_english(word, ontology) for word in parts)


def _is_english(word: str, ontology: Ontology) -> bool:
    if word in _NO_PART or len(word) == 1 or not _NAME_WORD.fullmatch(word):
        return False
    known = word in _NOUNS or ontology.knows(word) or word in ontology.attributes
    return known or all(is_word(part) for part in re.split("['-]", word) if len(part) > 1)


def wording(relation: str, ontology: Ontology) -> str:
    """How a relation reads behind a noun, or "" if it does not; a verb that the ontology lacks as a participle."""
    reading = ontology.relations.get(relation)
    if reading is not None:
        return reading.text
    predicate = read_predicate(relation) if relation.split(" ", 1)[0].endswith("ing") else None
    return "" if predicate is None else predicate.verb.participle


@cache
def determiner(phrase: str, noun: str = "") -> str | None:
    """Return the word before a phrase whose noun is ``noun`` or the phrase itself, or None if that is not certain."""
    name = noun or phrase
    if name in _THE:
        return "the"
    number = number_of(name)
    if number is None:
        return None
    return article(phrase) if number == "singular" else ""
