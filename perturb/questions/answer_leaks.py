"""What words tell: which give the answer to a choice away, and which relations tell a thing apart."""

import re
from collections.abc import Iterable
from functools import cache
from types import MappingProxyType

from vlgate.perturb.ontology import Ontology
from vlgate.perturb.questions.drafts import NounPhrase

_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_ENDINGS = ("", "s", "es", "e", "er", "ers", "ing", "ed", "en", "y")
_LONG = 4  # letters of a stem from which every word that begins with it counts
_BESIDE = frozenset(
    ("with", "near", "next", "beside", "by", "close", "to", "above", "below", "over", "under", "around")
)
_FASTENED = frozenset(("attached", "connected", "fastened", "tied"))
_WORN = frozenset(("on", "of", "worn", "around", "with", "covering", "attached", "in"))
_RESTING = frozenset(("on", "in", "at", "to", "from", "inside", "upon", "against", "of"))
_WITHIN = frozenset(("in", "inside", "within", "surrounded"))
_TINTED = frozenset(
    "colorful|multi colored|multi-colored|multicolored|rainbow colored|metallic|rusty|rusted|chrome|brass|copper|"
    "bronze|steel|stainless steel|stainless-steel|calico|tabby|snowy|snow covered|snow-covered|grassy|burnt|"
    "burned|toasted|browned|ripe|unripe".split("|")
)
_FEELING = frozenset(("smiling", "laughing", "staring", "posing", "playing", "waiting"))
_SUGGESTING = MappingProxyType(
    {"color": _TINTED, "mood": _FEELING, "pattern": _TINTED, "activity": _FEELING | {"happy"}}
)
"""Words that suggest a value of a category: nobody smiles and is sad."""
_LIVING = frozenset(("person", "people", "animal", "animals"))


def helps(ontology: Ontology, thing: str, relation: str, other: str) -> bool:
    """Whether a relation says something of a thing: "the girl with the hair" and "the street by the pig" do not."""
    # The thing must be able to do what it says, and its own parts and movable things do not tell where it is. Nor does
    # what it gives off, as "the train in front of the smoke". Nobody says of a mane that it is attached to the horse,
    # and of a tree that a fence covers it.
    names, first = ontology.named(thing), relation.partition(" ")[0]
    if thing == other or not ontology.expected.does(names, relation) or _literal(ontology, thing, relation, other):
        return False
    if _plain(ontology, thing, relation, other):
        return False
    if not ontology.expected.can_be(names, relation, ontology.named(other)):
        return False
    if not ontology.expected.locates(ontology.named(other), names):
        return first in {"under", "below", "beneath", "underneath"}
    if first == "with" and (_LIVING.isdisjoint(names) or "clothing" in ontology.certain(other)):
        return False
    return first not in _BESIDE or other not in ontology.own_parts(thing)


def apart(ontology: Ontology, thing: str, relation: str, other: str) -> bool:
    """Whether a relation tells which thing is meant: nearly every chair is on the floor."""
    first, last = relation.split(" ", maxsplit=1)[0], relation.rsplit(" ", 1)[-1]
    return (
        first in _BESIDE
        or last not in _RESTING
        or not ontology.expected.settled(ontology.named(thing), ontology.named(other))
    )


def _plain(ontology: Ontology, thing: str, relation: str, other: str) -> bool:
    """Whether a relation holds for nearly all such things, or names a part of somebody: "the shirt on the man"."""
    expected = ontology.expected
    aside = "left" in relation or "right" in relation
    if other in expected.body or (aside and (thing in expected.body or other in expected.scenes)):
        return True
    return (
        thing in expected.everyday | expected.body
        and relation.partition(" ")[0] in _WORN
        and not _LIVING.isdisjoint(ontology.named(other))
    )


def _literal(ontology: Ontology, thing: str, relation: str, other: str) -> bool:
    expected, first = ontology.expected, relation.partition(" ")[0]
    if first.startswith(other):  # "drinking the drink"
        return True
    if first in {"walking", "running"} and relation.endswith(" on"):  # "walking on the bicycle"
        return other not in expected.grounds
    if first in _FASTENED:
        return thing in expected.body
    if first in {"covered", "covering"}:
        return expected.covers.isdisjoint(ontology.named(other if first == "covered" else thing))
    within = first in _WITHIN and not relation.startswith("in front")
    return other in expected.fleeting and not within


def suggests(attributes: Iterable[str], category: str) -> bool:
    """Whether one of a thing's attributes leaves unclear which value of another category it has, or gives it away."""
    return not _SUGGESTING.get(category, frozenset()).isdisjoint(attributes)


def tells(phrase: NounPhrase, choices: Iterable[str]) -> bool:
    """Whether a word of the phrase, or of what it is related to, has the stem of a choice."""
    words = frozenset(phrase.plain.bare.split())
    return any(
        not words.isdisjoint(_alike(stem)) or (len(stem) >= _LONG and any(word.startswith(stem) for word in words))
        for stem in map(_stem, choices)
    )


@cache  # as many as there are attributes
def _stem(choice: str) -> str:
    word = choice.rsplit(maxsplit=1)[-1]
    return _DOUBLED.sub(r"\1", word.removesuffix("ing")) if word.endswith("ing") else word


@cache
def _alike(stem: str) -> frozenset[str]:
    doubled = stem + stem[-1]
    return frozenset(root + ending for root in (stem, doubled) for ending in _ENDINGS)
