"""Persons in scene graphs: who is one, their features, and which features exclude each other (BLA, 4.3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from vlgate.perturb.foils.candidates import Grammaticality, SentenceSet, TextEncoder
from vlgate.perturb.graphs.absence import has_others, is_mixed, is_motley
from vlgate.perturb.graphs.attributes import CLOSE
from vlgate.perturb.graphs.names import ODD, contradict, is_odd, known_form, may_be_called, object_determiner, parts_of
from vlgate.perturb.ontology import Ontology, default_ontology
from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.ontology.tables import both_numbers, rows_in
from vlgate.perturb.ontology.wordnet import installed_wordnet
from vlgate.perturb.scene_graph import SceneGraph, SceneObject, inside, overlap, share
from vlgate.perturb.text.fitness import first
from vlgate.perturb.text.grammar import regular_singular, singular
from vlgate.perturb.text.sentences import Verb, is_game, number_of, read_predicate
from vlgate.perturb.word_lists import is_body_part, words

# Which names in scene graphs are persons: what WordNet files under ``noun.person`` (BLA, section 4.3.1).

IsPerson = Callable[[str], bool]  # whether a name of an object is one of persons

_ROOTS = frozenset(("person", "people"))
# Persons to the ontology's questions in no certain sense; here they are, as all that photographs of people are named.
_GROUPS = frozenset(("male", "males", "female", "females"))

_LINKS = frozenset(("and", "in", "of", "on", "or", "with"))
_MALE = words("man")
_FEMALE = words("woman")
_CHILDREN = frozenset(("boy", "girl", "child", "kid", "toddler", "baby", "infant", "newborn"))
_ADULTS = words("adult")
_ROLES = frozenset(("batter", "catcher", "umpire", "pitcher", "referee", "goalie", "spectator"))


@cache
def may_be_one_person(one: str, other: str) -> bool:
    """Return whether a person of one name may be called the other: not a man and a woman, not a man and a child."""
    # A young man may be called a boy.
    mine, theirs = (singular(name) or regular_singular(name) or name for name in (one, other))
    one_head, other_head = mine.rpartition(" ")[2], theirs.rpartition(" ")[2]
    if {one_head, other_head} <= _ROLES:
        return one_head == other_head
    kinds = [(_MALE, _FEMALE)] if "young " in f"{mine} {theirs}" else [(_MALE, _FEMALE), (_CHILDREN, _ADULTS)]
    return not any((one_head in a and other_head in b) or (one_head in b and other_head in a) for a, b in kinds)


@cache
def known_person(name: str) -> bool:
    """Return whether a name is a kind of person in the ontology or in the table ``people.tsv``, in either number."""
    # A compound counts if its last word does and the ontology does not know the whole; "hands with girl" is none.
    ontology = default_ontology()
    if not _LINKS.isdisjoint(name.split()):
        return False
    one = singular(name) or regular_singular(name) or name
    if name in _GROUPS or {name, one} & _people():
        return True
    if ontology.knows(name):
        return not ontology.certain(name).isdisjoint(_ROOTS)
    first, _, head = name.rpartition(" ")
    return bool(first) and known_person(head)


def wordnet_person(lexicon: str = "oewn:2024") -> IsPerson:
    """Return a function that looks a name up in an installed wordnet: its first sense must be of ``noun.person``."""
    # "person" itself, which WordNet files under ``noun.Tops``, is one too. A compound that the wordnet lacks is looked
    # up by its last word.
    wordnet = installed_wordnet(lexicon, "wordnet_person", expand="")

    @cache
    def is_person(name: str) -> bool:
        if name in _ROOTS:
            return True
        found = wordnet.synsets(name, pos="n") or wordnet.synsets(singular(name) or name, pos="n")
        if not found and " " in name:
            return is_person(name.rpartition(" ")[2])
        return bool(found) and found[0].lexfile() == "noun.person"

    return is_person


@cache
def _people() -> frozenset[str]:
    return frozenset(row["name"] for row in rows_in(Path(__file__).with_name("people.tsv"), "name"))


# What is asked of a set of sentences as in BLA: the thresholds of the thesis, and what may judge likeness and grammar.
#
# Chen 2022, "The BLA Benchmark", section 4.3.


class WordVectors(Protocol):
    """Vectors of words, such as Word2Vec's."""

    def similarity(self, one: str, other: str) -> float | None:
        """Return the cosine of two words in lower case, or None if one of them has no vector."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BlaRules:
    """The thresholds of the thesis; shares are of the image's area."""

    actor_share: float = 0.01  # what both persons of an active-passive set cover at least
    person_share: float = 0.001  # what a person covers in the two other tasks
    feature_share: float = 0.0005  # what the thing covers that tells about it
    same_person: float = 0.85  # boxes that overlap so much may be one person
    most_features: int = 6  # of a person that are compared
    most_sets: int = 3  # of an image
    alike_words: float = 0.7  # two features of one person whose last words are more alike are one
    alike_features: float = 0.8  # features of two persons that are more alike tell nobody apart
    grammar: float = 0.7  # a set with a sentence below it is dropped
    sure: bool = True  # beyond the thesis: a sentence counts as false only if the graph shows it


