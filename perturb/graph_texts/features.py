"""What scene graphs tell about persons: "wears a white shirt", "sits on a bench" (BLA, section 4.3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vlgate.perturb.graph_texts.geometry import share
from vlgate.perturb.graph_texts.names import known_form, parts_of
from vlgate.perturb.graph_texts.rules import BlaRules, BlaTools
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.ontology.tables import rows_of
from vlgate.perturb.scene_graph import Relation, SceneGraph, SceneObject
from vlgate.perturb.sentences import Verb, bare_or_a, number_of, read_predicate

NO_VERB = "the relation has no verb in the active voice"
UNLISTED = "the verb is not in the list of features"
BODY_PART = "the thing is a part of the body"
PERSON = "the thing is a person"
SMALL_THING = "the thing covers too little of the image"
NUMBER = "the number of a noun is not certain"

_FILE = "feature_verbs.tsv"
_BODY_PARTS = frozenset(
    (
        *(
            "ankle",
            "arm",
            "back",
            "beard",
            "belly",
            "body",
            "breast",
            "buttock",
            "cheek",
            "chest",
            "chin",
            "ear",
            "elbow",
        ),
        *("eye", "eyebrow", "eyelash", "face", "feet", "finger", "fingernail", "fist", "foot", "forehead", "goatee"),
        *("hair", "haircut", "hand", "head", "heel", "hip", "knee", "leg", "lip", "mouth", "moustache", "mustache"),
        *("nail", "neck", "nose", "nostril", "palm", "shin", "shoulder", "sideburn", "skin", "smile", "stomach", "tan"),
        *("teeth", "thigh", "thumb", "toe", "toenail", "tongue", "tooth", "torso", "waist", "wrist", "ponytail"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A verb and the thing that a person does it to or with; ``attribute`` is the word of the thing that is said."""

    verb: Verb
    thing: SceneObject
    attribute: str
    phrase: str
    owned: bool

    def said(self, number: Number) -> str:
        """Return the feature behind a person of that number: "wears a white shirt"."""
        return f"{self.verb.present(number)} {self.phrase}"

    @property
    def head(self) -> str:
        """The last word of the thing's name."""
        return self.thing.name.rpartition(" ")[2]


def features_of(
    person: SceneObject, graph: SceneGraph, size: tuple[float, float], rules: BlaRules, tools: BlaTools
) -> Iterator[Feature | str]:
    """Yield the features of a person in the order of the graph, and a reason for each relation that gives none."""
    for relation in person.relations:
        thing = graph.objects.get(relation.object)
        if thing is None or thing.id == person.id:
            continue
        yield _feature(relation, thing, size, rules, tools)


def is_body_part(name: str) -> bool:
    """Return whether a name is one of a part of the body, in either number.

    >>> [is_body_part(name) for name in ("left hand", "legs", "teeth", "handbag")]
    [True, True, True, False]
    """
    head = name.rpartition(" ")[2]
    return head in _BODY_PARTS or (head.endswith("s") and head[:-1] in _BODY_PARTS)


def _feature(
    relation: Relation, thing: SceneObject, size: tuple[float, float], rules: BlaRules, tools: BlaTools
) -> Feature | str:
    predicate = read_predicate(relation.name)
    if predicate is None or predicate.passive:
        return NO_VERB
    owned = _verbs().get(predicate.verb.plain)
    if owned is None and rules.sure:
        return UNLISTED
    number = number_of(thing.name)
    reason = _unfit(thing, size, rules, tools)
    if reason is not None or number is None:
        return reason or NUMBER
    attribute = _attribute(thing, rules, tools.ontology)
    phrase = bare_or_a(f"{attribute} {thing.name}".lstrip(), number)
    return Feature(verb=predicate.verb, thing=thing, attribute=attribute, phrase=phrase, owned=bool(owned))


def _unfit(thing: SceneObject, size: tuple[float, float], rules: BlaRules, tools: BlaTools) -> str | None:
    if is_body_part(thing.name):
        return BODY_PART
    if rules.sure and tools.is_person(thing.name):
        return PERSON
    if share(thing.box, size) < rules.feature_share:
        return SMALL_THING
    return None


def _attribute(thing: SceneObject, rules: BlaRules, ontology: Ontology) -> str:
    """The first attribute that may stand before the thing's name; the thesis puts any there."""
    words = set(thing.name.split())
    for attribute in thing.attributes:
        if not rules.sure or (_before(attribute, thing.name, ontology) and words.isdisjoint(attribute.split())):
            return attribute
    return ""


def _before(attribute: str, name: str, ontology: Ontology) -> bool:
    known = [ontology.attributes.get(part) for part in parts_of(attribute)]
    noun = known_form(name, ontology)
    return all(one is not None and one.before for one in known) and (
        noun is None or all(ontology.suits(noun, part) is not False for part in parts_of(attribute))
    )


@cache
def _verbs() -> dict[str, bool]:
    text = Path(__file__).with_name(_FILE).read_text(encoding="utf-8")
    return {row["verb"]: row.flag("owner") for row in rows_of(_FILE, text, "verb", "owner")}
