"""What a scene graph settles: nouns that the image surely does not show, attributes that things surely have."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from vlgate.perturb.foils.captions.object_names import coco_names
from vlgate.perturb.graphs.names import known_form
from vlgate.perturb.kept import kept
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.expectations import FIT, SETTINGS, Surroundings
from vlgate.perturb.ontology.tables import both_numbers, rows_in
from vlgate.perturb.scene_graph import SceneGraph, SceneObject, image_size, share
from vlgate.perturb.text.sentences import number_of

# What an image surely does not show: nouns that none of its objects may be called, and that do not belong there.
#
# Annotators leave out most of what an image shows. A pen that a desk lacks in the graph may well lie on it, so a noun
# counts as absent only if nobody would expect it in such a setting, or if nobody would have left it out.

_STANDS_OUT = 0.05  # of the image
WHOLE = 15  # objects from which a graph tells all persons and animals of an image

_SALIENT = frozenset(("person", "people", "animal", "animals"))
_NARROW = 3  # settings of a thing that tells where it is, whatever else there is: a pig in a street
# A few objects do not tell these settings apart.
_NEAR = (
    frozenset(("kitchen", "dining")),
    frozenset(("living", "bedroom", "office")),
    frozenset(("street", "rail")),
    frozenset(("water", "beach")),
)


class Absence:
    """Which nouns an image surely does not show."""

    def __init__(self, graph: SceneGraph, ontology: Ontology, where: Surroundings) -> None:
        names = {thing.name for thing in graph.objects.values()}
        known = sorted({form for name in names if (form := known_form(name, ontology)) is not None})
        self._ontology, self._where = ontology, where
        self._shown = [fitting for name in known for fitting in (ontology.possible(name), ontology.parts(name))]
        self._words = frozenset(word for name in names for word in name.split())
        self._whole, self._complete = len(graph.objects) >= WHOLE, graph.complete
        self._setting = self._likely(known)
        self._beside = frozenset().union(*(_beside(name, ontology) for name in known))
        self._named: dict[str, bool] = {}  # whether something may be called so, by name
        self._kept: dict[Any, Any] = {}

    def lacks(self, name: str, *, anywhere: bool = True) -> bool:
        """Return whether the image surely shows nothing of that name, which the ontology must have."""
        # No object may be called so or have such a part. The setting of the image must be known, and the noun must not
        # belong there, unless it is a person or an animal and the graph has at least ``WHOLE`` objects. Without
        # ``anywhere``, and in a complete graph, the noun may belong there: it is enough that no object may be called
        # so.
        named = self._named.get(name)
        if named is None:
            named = self._named[name] = name in self._words or any(name in one for one in self._shown)
        if named:
            return False
        return not anywhere or self._complete or self._is_odd(name)

    @kept
    def _is_odd(self, name: str) -> bool:
        alone = bool(self._setting) and self._beside.isdisjoint(_called(name, self._ontology))
        if alone and self._where.fit(name, self._setting) < FIT:
            return True
        return self._whole and not _SALIENT.isdisjoint(self._ontology.certain(name))

    def _likely(self, names: Sequence[str]) -> tuple[float, ...]:
        """How likely each setting is; as likely as those of a narrow thing and, in a small graph, those near it."""
        told = self._where.of(names)
        narrow = {place for name in names if len(found := self._ontology.settings(name)) <= _NARROW for place in found}
        likely = {setting: 1.0 if setting in narrow else one for setting, one in zip(SETTINGS, told, strict=False)}
        if self._whole:
            return tuple(likely.values())
        return tuple(
            max(likely[other] for group in (*_NEAR, {place}) if place in group for other in group) for place in likely
        )


def common_names(ontology: Ontology) -> Iterator[str]:
    """Yield the names of COCO's categories in both numbers, as far as the ontology has them: words that all know."""
    for word in sorted({one.word for one in coco_names().by_name.values()} - {""}):
        if ontology.knows(word):
            yield from filter(None, (word, ontology.nouns[word].other))


def _beside(name: str, ontology: Ontology) -> frozenset[str]:
    names = coco_names().by_name
    return frozenset().union(*(names[one].beside for one in _called(name, ontology) if one in names))


def _called(name: str, ontology: Ontology) -> frozenset[str]:
    names = coco_names().by_name
    both = {name, ontology.nouns[name].other}
    return frozenset((*both, *(names[one].word for one in both if one in names))) - {""}


# Whether a graph settles an attribute: things of several colors, and things of which an image has more than it says.
#
# A person who looks at a bus says that it is red and white; the graph says "red". And where a graph has one chair, the
# room may have others. Names hold in both numbers and for all names below them.

