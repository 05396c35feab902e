"""Captions in which the relation is replaced by one that excludes it (VL-CheckList, relations)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.graphs.absence import WHOLE, are_many, has_others, is_alone, is_place
from vlgate.perturb.graphs.checklist import OBJECT, Words, checked, foils_of
from vlgate.perturb.graphs.names import Namesakes, Triple, determiner, known_form, triples_of, wording
from vlgate.perturb.graphs.objects import UNUSUAL, box_tags, reads_well
from vlgate.perturb.graphs.persons import known_person
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.tables import rows_in
from vlgate.perturb.scene_graph import Box, SceneGraph, SceneObject, inside, overlap
from vlgate.perturb.text.grammar import singular
from vlgate.perturb.text.sentences import read_predicate
from vlgate.perturb.word_lists import is_body_part
from vlgate.perturb.word_lists import words as words_of
from vlgate.seeds import quick_generator

UNLISTED = "the relation has no listed replacement"
INANIMATE = "the subject is neither a person nor an animal"
PLACE = "a garment, a part of a body or a place, to which other relations do not apply"
OTHERS = "the image may have others of the name that the graph lacks"
BOXES = "the boxes do not show that the replacement is false"
MAY_HOLD = "another pair of the names may have the replacement"
ALIKE = "the relations are too alike"
UNSAID = "nobody says so of two such things"
SIDES = "a thing whose other side may be its front"
ABSURD = "no replacement reads well between the two things"

_PLACES = words_of("place")
_ABOVE, _BELOW = frozenset(("on", "above", "over", "on top of")), frozenset(("under", "below", "beneath"))
_TOUCH = frozenset(("on", "in", "inside", "on top of", "under", "beneath"))
_UNDER = frozenset(("under", "beneath"))
_POSTURES = frozenset(("sitting", "standing", "lying", "kneeling"))
_ASIDE = frozenset(("to the left of", "to the right of"))
_FREE = frozenset(("above", "under", "behind", "in front of", "to the left of", "to the right of"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A line of the table: replacements, what the boxes must show, and what the two things must be."""

    instead: tuple[str, ...]
    needs: str
    animate: bool
    garment: bool


def relation_foils(graph: SceneGraph, words: Words) -> Perturbed:
    """Make a foil of each relation whose replacement cannot hold of the two things, nor of others of their names."""
    sides = list(_sides(graph, words))
    triples = [*triples_of(graph, words.ontology), *sides]
    captions = [triple.said() for triple in triples if isinstance(triple, Triple)]
    namesakes = Namesakes(graph, words.ontology)
    found = [triple if isinstance(triple, str) else _made(graph, triple, words, namesakes) for triple in triples]
    told = len(found) - len(sides)  # of what no annotator says, no reason is counted
    return checked([*found[:told], *(foils for foils in found[told:] if not isinstance(foils, str))], captions)


def _sides(graph: SceneGraph, words: Words) -> Iterator[Triple]:
    """Yield on which side of a larger thing another one is, of two that the image has once and that nothing links."""
    single = [
        one
        for one in graph.objects.values()
        if determiner(one.name) in {"a", "an"}
        and not _comes_in_numbers(one, graph, words.ontology)
        and (graph.complete or one.name.rpartition(" ")[2] not in words_of("with others"))
    ]
    group = {one: one for one in graph.objects}  # of the things that relations link, over others too
    for one in graph.objects.values() if len(single) > 1 else ():
        for relation in one.relations:
            mine, theirs = group[one.id], group.get(relation.object, group[one.id])
            if mine != theirs:
                group = {name: theirs if first == mine else first for name, first in group.items()}
    for one, other in combinations(sorted(single, key=lambda one: words.slots.size(one.name) or 0), 2):
        level = min(one.box.y + one.box.h, other.box.y + other.box.h) > max(one.box.y, other.box.y)
        if one.name != other.name and level and group[one.id] != group[other.id]:
            determiners = determiner(one.name) or "", determiner(other.name) or ""
            for text in sorted(_ASIDE):
                if _shown(text, one.box, other.box):
                    yield Triple(subject=one, text=text, object=other, determiners=determiners)


