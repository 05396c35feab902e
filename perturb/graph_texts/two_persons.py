"""Sentences that tell two features of each of two persons, and false ones with a feature of the other person.

BLA, sections 4.3.2 (coordination) and 4.3.3 (relative clause).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, permutations, product

from vlgate.perturb.foils.candidate import Found, SentenceSet
from vlgate.perturb.graph_texts.active_passive import NO_SIZE, NUMBER, ONE_PERSON, may_be_one
from vlgate.perturb.graph_texts.active_passive import SMALL as SMALL_PERSON
from vlgate.perturb.graph_texts.exclusion import excluded, slot_of
from vlgate.perturb.graph_texts.features import Feature, features_of
from vlgate.perturb.graph_texts.geometry import image_size, share
from vlgate.perturb.graph_texts.names import same_kind
from vlgate.perturb.graph_texts.people import may_be_one_person
from vlgate.perturb.graph_texts.rules import SURE, TABLES_ONLY, BlaRules, BlaTools
from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.perturb.sentences import number_of

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


def coordination(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Found:
    """Make sets of sentences such as "the man wears a hat and holds a cup", at most ``rules.most_sets``.

    Returns: sets in BLA's order: what is true of both persons, and each with one feature of the other; with reasons for
    the persons, relations and pairs that give none.
    """
    return _found(graph, rules, tools, _coordinated)


def relative_clause(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Found:
    """Make sets of sentences such as "the man who wears a hat holds a cup", at most ``rules.most_sets``.

    Returns: as ``coordination`` does.
    """
    return _found(graph, rules, tools, _relative)


def _coordinated(told: Told, one: Feature, other: Feature) -> str:
    return f"the {told.person.name} {one.said(told.number)} and {other.said(told.number)}"


def _relative(told: Told, one: Feature, other: Feature) -> str:
    return f"the {told.person.name} who {one.said(told.number)} {other.said(told.number)}"


def _found(graph: SceneGraph, rules: BlaRules, tools: BlaTools, template: Template) -> Found:
    size = image_size(graph)
    if size is None:
        return Found(refused=(NO_SIZE,))
    refused: list[str] = []
    people = list(_people(graph, size, rules, tools, refused))
    if len(people) < 2:
        return Found(refused=(*refused, NO_PERSONS))
    facts = _Facts(graph=graph, tools=tools)
    sets = islice(_all_sets(people, rules, facts, template, refused), rules.most_sets)
    return Found(candidates=tuple(sets), refused=tuple(refused))


def _people(
    graph: SceneGraph, size: tuple[float, float], rules: BlaRules, tools: BlaTools, refused: list[str]
) -> Iterator[Told]:
    for person in graph.objects.values():
        if not person.relations or not tools.is_person(person.name):
            continue
        number = number_of(person.name)
        if number is None or share(person.box, size) < rules.person_share:
            refused.append(NUMBER if number is None else SMALL_PERSON)
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
