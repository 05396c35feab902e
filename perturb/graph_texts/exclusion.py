"""Whether a feature of one person is surely not one of another: what makes BLA's false sentences false."""

from __future__ import annotations

from vlgate.perturb.graph_texts.features import Feature
from vlgate.perturb.graph_texts.geometry import inside, overlap
from vlgate.perturb.graph_texts.names import contradict, may_be_called
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.perturb.sentences import read_predicate

_WORN = frozenset(("wear", "have", "have on"))
# Where garments are worn. Two of a place are not worn together, except above the waist: there only "white" shirts and
# "blue" shirts exclude each other.
_SLOTS = {
    "head": "hat|cap|helmet|beanie|beret|sombrero|fedora|visor|hood|headband|bandana|crown|turban|tiara",
    "top": "shirt|t-shirt|tshirt|tee|top|blouse|sweater|sweatshirt|hoodie|jersey|jacket|coat|vest|cardigan|blazer|"
    "polo|robe|apron|undershirt|raincoat|parka|tank",
    "legs": "pants|trousers|jeans|shorts|skirt|slacks|khakis|leggings|sweatpants|capris|overalls|dress|gown|trunks|"
    "wetsuit|bikini|swimsuit|kilt",
    "feet": "shoe|shoes|sneaker|sneakers|boot|boots|sandal|sandals|flip-flops|flops|slippers|heels|cleats|skates",
    "eyes": "glasses|sunglasses|goggles|eyeglasses|mask",
    "neck": "tie|necktie|bowtie|scarf|necklace|chain",
    "hands": "glove|gloves|mitt|mitten|mittens",
    "whole": "suit|uniform|costume|outfit|tuxedo|snowsuit|jumpsuit|kimono|gear|clothes|clothing",
    "wrist": "watch|bracelet|wristband|wristbands|armband",
    "small": "belt|sock|socks|stockings|earring|earrings|ring|badge|button|pocket|sleeve|collar|logo|number|strap",
}
_SLOT = {word: slot for slot, words in _SLOTS.items() for word in words.split("|")}
_LAYERED = frozenset(("top", "whole", "small"))
_TOUCHING = 0.02  # of a box: less than that is a matter of how boxes are drawn


def slot_of(name: str) -> str | None:
    """Return the part of the body that a garment is worn on, or None if the name is not one of garments.

    >>> slot_of("baseball cap"), slot_of("surfboard")
    ('head', None)
    """
    return _SLOT.get(name.rpartition(" ")[2])


def excluded(feature: Feature, person: SceneObject, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether the graph shows that a person does not have a feature, which is one of another person.

    A garment is excluded if the person wears another one in its place. Any other thing is excluded if neither it nor
    anything that may be called so touches the person's box, or if it touches only the box of the one who has it and the
    person holds none.
    """
    if _has(feature, person, graph, ontology):
        return False
    if slot_of(feature.thing.name) is not None and (feature.verb.plain in _WORN):
        return any(_in_its_place(worn, feature, ontology) for worn in _worn(person, graph))
    others = (
        thing
        for thing in graph.objects.values()
        if thing.id != person.id and may_be_called(thing.name, feature.thing.name, ontology)
    )
    return not any(
        _touching(person, thing, of_another=feature.owned and thing.id == feature.thing.id) for thing in others
    )


def _has(feature: Feature, person: SceneObject, graph: SceneGraph, ontology: Ontology) -> bool:
    """Whether a relation of the person says the feature, or may."""
    for relation in person.relations:
        thing = graph.objects.get(relation.object)
        if thing is None:
            continue
        if thing.id == feature.thing.id:
            return True
        predicate = read_predicate(relation.name)
        differs = predicate is not None and predicate.verb.plain not in _WORN | {feature.verb.plain}
        alike = may_be_called(thing.name, feature.thing.name, ontology) and not differs
        if alike and not (feature.attribute and contradict(thing.attributes, [feature.attribute], ontology)):
            return True
    return False


def _worn(person: SceneObject, graph: SceneGraph) -> list[SceneObject]:
    found = []
    for relation in person.relations:
        predicate = read_predicate(relation.name)
        worn = relation.name in {"in", "with"} or (predicate is not None and predicate.verb.plain in _WORN)
        if worn and relation.object in graph.objects:
            found.append(graph.objects[relation.object])
    return found


def _in_its_place(worn: SceneObject, feature: Feature, ontology: Ontology) -> bool:
    slot = slot_of(worn.name)
    if slot is None or slot != slot_of(feature.thing.name):
        return False
    alike = may_be_called(worn.name, feature.thing.name, ontology)
    if alike or slot in _LAYERED:
        return alike and bool(feature.attribute) and contradict(worn.attributes, [feature.attribute], ontology)
    return True


def _touching(person: SceneObject, thing: SceneObject, *, of_another: bool) -> bool:
    if of_another:  # one may stand before another who holds it
        return inside(thing.box, person.box) > 0.5
    return (
        overlap(thing.box, person.box) > 0
        and max(inside(thing.box, person.box), inside(person.box, thing.box)) > _TOUCHING
    )
