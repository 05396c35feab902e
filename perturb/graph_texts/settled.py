"""Whether a graph settles an attribute: things of several colors, and things of which an image has more than it says.

A person who looks at a bus says that it is red and white; the graph says "red". And where a graph has one chair, the
room may have others. Names hold in both numbers and for all names below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from vlgate.perturb.graph_texts.absence import WHOLE
from vlgate.perturb.inflection import either_number
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.scene_graph import SceneGraph

_PLAIN = ("car", "sedan", "taxi", "van", "suv", "minivan", "elephant", "sheep", "pig", "polar bear", "black bear")
# What is printed, patterned, lit, or made of parts of several colors.
_MOTLEY = (
    *("animal", "artwork", "ball", "banner", "basket", "beach", "bed", "blanket", "bookshelf", "book", "bottle", "box"),
    *(
        "building",
        "camera",
        "can",
        "clock",
        "cloth",
        "costume",
        "court",
        "crosswalk",
        "curtain",
        "desk",
        "dress",
        "eye",
        "flag",
    ),
    *("flower", "food", "footwear", "graffiti", "jar", "jersey", "kite", "magazine", "mat", "meter", "monitor"),
    *("napkin", "newspaper", "ocean", "paper", "parking meter", "phone", "photo", "picture", "plant", "poster"),
    *("quilt", "racket", "remote", "river", "road", "room", "rug", "screen", "sea", "sign", "skateboard", "ski"),
    *(
        "sky",
        "snowboard",
        "store",
        "surfboard",
        "table",
        "tablecloth",
        "telephone",
        "television",
        "tie",
        "towel",
        "toy",
    ),
    *("train car", "tree", "tv", "umbrella", "uniform", "vehicle", "water", "wing", "wood", "yard"),
)
# What images have many of, and annotators name a few of.
_MANY = (
    *("bolt", "book", "branch", "brick", "building", "bush", "button", "cable", "cloud", "cord", "door", "drawer"),
    *("flower", "hair", "house", "leaf", "letter", "light", "line", "paper", "person", "plant", "pole", "rock"),
    *("sign", "spot", "stone", "stripe", "tile", "tree", "wheel", "window", "wire"),
)
# What comes in numbers too, but which whole graphs tell.
_SOME = (
    *("animal", "bag", "bowl", "box", "cabinet", "clothing", "container", "cup", "curtain", "fence", "food"),
    *("footwear", "glass", "lamp", "pillow", "plate", "seat", "table", "toy", "umbrella", "utensil", "vehicle", "wall"),
)
_TRAFFIC = ("vehicle", "bike", "bicycle")
_WAYS = (
    *("street", "road", "sidewalk", "parking lot", "highway", "intersection", "crosswalk", "curb", "traffic", "lot"),
    *("traffic light", "street light", "parking meter", "stop sign", "street sign"),
)
_ROOMS = (
    *("enclosure", "room", "bathroom", "kitchen", "bedroom", "living room", "office", "restaurant", "hallway", "yard"),
    *("field", "park", "parking lot", "court", "beach", "hill", "mountain", "forest", "garden", "pen", "zoo", "city"),
    *("area", "floor", "ground", "sidewalk", "street", "road", "pavement", "store", "shop", "station", "crowd"),
)
_LONG = ("hair", "tail", "sleeve", "dress", "skirt", "beard", "neck", "feather", "sock")
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
    return names.isdisjoint(_both(_PLAIN)) and not names.isdisjoint(_both(_MOTLEY))


def are_many(noun: str, ontology: Ontology) -> bool:
    """Return whether images have many such things, of which annotators name a few.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> are_many("window", default_ontology()), are_many("table", default_ontology())
    (True, False)
    """
    return not ontology.certain(noun).isdisjoint(_both(_MANY))


def has_others(noun: str, graph: SceneGraph, ontology: Ontology) -> bool:
    """Return whether an image may have other things of a name, which its graph leaves out.

    Where vehicles drive or stand there are more of them, and where a graph has cars, some car may be another one.
    """
    names = ontology.certain(noun)
    shown = frozenset(thing.name for thing in graph.objects.values())
    several = not names.isdisjoint(_both(_SOME))
    traffic = not names.isdisjoint(_both(_TRAFFIC)) and not shown.isdisjoint(_both(_WAYS))
    other = ontology.nouns[noun].other
    many = are_many(noun, ontology) or traffic or other in shown
    return many or (several and len(graph.objects) < WHOLE)


def is_place(noun: str, ontology: Ontology) -> bool:
    """Return whether a name is one of places, whose size and state are a matter of opinion.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [is_place(name, default_ontology()) for name in ("enclosure", "kitchen", "cup")]
    [True, True, False]
    """
    names = ontology.certain(noun)
    return not names.isdisjoint(ontology.expected.scenes) or not names.isdisjoint(_both(_ROOMS))


def is_measured(noun: str, category: str, ontology: Ontology) -> bool:
    """Return whether a size says something without another thing beside it: long hair, and no large cup.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> is_measured("hair", "length", default_ontology()), is_measured("lamp", "height", default_ontology())
    (True, False)
    """
    return category == "length" and not ontology.certain(noun).isdisjoint(_both(_LONG))


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
def _both(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form for name in names for form in either_number(name))