def _made(graph: SceneGraph, triple: Triple, words: Words, namesakes: Namesakes) -> list[Foil] | str:
    swaps = _swaps().get(triple.text, ())
    spatial = read_predicate(triple.text) is None
    reason = _unfit(triple, spatial, graph, words) if swaps else UNLISTED
    if reason is not None:
        return reason
    possible = list(_possible(triple, swaps, words.ontology))
    if not possible:
        return BOXES if any(not swap.animate for swap in swaps) else INANIMATE
    if not reads_well(triple, words) or (spatial and not words.sole and _turned(triple, words)):
        return UNUSUAL
    possible = [one for one in possible if _said(one, triple, words)]
    alike = [one for one in possible if words.likeness.too_alike(triple.text, one)] if not spatial else []
    others = [one for one in possible if one not in alike and not _may_hold(one, triple, namesakes, words.ontology)]
    if not others:
        return ABSURD if not possible else ALIKE if len(alike) == len(possible) else MAY_HOLD
    random = quick_generator(f"{words.seed}:relation:{graph.id}:{triple.said()}")
    drawn = random.sample(others, min(words.most, len(others)))
    tags = {"kind": "spatial" if spatial else "action", **box_tags(triple.subject, graph)}
    foils = {one: triple.said(text=one) for one in drawn}
    said = triple.text
    return foils_of(triple.said(), said, foils, lambda one: f"what is {said!r} a thing cannot be {one!r} it", tags)


def _unfit(triple: Triple, spatial: bool, graph: SceneGraph, words: Words) -> str | None:
    subject, other = triple.subject.name, triple.object.name
    if _unsaid(triple, words):
        return UNSAID
    fronts = words_of("no front") | (words_of("building") if triple.text == "in front of" else frozenset())
    if triple.text in {"in front of", "behind"} and (singular(other) or other).rpartition(" ")[2] not in fronts:
        return SIDES
    if triple.text in _FREE and any(
        _comes_in_numbers(thing, graph, words.ontology) for thing in (triple.subject, triple.object)
    ):
        return OTHERS
    if not spatial:
        return UNUSUAL if is_body_part(other) else OTHERS if _others_do(triple, graph, words) else None
    worn = is_garment(subject, words.ontology) or is_garment(other, words.ontology)
    body = is_body_part(other) or is_body_part(subject) or subject in words.ontology.expected.body
    if worn or body or other.rpartition(" ")[2] in _PLACES:
        return PLACE
    form = known_form(subject, words.ontology)
    several = not triple.determiners[0] and not is_animate(subject, words.ontology)
    return OTHERS if several or (form is not None and are_many(form, words.ontology)) else None


def _unsaid(triple: Triple, words: Words) -> bool:
    """Whether nobody says so: "a table below wine", "a desk to the right of scissors", "a bird lying"."""
    subject, other = (known_form(one.name, words.ontology) for one in (triple.subject, triple.object))
    if subject is not None and triple.text.split()[0] in _POSTURES:
        return not words.ontology.certain(subject).isdisjoint(("bird", "birds"))
    if subject is None or other is None or triple.text not in _BELOW | _ASIDE:
        return False
    sizes = words.slots.size(subject), words.slots.size(other)
    larger = sizes[0] is not None and sizes[1] is not None and sizes[0] - sizes[1] > 1
    furniture = triple.text == "below" and not words.ontology.certain(other).isdisjoint(("furniture",))
    mass = words.ontology.nouns[other].number == "mass"
    return larger or furniture or mass or words.slots.reads(other, "on", subject)


def _others_do(triple: Triple, graph: SceneGraph, words: Words) -> bool:
    """Whether others of the name may do something else there: a graph of few things names some of those on a beach."""
    if words.sole or not is_animate(triple.subject.name, words.ontology):
        return False
    place = triple.text.endswith(" at") or _is_place(triple.object.name, words.ontology)
    return not triple.determiners[0] or (place and len(graph.objects) < WHOLE and not graph.complete)


def _is_place(name: str, ontology: Ontology) -> bool:
    form = known_form(name, ontology)
    return name.rpartition(" ")[2] in _PLACES or (form is not None and is_place(form, ontology))


def _comes_in_numbers(thing: SceneObject, graph: SceneGraph, ontology: Ontology) -> bool:
    """Whether the image may have another thing of a name on the other side: a second tree, car or fork."""
    form = known_form(thing.name, ontology)
    return form is not None and has_others(form, graph, ontology) and not is_alone(thing, graph, ontology)


