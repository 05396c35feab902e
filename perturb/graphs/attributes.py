"""Captions in which one attribute is replaced by one that excludes it (VL-CheckList, attributes)."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.graphs.absence import has_others, is_alone, is_measured, is_mixed, is_motley, is_place, look_alike
from vlgate.perturb.graphs.checklist import Words, checked, foils_of
from vlgate.perturb.graphs.names import NO_NUMBER, Namesakes, contradict, determiner, known_form, unsaid
from vlgate.perturb.graphs.objects import box_tags
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.tables import rows_in
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.seeds import quick_generator

NO_KIND = "the attribute is of none of the five kinds"
NOT_BEFORE = "the attribute does not read before the noun"
NOT_ASKED = "such things are not told apart by the attribute"
MAY_HOLD = "another thing of the name may have the replacement"
UNUSUAL = "the attribute is not one of such things"
MOTLEY = "such things often have several colors"
OPINION = "it is a matter of opinion: a size without a measure, how clean or happy something is, or a place"
MIXED = "the attributes of the thing contradict each other"
OTHERS = "the image may have others of the name that the graph lacks"

_CATEGORIES = {
    "color": "color|hair color",
    "material": "material",
    "size": "size|length|height|width|thickness|depth|build",
    "state": "age|bedding|cleanliness|connection|display|doneness|foliage|fullness|hardness|lighting|mood|motion|"
    "opening|paving|peel|position|power|ripeness|sharpness|texture|tidiness|weather|wetness|curvature",
    "action": "pose|activity|sport",
}
KINDS: Mapping[str, str] = MappingProxyType(
    {category: kind for kind, categories in _CATEGORIES.items() for category in categories.split("|")}
)
"""VL-CheckList's kinds of attributes (section 3.1) by the categories of the ontology."""

_FILE = Path(__file__).with_name("close_colors.tsv")
_OPINIONS = frozenset(("cleanliness", "tidiness", "mood"))
_COLORS = ("black", "blue", "brown", "gray", "green", "orange", "pink", "purple", "red", "white", "yellow")
CLOSE: Mapping[str, frozenset[str]] = MappingProxyType(
    {row["color"]: frozenset((row["color"], *row.names("close"))) for row in rows_in(_FILE, "color", "close")}
)
"""What one person calls a color and another calls something else; a color that is not here is not replaced."""


def attribute_foils(graph: SceneGraph, words: Words) -> Perturbed:
    """Make a foil of each attribute of each object: "a white sheep" and "a black sheep"."""
    # The replacement is of the attribute's category and excludes it. It must hold of no object of the graph that may
    # have the name: each has an attribute that excludes it.
    captions = (
        f"{determiner(f'{attribute} {thing.name}', thing.name)} {attribute} {thing.name}".strip()
        for thing in graph.objects.values()
        for attribute in thing.attributes
    )
    return checked(_foils(graph, words), captions)


def _foils(graph: SceneGraph, words: Words) -> Iterator[list[Foil] | str]:
    namesakes = Namesakes(graph, words.ontology)
    for thing in graph.objects.values():
        for attribute in thing.attributes:
            yield _made(graph, thing, attribute, words, namesakes)


def _made(
    graph: SceneGraph, thing: SceneObject, attribute: str, words: Words, namesakes: Namesakes
) -> list[Foil] | str:
    reason = _unfit(thing, attribute, words.ontology) or _unsettled(thing, attribute, graph, words.ontology)
    if reason == OPINION and (beside := _beside(graph, thing, attribute, words.ontology, namesakes)):
        return beside
    first = determiner(f"{attribute} {thing.name}", thing.name)
    if reason is not None or first is None:
        return reason or NO_NUMBER
    noun = known_form(thing.name, words.ontology) or thing.name
    key = ("attribute", noun, attribute)
    if key not in words.pools:
        words.pools[key] = dict.fromkeys(_find_others(noun, attribute, words), 1)
    others = list(words.pools[key])
    quick_generator(f"{words.seed}:attribute:{graph.id}:{thing.id}:{attribute}").shuffle(others)
    fit = list(
        islice((other for other in others if _false_everywhere(other, thing, namesakes, words.ontology)), words.most)
    )
    if not fit:
        return MAY_HOLD if others else "no attribute of its kind excludes it"
    tags = {"kind": KINDS[words.ontology.attributes[attribute].category], **box_tags(thing, graph)}
    foils = {one: f"{determiner(f'{one} {thing.name}', thing.name) or ''} {one} {thing.name}".strip() for one in fit}
    caption = f"{first} {attribute} {thing.name}".strip()
    every = f"whatever is called {thing.name!r} in the image has an attribute"
    return foils_of(caption, attribute, foils, lambda one: f"{every} that excludes {one!r}", tags)