SURE = BlaRules()  # the thesis's rules, and only sentences whose truth the graph shows

THESIS = BlaRules(sure=False)  # the thesis's rules as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class BlaTools:
    """What judges names and texts.

    Without vectors, a word and its synonyms and hypernyms are alike; without an encoder, equal texts are.
    """

    is_person: IsPerson = known_person
    ontology: Ontology = field(default_factory=default_ontology)
    encoder: TextEncoder | None = None
    vectors: WordVectors | None = None


TABLES_ONLY = BlaTools()  # no models: the shipped tables decide


def one_of(
    sets: Sequence[SentenceSet], grammaticality: Grammaticality | None = None, rules: BlaRules = SURE
) -> SentenceSet | None:
    """Return the one set of an image that is kept: the one whose sentences have the best mean score."""
    # Sets with a sentence below ``rules.grammar`` are dropped. Without a judge of grammaticality the first set is kept.
    if grammaticality is None or not sets:
        return sets[0] if sets else None
    texts = [text for one in sets for text in (*one.true, *one.false)]
    scores = grammaticality.acceptability(texts).reshape(len(sets), 4)
    kept = [number for number in range(len(sets)) if scores[number].min() >= rules.grammar]
    return sets[max(kept, key=lambda number: (scores[number].mean(), -number))] if kept else None


NO_VERB = "the relation has no verb in the active voice"
SHARED = "others may be in the same place"
UNLISTED = "the verb is not in the list of features"
BODY_PART = "the thing is a part of the body"
PERSON = "the thing is a person"
SMALL_THING = "the thing covers too little of the image"
NUMBER = "the number of a noun is not certain"

_HALVES = words("half of a pair")
_SEATS = words("seat")
_MOUNTS = _SEATS - {"saddle", "seat", "ski", "skis"}  # of which nobody is on two: a skier may sit on a chair
_UPON_ONE = frozenset(("be in", "be on", "ride", "ride on", "sit in", "sit on"))


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
        return self.thing.name.rpartition(" ")[2]


def features_of(
    person: SceneObject, graph: SceneGraph, size: tuple[float, float], rules: BlaRules, tools: BlaTools
) -> Iterator[Feature | str]:
    for verb, thing in _done(person, graph, sure=rules.sure, ontology=tools.ontology):
        if verb is None:
            yield NO_VERB
            continue
        owned, number = verbs_of("feature_verbs.tsv", "owner").get(verb.plain), number_of(thing.name)
        herd = number == "plural" and verb.plain in _UPON_ONE and singular(thing.name) in _MOUNTS
        why = first(
            (owned is None and rules.sure, UNLISTED),
            (is_body_part(thing.name), BODY_PART),
            (rules.sure and tools.is_person(thing.name), PERSON),
            (rules.sure and thing.name.rpartition(" ")[2] in _HALVES, NUMBER),
            (rules.sure and verb.rest in _SHARED and not _holds_one(thing.name, tools.ontology), SHARED),
            (share(thing.box, size) < rules.feature_share, SMALL_THING),
            (number is None or (rules.sure and herd and number_of(person.name) == "singular"), NUMBER),
            (rules.sure and is_odd(thing.name, tools.ontology), ODD),
        )
        if why or number is None:
            yield why
            continue
        attribute = "" if is_game(verb, thing.name) else _attribute(thing, rules, tools.ontology)
        said = f"{attribute} {thing.name}".lstrip()
        phrase = f"{object_determiner(verb.plain, said, thing.name) or ''} {said}".lstrip()
        yield Feature(verb=verb, thing=thing, attribute=attribute, phrase=phrase, owned=bool(owned))


