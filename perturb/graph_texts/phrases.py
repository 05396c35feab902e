"""Phrases of a scene graph's things and relations: "a cup on a table", "a plane in the sky"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from vlgate.perturb.grammar import article
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.scene_graph import Relation, SceneGraph, SceneObject
from vlgate.perturb.sentences import number_of, read_predicate

_THE = frozenset(
    ("air", "background", "beach", "floor", "foreground", "ground", "horizon", "moon", "ocean", "sea", "sky", "sun")
)
"""Things that an image has once: "the sky"."""

_VAGUE = frozenset(
    (
        *(
            "area",
            "back",
            "background",
            "bottom",
            "china",
            "color",
            "colors",
            "distance",
            "end",
            "foreground",
            "front",
            "image",
        ),
        *("left", "middle", "outline", "photo", "picture", "rear", "right", "scene", "top of", "view"),
    ),
)
_PARTS = frozenset(("area", "part", "parts", "portion", "section", "side"))
"""What names no thing behind any word: "an inner part"."""

NO_NUMBER = "the number of a noun is not certain"
NO_READING = "the relation does not read between two nouns"
VAGUE = "a noun is vague"
ONE_THING = "the relation is one of a thing to itself or to its like"


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
    """Return the phrase of a relation, or why it has none."""
    other, text = graph.objects.get(relation.object), wording(relation.name, ontology)
    if not text:
        return NO_READING
    if other is None or other.id == subject.id or other.name == subject.name:
        return ONE_THING
    if any(is_vague(one.name, ontology) for one in (subject, other)):
        return VAGUE
    determiners = determiner(subject.name), determiner(other.name)
    if determiners[0] is None or determiners[1] is None:
        return NO_NUMBER
    return Triple(subject=subject, text=text, object=other, determiners=(determiners[0], determiners[1]))


def is_vague(name: str, ontology: Ontology) -> bool:
    """Return whether no question is asked about a noun ("part"), or it is a place in the image ("right")."""
    return (
        name in _VAGUE
        or name.rpartition(" ")[2] in _PARTS
        or (ontology.knows(name) and not ontology.nouns[name].askable)
    )


def wording(relation: str, ontology: Ontology) -> str:
    """Return how a relation reads behind a noun, or "" if it does not: a verb that the ontology lacks as a participle.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [wording(name, default_ontology()) for name in ("wears", "next to", "juggling", "of")]
    ['wearing', 'next to', 'juggling', '']
    """
    reading = ontology.relations.get(relation)
    if reading is not None:
        return reading.text
    predicate = read_predicate(relation) if relation.split(" ", 1)[0].endswith("ing") else None
    return "" if predicate is None else predicate.verb.participle


@cache
def determiner(phrase: str, noun: str = "") -> str | None:
    """Return the word before a phrase whose noun is ``noun`` or the phrase itself, or None if that is not certain.

    >>> [determiner(name) for name in ("cup", "apple", "cups", "sky", "gribbleflax")]
    ['a', 'an', '', 'the', None]
    """
    name = noun or phrase
    if name in _THE:
        return "the"
    number = number_of(name)
    if number is None:
        return None
    return article(phrase) if number == "singular" else ""
