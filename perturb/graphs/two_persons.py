"""BLA's three tasks: sentences about two persons, true, and false with the persons exchanged (section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, islice, permutations, product
from pathlib import Path

from vlgate.perturb.foils.candidates import Perturbed, SentenceSet
from vlgate.perturb.graphs.names import same_kind
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
)
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.ontology.tables import rows_in
from vlgate.perturb.scene_graph import SceneGraph, SceneObject, image_size, inside, overlap, share
from vlgate.perturb.text.sentences import Verb, active, number_of, passive, read_predicate

# Active and passive sentences about two persons, true and with the persons exchanged (BLA, section 4.3.1).

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
    found = list(_sets(graph, size, rules, tools))
    sets = {one.true: one for one in found if isinstance(one, SentenceSet)}
    return Perturbed(candidates=tuple(sets.values()), refused=tuple(one for one in found if isinstance(one, str)))


def _sets(
    graph: SceneGraph, size: tuple[float, float], rules: BlaRules, tools: BlaTools
) -> Iterator[SentenceSet | str]:
    for thing in graph.objects.values():
        for relation in thing.relations:
            other, predicate = graph.objects.get(relation.object), read_predicate(relation.name)
            if (
                other is None
                or other.id == thing.id
                or not (tools.is_person(thing.name) and tools.is_person(other.name))
            ):
                yield NOT_PERSONS
            elif predicate is None:
                yield NO_VERB
            else:
                agent, patient = (other, thing) if predicate.passive else (thing, other)
                reason = _refused(agent, patient, predicate.verb, size, rules) or _also(
                    agent, patient, predicate.verb, graph, rules, tools
                )
                yield reason or _set(agent, patient, predicate.verb, graph, rules, tools)


def _refused(
    agent: SceneObject, patient: SceneObject, verb: Verb, size: tuple[float, float], rules: BlaRules
) -> str | None:
    mutual = _verbs().get(verb.plain)
    if mutual is None:
        return INTRANSITIVE
    if mutual and rules.sure:
        return MUTUAL
    if min(share(agent.box, size), share(patient.box, size)) < rules.actor_share:
        return SMALL
    return NUMBER if number_of(agent.name) is None or number_of(patient.name) is None else None


def _also(
    agent: SceneObject, patient: SceneObject, verb: Verb, graph: SceneGraph, rules: BlaRules, tools: BlaTools
) -> str | None:
    if may_be_one(agent, patient, rules):
        return ONE_PERSON
    for thing in graph.objects.values():
        if not _may_be_person(thing, patient, tools):
            continue
        for relation in thing.relations:
            predicate, other = read_predicate(relation.name), graph.objects.get(relation.object)
            if predicate is None or other is None or predicate.verb.base != verb.base or predicate.passive:
                continue
            reversed_pair = thing.id == patient.id and other.id == agent.id
            if reversed_pair or (rules.sure and thing.id != agent.id and _may_be_person(other, agent, tools)):
                return BOTH_WAYS
    return None


def may_be_one(one: SceneObject, other: SceneObject, rules: BlaRules) -> bool:
    """Return whether two boxes may show one person: they overlap, or one of a fitting name lies within the other."""
    if overlap(one.box, other.box) >= rules.same_person:
        return True
    within = max(inside(one.box, other.box), inside(other.box, one.box)) >= rules.same_person
    return rules.sure and within and may_be_one_person(one.name, other.name)


def _may_be_person(thing: SceneObject, person: SceneObject, tools: BlaTools) -> bool:
    if thing.id == person.id:
        return True
    return tools.is_person(thing.name) and may_be_one_person(thing.name, person.name)


def _set(
    agent: SceneObject, patient: SceneObject, verb: Verb, graph: SceneGraph, rules: BlaRules, tools: BlaTools
) -> SentenceSet | str:
    a, b = _phrase(agent, patient, graph, rules, tools), _phrase(patient, agent, graph, rules, tools)
    of_agent, of_patient = number_of(agent.name), number_of(patient.name)
    if a is None or b is None or of_agent is None or of_patient is None:
        return ALIKE
    return SentenceSet(
        true=(active(a, verb, b, number=of_agent), passive(b, verb, a, number=of_patient)),
        false=(active(b, verb, a, number=of_patient), passive(a, verb, b, number=of_agent)),
        why=f"the graph says that {a} {verb.present(of_agent)} {b}; the false sentences exchange the two",
        tags={"verb": verb.plain},
    )


def _phrase(person: SceneObject, other: SceneObject, graph: SceneGraph, rules: BlaRules, tools: BlaTools) -> str | None:
    """The person with "the", and with an attribute that no other of the name has, if there is another."""
    rivals = [
        thing
        for thing in graph.objects.values()
        if thing.id != person.id and _rival(thing, person, other, rules, tools)
    ]
    if not rivals:
        return f"the {person.name}"
    taken = {attribute for rival in rivals for attribute in rival.attributes}
    for attribute in person.attributes:
        if attribute not in taken and (said := _described(person.name, attribute, rules, tools.ontology)):
            return f"the {said}"
    return None


def _rival(thing: SceneObject, person: SceneObject, other: SceneObject, rules: BlaRules, tools: BlaTools) -> bool:
    """Whether "the man" may mean this thing as well; the second person of the sentence has a word of its own."""
    if thing.id == other.id or not rules.sure:
        return thing.id == other.id and thing.name == person.name
    return tools.is_person(thing.name) and may_be_one_person(thing.name, person.name)


def _described(name: str, attribute: str, rules: BlaRules, ontology: Ontology) -> str | None:
    """One word stands before the name, several behind it (thesis, section 4.3.1), if that is English."""
    if " " not in attribute:
        known = ontology.attributes.get(attribute)
        fits = not rules.sure or (known is not None and known.before)
        return f"{attribute} {name}" if fits else None
    fits = not rules.sure or (attribute.split(maxsplit=1)[0].endswith("ing") and read_predicate(attribute) is not None)
    return f"{name} {attribute}" if fits else None


@cache
def _verbs() -> dict[str, bool]:
    rows = rows_in(Path(__file__).with_name("transitive.tsv"), "verb", "mutual")
    return {row["verb"]: row.flag("mutual") for row in rows}


# Sentences that tell two features of each of two persons, and false ones with a feature of the other person.
#
# BLA, sections 4.3.2 (coordination) and 4.3.3 (relative clause).

NO_PERSONS = "fewer than two persons with a relation"
FEW = "a person has fewer than two features"
NOT_UNIQUE = "fewer than two features are one person's only"
UNSURE = "no feature is surely not the other person's"

Template = Callable[["Told", Feature, Feature], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A person and the features that tell about it."""

    person: SceneObject
    number: Number
    features: tuple[Feature, ...]