_TINTED = frozenset(
    ("brick", "granite", "marble", "gold", "golden", "silver", "made of bricks", "striped", "checkered")
)
_ALIKE = (  # materials that nobody tells apart in a photograph
    frozenset(("plastic", "glass", "rubber", "vinyl", "acrylic")),
    frozenset(("leather", "vinyl", "fabric", "cloth", "canvas", "suede")),
    frozenset(("stone", "concrete", "cement", "brick", "granite", "marble", "tile", "tiled", "rock", "ceramic")),
    frozenset(("ceramic", "porcelain", "glass", "plastic", "clay", "china", "stone")),
    frozenset(("metal", "plastic", "steel", "iron", "chrome", "aluminum", "silver", "stainless steel", "brass", "tin")),
    frozenset(("wood", "wooden", "bamboo", "wicker", "straw", "cardboard", "laminate", "plywood")),
    frozenset(("paper", "cardboard", "plastic", "styrofoam", "cloth")),
)


def look_alike(one: str, other: str) -> bool:
    return any(one in group and other in group for group in _ALIKE)


def is_motley(noun: str, ontology: Ontology) -> bool:
    names = ontology.certain(noun)
    return names.isdisjoint(_names("plain")) and not names.isdisjoint(_names("motley"))


def are_many(noun: str, ontology: Ontology) -> bool:
    return not ontology.certain(noun).isdisjoint(_names("many"))


def has_others(noun: str, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether an image may have other things of a name, which its graph leaves out."""
    # A graph of few things tells only of what images have one of. A complete graph leaves out nothing.
    if graph.complete:
        return False
    few = len(graph.objects) < WHOLE and ontology.certain(noun).isdisjoint(_names("one"))
    return few or has_many(noun, graph, ontology)


def is_alone(thing: SceneObject, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether a thing is the one person or animal that a graph has, and too large to be one of many."""
    # So it is told what it does: annotators of half as many things as a whole graph has leave out no second one.
    if 2 * len(graph.objects) < WHOLE or number_of(thing.name) != "singular":
        return False
    size, kinds = image_size(graph), (frozenset(("person", "people")), frozenset(("animal", "animals")))
    names = [ontology.certain(noun) for one in graph.objects.values() if (noun := known_form(one.name, ontology))]
    own = ontology.certain(noun) if (noun := known_form(thing.name, ontology)) else frozenset()
    alone = any(not own.isdisjoint(kind) and sum(not kind.isdisjoint(one) for one in names) == 1 for kind in kinds)
    large = size is not None and share(thing.box, size) >= _STANDS_OUT
    return alone and large


def has_many(noun: str, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether an image surely may have others of a name, whatever the size of its graph."""
    # Where vehicles drive or stand there are more of them, and where a graph has cars, some car may be another one.
    names = ontology.certain(noun)
    shown = frozenset(thing.name for thing in graph.objects.values())
    traffic = not names.isdisjoint(_names("traffic")) and not shown.isdisjoint(_names("ways"))
    worn = sum(thing.name == noun for thing in graph.objects.values())
    dressed = "clothing" in names and _persons(graph, ontology) > worn
    many = are_many(noun, ontology) or traffic or dressed or ontology.nouns[noun].other in shown
    return not graph.complete and many


def _persons(graph: SceneGraph, ontology: Ontology) -> int:
    """Count the persons of a graph, several as two: who wears which of their shirts may not be annotated."""
    kinds = [ontology.certain(thing.name) for thing in graph.objects.values() if ontology.knows(thing.name)]
    return sum(2 if "people" in names else "person" in names for names in kinds)


def is_place(noun: str, ontology: Ontology) -> bool:
    names = ontology.certain(noun)
    return not names.isdisjoint(ontology.expected.scenes) or not names.isdisjoint(_names("place"))


_COMPARED = frozenset(("age", "build", "depth", "elevation", "height", "length", "size", "thickness", "width"))


def is_measured(noun: str, category: str, ontology: Ontology) -> bool:
    """Return whether an attribute says something without another thing beside it: long hair, and no large cup."""
    alone = category == "length" and not ontology.certain(noun).isdisjoint(_names("long"))
    return alone or category not in _COMPARED


def is_mixed(attributes: Sequence[str], attribute: str, ontology: Ontology) -> bool:
    """Return whether the attributes of one thing contradict each other: two colors, or a white thing of brick."""
    category = ontology.attributes[attribute].category
    kinds = {one: known.category for one in attributes if one != attribute and (known := ontology.attributes.get(one))}
    tinted = category == "color" and not _TINTED.isdisjoint(attributes)
    return tinted or any(kind == category and not look_alike(attribute, one) for one, kind in kinds.items())


@cache
def _table() -> dict[str, frozenset[str]]:
    rows = rows_in(Path(__file__).with_name("settled.tsv"), "what", "names")
    return {row["what"]: both_numbers(row.names("names")) for row in rows}


def _names(what: str) -> frozenset[str]:
    return _table()[what]
