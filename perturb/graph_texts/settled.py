"""Whether a graph settles an attribute: things of several colors, and things of which an image has more than it says.

A person who looks at a bus says that it is red and white; the graph says "red". And where a graph has one chair, the
room may have others. Names hold in both numbers and for all names below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from vlgate.perturb.graph_texts.absence import WHOLE
from vlgate.perturb.inflection import either_number
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.tables import rows_of
from vlgate.perturb.scene_graph import SceneGraph

_FILE = "settled.tsv"
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
    """Return whether two materials look the same in a photograph.

    >>> look_alike("plastic", "glass"), look_alike("wooden", "metal")
    (True, False)
    """
    return any(one in group and other in group for group in _ALIKE)


def is_motley(noun: str, ontology: Ontology) -> bool:
    """Return whether such things often have several colors.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [is_motley(name, default_ontology()) for name in ("bus", "cars", "kites", "sweater")]
    [True, False, True, False]
    """
    names = ontology.certain(noun)
    return names.isdisjoint(_names("plain")) and not names.isdisjoint(_names("motley"))


def are_many(noun: str, ontology: Ontology) -> bool:
    """Return whether images have many such things, of which annotators name a few.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> are_many("window", default_ontology()), are_many("table", default_ontology())
    (True, False)
    """
    return not ontology.certain(noun).isdisjoint(_names("many"))


def has_others(noun: str, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether an image may have other things of a name, which its graph leaves out.

    Where vehicles drive or stand there are more of them, and where a graph has cars, some car may be another one. A
    graph of few things tells only of what images have one of. A complete graph leaves out nothing.
    """
    if graph.complete:
        return False
    names = ontology.certain(noun)
    shown = frozenset(thing.name for thing in graph.objects.values())
    traffic = not names.isdisjoint(_names("traffic")) and not shown.isdisjoint(_names("ways"))
    other = ontology.nouns[noun].other
    many = are_many(noun, ontology) or traffic or other in shown
    return many or (len(graph.objects) < WHOLE and names.isdisjoint(_names("one")))


def is_place(noun: str, ontology: Ontology) -> bool:
    """Return whether a name is one of places, whose size and state are a matter of opinion.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [is_place(name, default_ontology()) for name in ("enclosure", "kitchen", "cup")]
    [True, True, False]
    """
    names = ontology.certain(noun)
    return not names.isdisjoint(ontology.expected.scenes) or not names.isdisjoint(_names("place"))


def is_measured(noun: str, category: str, ontology: Ontology) -> bool:
    """Return whether a size says something without another thing beside it: long hair, and no large cup.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> is_measured("hair", "length", default_ontology()), is_measured("lamp", "height", default_ontology())
    (True, False)
    """
    return category == "length" and not ontology.certain(noun).isdisjoint(_names("long"))


def is_mixed(attributes: Sequence[str], attribute: str, ontology: Ontology) -> bool:
    """Return whether the attributes of one thing contradict each other: two colors, or a white thing of brick.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [is_mixed(some, "white", default_ontology()) for some in (("white", "old"), ("white", "brick"))]
    [False, True]
    """
    category = ontology.attributes[attribute].category
    kinds = {one: known.category for one in attributes if one != attribute and (known := ontology.attributes.get(one))}
    tinted = category == "color" and not _TINTED.isdisjoint(attributes)
    return tinted or any(kind == category and not look_alike(attribute, one) for one, kind in kinds.items())


@cache
def _table() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name(_FILE).read_text(encoding="utf-8")
    rows = rows_of(_FILE, text, "what", "names")
    return {row["what"]: frozenset(form for name in row.names("names") for form in either_number(name)) for row in rows}


def _names(what: str) -> frozenset[str]:
    return _table()[what]