def coordination(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Perturbed:
    """Make sets of sentences such as "the man wears a hat and holds a cup", at most ``rules.most_sets``."""
    return _found(graph, rules, tools, _coordinated)


def relative_clause(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Perturbed:
    """Make sets of sentences such as "the man who wears a hat holds a cup", at most ``rules.most_sets``."""
    return _found(graph, rules, tools, _relative)


def _coordinated(told: Told, one: Feature, other: Feature) -> str:
    return f"the {told.person.name} {one.said(told.number)} and {other.said(told.number)}"


def _relative(told: Told, one: Feature, other: Feature) -> str:
    return f"the {told.person.name} who {one.said(told.number)} {other.said(told.number)}"


def _found(graph: SceneGraph, rules: BlaRules, tools: BlaTools, template: Template) -> Perturbed:
    size = image_size(graph)
    if size is None:
        return Perturbed.of(NO_SIZE)
    refused: list[str] = []
    people = list(_people(graph, size, rules, tools, refused))
    if len(people) < 2:
        return Perturbed(refused=(*refused, NO_PERSONS))
    facts = _Facts(graph=graph, tools=tools)
    sets = islice(_all_sets(people, rules, facts, template, refused), rules.most_sets)
    return Perturbed(candidates=tuple(sets), refused=tuple(refused))


def _people(
    graph: SceneGraph, size: tuple[float, float], rules: BlaRules, tools: BlaTools, refused: list[str]
) -> Iterator[Told]:
    for person in graph.objects.values():
        if not person.relations or not tools.is_person(person.name):
            continue
        number = number_of(person.name)
        if number is None or share(person.box, size) < rules.person_share:
            refused.append(NUMBER if number is None else SMALL)
            continue
        found = list(features_of(person, graph, size, rules, tools))
        refused += [reason for reason in found if isinstance(reason, str)]
        features = _different([one for one in found if isinstance(one, Feature)], rules, tools)
        if len(features) < 2:
            refused.append(FEW)
        else:
            yield Told(person=person, number=number, features=tuple(features[: rules.most_features]))


def _different(features: Sequence[Feature], rules: BlaRules, tools: BlaTools) -> list[Feature]:
    """Drop the features that say the same as an earlier one of the person, by the last words of their things."""
    kept: list[Feature] = []
    for one in features:
        if not any(_same(one, other, rules, tools) for other in kept):
            kept.append(one)
    return kept


def _same(one: Feature, other: Feature, rules: BlaRules, tools: BlaTools) -> bool:
    if one.thing.id == other.thing.id or one.head == other.head:
        return True
    if tools.vectors is not None:
        likeness = tools.vectors.similarity(one.head, other.head)
        return likeness is not None and likeness > rules.alike_words
    return same_kind(one.thing.name, other.thing.name, tools.ontology)


def _all_sets(
    people: Sequence[Told], rules: BlaRules, facts: _Facts, template: Template, refused: list[str]
) -> Iterator[SentenceSet]:
    for first, second in combinations(people, 2):
        if may_be_one(first.person, second.person, rules):
            refused.append(ONE_PERSON)
            continue
        a, b = _unique(first, second, rules, facts.tools)
        if min(len(a.features), len(b.features)) < 2:
            refused.append(NOT_UNIQUE)
            continue
        sets = _sets_of_two(a, b, rules, facts, template)
        some = next(sets, None)
        if some is None:
            refused.append(UNSURE)
        else:
            yield some
            yield from sets


def _unique(first: Told, second: Told, rules: BlaRules, tools: BlaTools) -> tuple[Told, Told]:
    """Leave out what both persons have: features whose texts are equal, or more alike than the limit."""
    texts = [[one.said("singular") for one in told.features] for told in (first, second)]
    if tools.encoder is None:
        shared = {(i, j) for i, one in enumerate(texts[0]) for j, other in enumerate(texts[1]) if one == other}
    else:
        vectors = tools.encoder.encode([*texts[0], *texts[1]])
        cosines = vectors[: len(texts[0])] @ vectors[len(texts[0]) :].T
        shared = {(int(i), int(j)) for i, j in zip(*(cosines > rules.alike_features).nonzero(), strict=True)}
    lost = {i for i, _ in shared}, {j for _, j in shared}
    return _without(first, lost[0]), _without(second, lost[1])


def _without(told: Told, lost: set[int]) -> Told:
    kept = tuple(one for place, one in enumerate(told.features) if place not in lost)
    return Told(person=told.person, number=told.number, features=kept)


def _sets_of_two(a: Told, b: Told, rules: BlaRules, facts: _Facts, template: Template) -> Iterator[SentenceSet]:
    """All sets of two persons, those first that exchange features of one kind."""
    choices = list(product(permutations(a.features, 2), permutations(b.features, 2)))
    choices.sort(key=lambda choice: -_kindred(choice[0][1], choice[1][1]))
    for (kept, given), (stays, taken) in choices:
        if rules.sure and not (facts.false_of(a, kept, taken) and facts.false_of(b, given, stays)):
            continue
        told = (stays, taken) if b.features.index(stays) < b.features.index(taken) else (taken, stays)
        yield SentenceSet(
            true=(template(a, kept, given), template(b, *told)),
            false=(template(a, kept, taken), template(b, given, stays)),
            why=f"{given.said('singular')!r} and {taken.said('singular')!r} are exchanged between the two persons",
            tags={"persons": "same noun" if a.person.name == b.person.name else "different nouns"},
        )


def _kindred(one: Feature, other: Feature) -> int:
    slot = slot_of(one.thing.name)
    return (one.verb == other.verb) + 2 * (
        one.head == other.head or (slot is not None and slot == slot_of(other.thing.name))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What a graph shows about its persons; each question is answered once."""

    graph: SceneGraph
    tools: BlaTools
    known: dict[tuple[str, str, str, str], bool] = field(default_factory=dict)

    def false_of(self, told: Told, one: Feature, other: Feature) -> bool:
        """Whether no person that may be called so has both features."""
        return all(
            self._lacks(person, one) or self._lacks(person, other)
            for person in self.graph.objects.values()
            if self.tools.is_person(person.name)
            and (person.id == told.person.id or may_be_one_person(person.name, told.person.name))
        )

    def _lacks(self, person: SceneObject, feature: Feature) -> bool:
        key = (person.id, feature.verb.plain, feature.thing.id, feature.attribute)
        if key not in self.known:
            self.known[key] = excluded(feature, person, self.graph, self.tools.ontology)
        return self.known[key]
