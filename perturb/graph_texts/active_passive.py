"""Active and passive sentences about two persons, true and with the persons exchanged (BLA, section 4.3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from vlgate.perturb.foils.candidate import Found, SentenceSet
from vlgate.perturb.graph_texts.geometry import image_size, inside, overlap, share
from vlgate.perturb.graph_texts.people import may_be_one_person
from vlgate.perturb.graph_texts.rules import SURE, TABLES_ONLY, BlaRules, BlaTools
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.tables import rows_of
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.perturb.sentences import Verb, active, number_of, passive, read_predicate

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

_FILE = "transitive.tsv"


def active_passive(graph: SceneGraph, rules: BlaRules = SURE, tools: BlaTools = TABLES_ONLY) -> Found:
    """Make a set of four sentences of each relation between two persons whose verb has a passive.

    Returns: sets in BLA's order, true active and passive, false active and passive, with the tag ``verb``; and a reason
    for each relation that gives none.

    >>> from vlgate.perturb.scene_graph import Box, Relation
    >>> child = SceneObject(id="2", name="child", box=Box(x=0, y=0, w=50, h=90))
    >>> lifts = (Relation(name="lifting", object="2"),)
    >>> man = SceneObject(id="1", name="man", box=Box(x=40, y=0, w=50, h=90), relations=lifts)
    >>> graph = SceneGraph(id="1", objects={"1": man, "2": child}, width=100, height=100)
    >>> active_passive(graph).candidates[0].false
    ('the child lifts the man', 'the man is lifted by the child')
    """
    size = image_size(graph)
    if size is None:
        return Found(refused=(NO_SIZE,))
    found = list(_sets(graph, size, rules, tools))
    sets = {one.true: one for one in found if isinstance(one, SentenceSet)}
    return Found(candidates=tuple(sets.values()), refused=tuple(one for one in found if isinstance(one, str)))


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
    text = Path(__file__).with_name(_FILE).read_text(encoding="utf-8")
    return {row["verb"]: row.flag("mutual") for row in rows_of(_FILE, text, "verb", "mutual")}