_LARGER = 1.8  # times the area of the small thing that a large one has, so that nobody doubts which is which
_LARGE, _SMALL = frozenset(("big", "huge", "large")), frozenset(("little", "small", "tiny"))


def _beside(
    graph: SceneGraph, thing: SceneObject, attribute: str, ontology: Ontology, namesakes: Namesakes
) -> list[Foil]:
    """Make a foil of a size that another thing of the name shows: "a large brown dog" beside a small white one."""
    noun = known_form(thing.name, ontology) or thing.name
    opposite, others = ontology.antonym(attribute, noun), [one for one in namesakes.of(thing.name) if one != thing]
    if opposite is None or ontology.attributes[attribute].category != "size" or has_others(noun, graph, ontology):
        return []
    colors = [word for word in thing.attributes if word in _COLORS]
    told = [word for word in colors if all(contradict(one.attributes, [word], ontology) for one in others)]
    opposites = _SMALL if attribute in _LARGE else _LARGE
    rivals = [one for one in others if one.name == thing.name and not opposites.isdisjoint(one.attributes)]
    areas = [(thing.box.w * thing.box.h, one.box.w * one.box.h) for one in rivals]
    plain = any(a >= _LARGER * b if attribute in _LARGE else b >= _LARGER * a for a, b in areas)
    if not told or not plain or is_mixed(thing.attributes, attribute, ontology):
        return []
    caption, foil = (
        f"{determiner(f'{size} {told[0]} {thing.name}', thing.name) or ''} {size} {told[0]} {thing.name}".strip()
        for size in (attribute, opposite)
    )
    tags = {"kind": "size", **box_tags(thing, graph)}
    why = f"{opposite!r} is true of what else is called {thing.name!r} in the image, and not of this"
    return foils_of(caption, attribute, {opposite: foil}, lambda _: why, tags)


def _unfit(thing: SceneObject, attribute: str, ontology: Ontology) -> str | None:
    known, noun = ontology.attributes.get(attribute), known_form(thing.name, ontology)
    if known is None or known.category not in KINDS:
        return NO_KIND
    if " " in attribute:
        return "the attribute has several words"
    if not known.before or noun is None or attribute in thing.name.split():
        return NOT_BEFORE
    if why := unsaid(noun, ontology) or unsaid(thing.name, ontology):
        return why
    asked = ontology.words.asked((noun, *ontology.hypernyms(noun)), known.category)
    return None if asked else NOT_ASKED


def _unsettled(thing: SceneObject, attribute: str, graph: SceneGraph, ontology: Ontology) -> str | None:
    noun = known_form(thing.name, ontology) or thing.name
    category = ontology.attributes[attribute].category
    if ontology.suits(noun, attribute) is False:
        return UNUSUAL
    settled = category == "age" or is_measured(noun, category, ontology)
    if is_place(noun, ontology) or not settled or category in _OPINIONS:
        return OPINION
    if is_mixed(thing.attributes, attribute, ontology):
        return MIXED
    if KINDS[category] == "color" and is_motley(noun, ontology):
        return MOTLEY
    doing = KINDS[category] == "action" and is_alone(thing, graph, ontology)
    return OTHERS if has_others(noun, graph, ontology) and not doing else None


def _find_others(noun: str, attribute: str, words: Words) -> Iterator[str]:
    ontology = words.ontology
    if KINDS[ontology.attributes[attribute].category] == "color":
        yield from (
            color
            for color in _COLORS
            if color not in CLOSE.get(attribute, _COLORS) and ontology.suits(noun, color) is not False
        )
        return
    opposite = ontology.antonym(attribute, noun)
    for other, known in ontology.attributes.items():
        if not known.before or " " in other or (opposite is not None and other != opposite):
            continue
        exclusive = ontology.exclusive(attribute, other) and ontology.suits(noun, other) is not False
        alike = look_alike(attribute, other) or words.likeness.too_alike(attribute, other)
        if other == opposite or (exclusive and not alike):
            yield other


def _false_everywhere(other: str, thing: SceneObject, namesakes: Namesakes, ontology: Ontology) -> bool:
    return all(
        contradict(one.attributes, [other], ontology) or _opposed(one, other, ontology)
        for one in namesakes.of(thing.name)
    )


def _opposed(thing: SceneObject, attribute: str, ontology: Ontology) -> bool:
    noun = known_form(thing.name, ontology)
    opposite = None if noun is None else ontology.antonym(attribute, noun)
    return opposite in thing.attributes and attribute not in thing.attributes
