"""BLA's three tasks: sentences about two persons, true, and false with the persons exchanged (section 4.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, compress, islice, permutations, product

import numpy as np

from vlgate.perturb.foils.candidates import Perturbed, SentenceSet
from vlgate.perturb.graphs.names import ODD, is_odd, same_kind
from vlgate.perturb.graphs.persons import (
    SURE,
    TABLES_ONLY,
    BlaRules,
    BlaTools,
    Feature,
    excluded,
    features_of,
    may_be_one_person,
    slot_of,
    verbs_of,
)
from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.scene_graph import SceneGraph, SceneObject, image_size, inside, overlap, share
from vlgate.perturb.text.fitness import first
from vlgate.perturb.text.sentences import Verb, active, number_of, passive, read_predicate

NO_SIZE = "the size of the image is not known"
NO_VERB = "the relation has no verb"
NOT_PERSONS = "not both are persons"
INTRANSITIVE = "the verb is not in the list of transitive verbs"
MUTUAL = "the verb often holds in both directions"
SMALL = "a person covers too little of the image"
ONE_PERSON = "the two boxes may show one person"
NUMBER = "the number of a noun is not certain"
BOTH_WAYS = "the verb holds in the other direction too"
ALIKE = "nothing tells two persons of one name apart"


def active_passive(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Perturbed:
    """Make a set of four sentences of each relation between two persons whose verb has a passive."""
    size = image_size(graph)
    if size is None:
        return Perturbed.of(NO_SIZE)
    outcomes = list(_Voices(graph=graph, size=size, rules=rules, tools=tools).sets())
    sets = {outcome.true: outcome for outcome in outcomes if isinstance(outcome, SentenceSet)}
    return Perturbed(
        candidates=tuple(sets.values()), refused=tuple(outcome for outcome in outcomes if isinstance(outcome, str))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """A graph with the size of its image, and what is asked of the sentences about it."""

    graph: SceneGraph
    size: tuple[float, float]
    rules: BlaRules
    tools: BlaTools

    def may_be_one(self, one: SceneObject, other: SceneObject) -> bool:
        """Whether two boxes may show one person: they overlap, or one of a fitting name lies within the other."""
        if overlap(one.box, other.box) >= self.rules.same_person:
            return True
        within = max(inside(one.box, other.box), inside(other.box, one.box)) >= self.rules.same_person
        return self.rules.sure and within and may_be_one_person(one.name, other.name)

    def is_odd(self, person: SceneObject) -> bool:
        return self.rules.sure and is_odd(person.name, self.tools.ontology)

    def may_be(self, thing: SceneObject, person: SceneObject) -> bool:
        if thing.id == person.id:
            return True
        return self.tools.is_person(thing.name) and may_be_one_person(thing.name, person.name)


class _Voices(_Image):
    """Active and passive sentences of each relation between two persons (BLA, section 4.3.1)."""

    def sets(self) -> Iterator[SentenceSet | str]:
        for thing in self.graph.objects.values():
            for relation in thing.relations:
                other, predicate = self.graph.objects.get(relation.object), read_predicate(relation.name)
                persons = other is not None and all(self.tools.is_person(one.name) for one in (thing, other))
                if other is None or other.id == thing.id or not persons:
                    yield NOT_PERSONS
                elif self.is_odd(thing) or self.is_odd(other):
                    yield ODD
                elif predicate is None:
                    yield NO_VERB
                else:
                    ends = (other, thing) if predicate.passive else (thing, other)
                    yield self._refused(*ends, predicate.verb) or self._set(*ends, predicate.verb)

    def _refused(self, agent: SceneObject, patient: SceneObject, verb: Verb) -> str:
        mutual = verbs_of("transitive.tsv", "mutual").get(verb.plain)
        shares = [share(one.box, self.size) for one in (agent, patient)]
        why = first(
            (mutual is None, INTRANSITIVE),
            (bool(mutual) and self.rules.sure and not self.graph.complete, MUTUAL),
            (min(shares) < self.rules.actor_share, SMALL),
            (number_of(agent.name) is None or number_of(patient.name) is None, NUMBER),
            (self.may_be_one(agent, patient), ONE_PERSON),
        )
        return why or (BOTH_WAYS if self._holds_both_ways(agent, patient, verb) else "")

    def _holds_both_ways(self, agent: SceneObject, patient: SceneObject, verb: Verb) -> bool:
        for thing in self.graph.objects.values():
            for relation in thing.relations if self.may_be(thing, patient) else ():
                predicate, other = read_predicate(relation.name), self.graph.objects.get(relation.object)
                if predicate is None or other is None or predicate.verb.base != verb.base or predicate.passive:
                    continue
                if thing.id == patient.id and other.id == agent.id:
                    return True
                if self.rules.sure and thing.id != agent.id and self.may_be(other, agent):
                    return True
        return False

    def _set(self, agent: SceneObject, patient: SceneObject, verb: Verb) -> SentenceSet | str:
        a, b = self._phrase(agent, patient), self._phrase(patient, agent)
        of_agent, of_patient = number_of(agent.name), number_of(patient.name)
        if a is None or b is None or of_agent is None or of_patient is None:
            return ALIKE
        return SentenceSet(
            true=(active(a, verb, b, number=of_agent), passive(b, verb, a, number=of_patient)),
            false=(active(b, verb, a, number=of_patient), passive(a, verb, b, number=of_agent)),
            why=f"the graph says that {a} {verb.present(of_agent)} {b}; the false sentences exchange the two",
            tags={"verb": verb.plain},
        )

    def _phrase(self, person: SceneObject, other: SceneObject) -> str | None:
        """The person with "the", and with an attribute that no other of the name has, if there is another."""
        things = [thing for thing in self.graph.objects.values() if thing.id not in {person.id, other.id}]
        # The second person of the sentence has a word of its own.
        rivals = [other] if other.name == person.name else []
        rivals += [thing for thing in things if self.rules.sure and self.may_be(thing, person)]
        if not rivals:
            return f"the {person.name}"
        taken = {attribute for rival in rivals for attribute in rival.attributes}
        for attribute in person.attributes:
            if attribute not in taken and (said := self._described(person.name, attribute)):
                return f"the {said}"
        return None

    def _described(self, name: str, attribute: str) -> str | None:
        """One word stands before the name, several behind it (thesis, section 4.3.1), if that is English."""
        if " " not in attribute:
            known = self.tools.ontology.attributes.get(attribute)
            fits = not self.rules.sure or (known is not None and known.before)
            return f"{attribute} {name}" if fits else None
        english = attribute.split(maxsplit=1)[0].endswith("ing") and read_predicate(attribute) is not None
        return f"{name} {attribute}" if english or not self.rules.sure else None


# Sentences that tell two features of each of two persons, and false ones with a feature of the other person.
#
# BLA, sections 4.3.2 (coordination) and 4.3.3 (relative clause).

FEW = "a person has fewer than two features"
NOT_UNIQUE = "fewer than two features are one person's only"
UNSURE = "no feature is surely not the other person's"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A person and the features that tell about it."""

    person: SceneObject
    number: Number
    features: tuple[Feature, ...]