_ON = frozenset(("in", "with", "has", "have", "has on"))  # behind a person, of garments
_UPON = frozenset(("on", "of", "worn on"))  # behind a garment, of a person
_WEAR, _HAVE = Verb(base="wear"), Verb(base="have")
_SHARED = frozenset(("at", "by", "in", "inside", "near", "next to", "on", "on top of", "under"))  # where others may be


def _done(
    person: SceneObject, graph: SceneGraph, *, sure: bool, ontology: Ontology
) -> Iterator[tuple[Verb | None, SceneObject]]:
    """Yield what a person wears, has, is on, or does something to, by the relations at either end.

    Annotators write "man in shirt" and "hat on man" of what is worn, which the thesis leaves out. The verb is None if
    a relation has none.
    """
    for relation in person.relations:
        thing = graph.objects.get(relation.object)
        if thing is not None and thing.id != person.id:
            name = relation.name.removesuffix(" a").removesuffix(" an")
            predicate = read_predicate(name)
            verb = None if predicate is None or predicate.passive else predicate.verb
            if sure and name in _ON and is_worn(thing.name):
                verb = _WEAR
            elif sure and name == "with":
                verb = _HAVE
            elif sure and name in {"in", "on"} and _holds_one(thing.name, ontology):
                verb = Verb(base="be", rest=name)
            yield verb, thing
    for thing in graph.objects.values() if sure else ():
        for relation in thing.relations if thing.id != person.id else ():
            predicate = read_predicate(relation.name) if relation.object == person.id else None
            if predicate is not None and predicate.passive:
                yield predicate.verb, thing
            elif relation.object == person.id and relation.name in _UPON and is_worn(thing.name):
                yield _WEAR, thing


def is_worn(name: str) -> bool:
    return slot_of(name) not in {None, "sewn"}


def _holds_one(name: str, ontology: Ontology) -> bool:
    """Whether somebody who is in or on a thing is there alone: a chair, and neither a bench nor a beach."""
    noun = known_form(name, ontology)
    return noun is not None and not ontology.certain(noun).isdisjoint(_SEATS)


def _attribute(thing: SceneObject, rules: BlaRules, ontology: Ontology) -> str:
    """The first attribute that may stand before the thing's name; the thesis puts any there."""
    words = set(thing.name.split())
    if rules.sure and any(word in ontology.attributes for word in thing.name.split()[:-1]):
        return ""  # "a red blue shirt" lacks an "and"
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
def verbs_of(table: str, flag: str) -> dict[str, bool]:
    rows = rows_in(Path(__file__).with_name(table), "verb", flag)
    return {row["verb"]: row.flag(flag) for row in rows}


# Whether a feature of one person is surely not one of another: what makes BLA's false sentences false.

_WORN = frozenset(("wear", "have", "have on"))
_EITHER = (frozenset(("trousers", "shorts")), frozenset(("trousers", "skirt")))
_TOUCHING = 0.02  # of a box: less than that is a matter of how boxes are drawn


def slot_of(name: str) -> str | None:
    """Return the part of the body that a garment is worn on, or None if the name is not one of garments."""
    return _slots().get(name.rpartition(" ")[2])


@cache
def _slots() -> dict[str, str]:
    rows = rows_in(Path(__file__).with_name("garments.tsv"), "place", "names")
    return {name: row["place"] for row in rows for name in row.names("names")}