def _said(text: str, triple: Triple, words: Words) -> bool:
    # What is above, below, behind or beside something needs no list: any two things can be so.
    if text in _FREE:
        return True
    subject, other = triple.subject.name, triple.object.name
    seen = words.sole and other in words.vocabulary.placed.get((OBJECT, text), ())
    return seen or words.slots.reads(subject, text, other)


def _turned(triple: Triple, words: Words) -> bool:
    """Whether people would say it the other way round: wine on a table, and no table below wine."""
    sizes = words.slots.size(triple.subject.name), words.slots.size(triple.object.name)
    return triple.text not in _TOUCH and sizes[0] is not None and sizes[1] is not None and sizes[0] > sizes[1]


def _possible(triple: Triple, swaps: tuple[Swap, ...], ontology: Ontology) -> Iterator[str]:
    for swap in swaps:
        fits = _shown(swap.needs, triple.subject.box, triple.object.box)
        if swap.garment and not is_garment(triple.object.name, ontology):
            continue
        if fits and (not swap.animate or is_animate(triple.subject.name, ontology)):
            yield from (
                one
                for one in swap.instead
                if len(one.split()) == len(triple.text.split()) and _against(one, triple.subject.box, triple.object.box)
            )


def _against(text: str, box: Box, other: Box) -> bool:
    """Whether the boxes speak against a relation above or below: what reads "under" may be annotated wrongly, too."""
    # Boxes beside each other do, and so does the centre of the first at the other height.
    if text not in _ABOVE | _BELOW or min(box.x + box.w, other.x + other.w) <= max(box.x, other.x):
        return True
    higher = box.y + box.h / 2 < other.y + other.h / 2
    return higher != (text in _ABOVE)


def _shown(needs: str, box: Box, other: Box) -> bool:
    if needs == "apart":
        return overlap(box, other) == 0
    if needs == "within":
        return inside(box, other) >= 0.9
    if needs in _ASIDE:
        left, right = (box, other) if needs == "to the left of" else (other, box)
        return left.x + left.w <= right.x
    if needs == "higher":
        return box.y + box.h / 2 < other.y + other.h / 2 and box.y + box.h < other.y + 0.9 * other.h
    return True


def _may_hold(text: str, triple: Triple, namesakes: Namesakes, ontology: Ontology) -> bool:
    return any(
        not (text in _TOUCH and _apart(one.box, other.box, text)) and not _rules_out(one, other, text, ontology)
        for one in namesakes.of(triple.subject.name)
        for other in namesakes.of(triple.object.name)
        if one.id != other.id and (one.id, other.id) != (triple.subject.id, triple.object.id)
    )


def _apart(box: Box, other: Box, text: str) -> bool:
    """Whether boxes that do not touch show that a relation does not hold; a car is under a plane high above it."""
    below = box.y >= other.y + other.h and box.x < other.x + other.w and other.x < box.x + box.w
    return overlap(box, other) == 0 and not (below and text in _UNDER)


def _rules_out(scene_object: SceneObject, other: SceneObject, text: str, ontology: Ontology) -> bool:
    for relation in scene_object.relations:
        swaps = _swaps().get(wording(relation.name, ontology), ())
        if relation.object == other.id and any(text in swap.instead for swap in swaps):
            return True
    return False


def is_animate(name: str, ontology: Ontology) -> bool:
    noun = known_form(name, ontology)
    return known_person(name) or (noun is not None and not ontology.certain(noun).isdisjoint(("animal", "animals")))


def is_garment(name: str, ontology: Ontology) -> bool:
    noun = known_form(name, ontology)
    return noun is not None and not ontology.certain(noun).isdisjoint(("clothing", "clothes", "footwear"))


@cache
def _swaps() -> dict[str, tuple[Swap, ...]]:
    found: dict[str, tuple[Swap, ...]] = {}
    file = Path(__file__).with_name("relation_swaps.tsv")
    for row in rows_in(file, "relation", "instead", "needs", "subject", "object"):
        swap = Swap(
            instead=row.names("instead"),
            needs=row["needs"],
            animate=row["subject"] == "animate",
            garment=row["object"] == "garment",
        )
        for relation in row.names("relation"):
            found[relation] = (*found.get(relation, ()), swap)
    return found