def coordination(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Perturbed:
    """Make sets of sentences such as "the man wears a hat and holds a cup", at most ``rules.most_sets``."""
    return _told_apart(graph, rules, tools, "the {name} {one} and {other}")


def relative_clause(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Perturbed:
    """Make sets of sentences such as "the man who wears a hat holds a cup", at most ``rules.most_sets``."""
    return _told_apart(graph, rules, tools, "the {name} who {one} {other}")


def _told_apart(graph: SceneGraph, rules: BlaRules, tools: BlaTools, template: str) -> Perturbed:
    size = image_size(graph)
    if size is None:
        return Perturbed.of(NO_SIZE)
    image = _Features(graph=graph, size=size, rules=rules, tools=tools, template=template)
    people = list(image.people())
    if len(people) < 2:
        return Perturbed(refused=(*image.refused, "fewer than two persons with a relation"))
    sets = tuple(islice(image.sets(people), rules.most_sets))
    return Perturbed(candidates=sets, refused=tuple(image.refused))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Features(_Image):
    """The features of an image's persons; ``template`` says two of them, and ``refused`` notes what gives no set."""

    template: str
    refused: list[str] = field(default_factory=list)
    excluding: dict[tuple[str, str, str, str], bool] = field(default_factory=dict)

    def people(self) -> Iterator[Told]:
        for person in self.graph.objects.values():
            if not self.tools.is_person(person.name):
                continue
            number, odd = number_of(person.name), self.is_odd(person)
            if odd or number is None or share(person.box, self.size) < self.rules.person_share:
                self.refused.append(ODD if odd else NUMBER if number is None else SMALL)
                continue
            different: list[Feature] = []  # those that say the same as an earlier one of the person are dropped
            for feature in features_of(person, self.graph, self.size, self.rules, self.tools):
                if isinstance(feature, str):
                    self.refused.append(feature)
                elif not any(self._same(feature, other) for other in different):
                    different.append(feature)
            if len(different) < 2:
                self.refused.append(FEW)
            else:
                yield Told(person=person, number=number, features=tuple(different[: self.rules.most_features]))

    def _same(self, feature: Feature, other: Feature) -> bool:
        if feature.thing.id == other.thing.id or feature.head == other.head:
            return True
        if self.tools.vectors is not None:
            likeness = self.tools.vectors.similarity(feature.head, other.head)
            return likeness is not None and likeness > self.rules.alike_words
        return same_kind(feature.thing.name, other.thing.name, self.tools.ontology)

    def sets(self, people: Sequence[Told]) -> Iterator[SentenceSet]:
        for one, other in combinations(people, 2):
            if self.may_be_one(one.person, other.person):
                self.refused.append(ONE_PERSON)
                continue
            a, b = self._unique(one, other)
            if min(len(a.features), len(b.features)) < 2:
                self.refused.append(NOT_UNIQUE)
                continue
            sets = self._sets_of_two(a, b)
            some = next(sets, None)
            if some is None:
                self.refused.append(UNSURE)
            else:
                yield some
                yield from sets

    def _unique(self, one: Told, other: Told) -> Iterator[Told]:
        """Leave out what both persons have: features whose texts are equal, or more alike than the limit."""
        texts = [[feature.said("singular") for feature in told.features] for told in (one, other)]
        if self.tools.encoder is None:
            shared = np.array([[mine == theirs for theirs in texts[1]] for mine in texts[0]])
        else:
            vectors = self.tools.encoder.encode([*texts[0], *texts[1]])
            shared = vectors[: len(texts[0])] @ vectors[len(texts[0]) :].T > self.rules.alike_features
        for told, lost in ((one, shared.any(axis=1)), (other, shared.any(axis=0))):
            yield replace(told, features=tuple(compress(told.features, np.logical_not(lost).tolist())))

    def _sets_of_two(self, a: Told, b: Told) -> Iterator[SentenceSet]:
        choices = list(product(permutations(a.features, 2), permutations(b.features, 2)))
        choices.sort(key=lambda choice: -_kindred(choice[0][1], choice[1][1]))
        for (kept, given), (stays, taken) in choices:
            if self.rules.sure and not (self._false_of(a, kept, taken) and self._false_of(b, given, stays)):
                continue
            told = (stays, taken) if b.features.index(stays) < b.features.index(taken) else (taken, stays)
            yield SentenceSet(
                true=(self._text(a, kept, given), self._text(b, *told)),
                false=(self._text(a, kept, taken), self._text(b, given, stays)),
                why=f"{given.said('singular')!r} and {taken.said('singular')!r} are exchanged between the two persons",
                tags={"persons": "same noun" if a.person.name == b.person.name else "different nouns"},
            )

    def _text(self, told: Told, feature: Feature, other: Feature) -> str:
        return self.template.format(name=told.person.name, one=feature.said(told.number), other=other.said(told.number))

    def _false_of(self, told: Told, feature: Feature, other: Feature) -> bool:
        """Whether no person that may be called so has both features."""
        return all(
            self._lacks(person, feature) or self._lacks(person, other)
            for person in self.graph.objects.values()
            if self.tools.is_person(person.name) and self.may_be(person, told.person)
        )

    def _lacks(self, person: SceneObject, feature: Feature) -> bool:
        key = (person.id, feature.verb.plain, feature.thing.id, feature.attribute)
        if key not in self.excluding:
            self.excluding[key] = excluded(feature, person, self.graph, self.tools.ontology)
        return self.excluding[key]


def _kindred(feature: Feature, other: Feature) -> int:
    """How well two features can be exchanged: those of one verb, and those of one thing or one part of the body."""
    slot = slot_of(feature.thing.name)
    same = feature.head == other.head or (slot is not None and slot == slot_of(other.thing.name))
    return (feature.verb == other.verb) + 2 * same