def excluded(feature: Feature, person: SceneObject, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether the graph shows that a person does not have a feature, which is one of another person."""
    # A garment is excluded if the person wears another one in its place. Any other thing is excluded if nothing that
    # may be called so touches the person's box, or if it touches only the box of the one who has it, and if the person
    # is busy with something else: of two at the table, both may have a cup. A complete graph tells all.
    has = _has(feature, person, graph, ontology)
    if has or graph.complete:
        return not has
    if slot_of(feature.thing.name) is not None and (feature.verb.plain in _WORN):
        done = _done(person, graph, sure=True, ontology=ontology)
        return any(verb and verb.plain in _WORN and _in_its_place(worn, feature, ontology) for verb, worn in done)
    others = (
        thing
        for thing in graph.objects.values()
        if thing.id != person.id and may_be_called(thing.name, feature.thing.name, ontology)
    )
    return _is_busy(person, feature, graph, ontology) and not any(
        _touching(person, thing, of_another=feature.owned and thing.id == feature.thing.id) for thing in others
    )


def _is_busy(person: SceneObject, feature: Feature, graph: SceneGraph, ontology: Ontology) -> bool:
    """Whether a person does what goes with no thing of the feature's name: who rides a bike holds no ski poles."""
    asked, noun = _activities(feature.thing.name), known_form(feature.thing.name, ontology)
    acts = _done(person, graph, sure=True, ontology=ontology)
    done = [(verb, thing.name) for verb, thing in acts if verb is not None]
    upon = [name for verb, name in done if verb.plain in _UPON_ONE and name in _MOUNTS]
    held = [name for verb, name in done if verb.plain == "hold"] if feature.verb.plain == "hold" else []
    if feature.verb.plain in _UPON_ONE and feature.thing.name in _MOUNTS and upon:
        return not any(may_be_called(name, feature.thing.name, ontology) for name in upon)
    if any(not may_be_called(*two, ontology) for two in pairwise(held)):
        return True  # something else in each hand
    busy = [one for name in (person.name, *(name for _, name in done)) if (one := _activities(name))]
    sole = noun is not None and not has_others(noun, graph, ontology)
    return (bool(asked and busy) or sole) and all(asked.isdisjoint(one) for one in busy)


@cache
def _activities(name: str) -> frozenset[str]:
    rows = rows_in(Path(__file__).with_name("activities.tsv"), "activity", "names")
    return frozenset(row["activity"] for row in rows if name in both_numbers(row.names("names")))


def _has(feature: Feature, person: SceneObject, graph: SceneGraph, ontology: Ontology) -> bool:
    for verb, thing in _done(person, graph, sure=True, ontology=ontology):
        if thing.id == feature.thing.id:
            return True
        differs = verb is not None and verb.plain not in _WORN | {feature.verb.plain} and feature.verb.base != "be"
        alike = may_be_called(thing.name, feature.thing.name, ontology) and not differs
        if alike and not (feature.attribute and contradict(thing.attributes, [feature.attribute], ontology)):
            return True
    return False


def _in_its_place(worn: SceneObject, feature: Feature, ontology: Ontology) -> bool:
    slots = slot_of(worn.name), slot_of(feature.thing.name)
    mixed = any(is_mixed(worn.attributes, one, ontology) for one in worn.attributes if one in ontology.attributes)
    if slots[0] != slots[1] or slots[0] in {"several", "sewn"} or mixed or not feature.attribute:
        return frozenset(slots) in _EITHER
    form = known_form(worn.name, ontology)
    close = any(feature.attribute in CLOSE.get(one, ()) for one in worn.attributes)
    if form is None or close or is_motley(form, ontology):
        return False
    return contradict(worn.attributes, [feature.attribute], ontology)


def _touching(person: SceneObject, thing: SceneObject, *, of_another: bool) -> bool:
    if of_another:  # one may stand before another who holds it
        return inside(thing.box, person.box) > 0.5
    return (
        overlap(thing.box, person.box) > 0
        and max(inside(thing.box, person.box), inside(person.box, thing.box)) > _TOUCHING
    )
