"""Scene graphs: the objects of an image with their boxes, attributes and relations; sizes and places of boxes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, hypot
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in pixels: its upper left corner, its width and its height, both above 0."""

    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation to another object of the graph: ``name`` is for example "on", ``object`` the id of the other."""

    name: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneObject:
    """One object: its id within the graph, its name, its box, its attributes and its relations to other objects.

    Names are in lower case, with single blanks ("traffic light"), as GQA writes them.
    """

    id: str
    name: str
    box: Box
    attributes: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneGraph:
    """The objects of one image by their ids (Hudson and Manning 2019, GQA, section 3.1).

    ``id`` is the image's name in the release; ``width`` and ``height`` are its size in pixels, if the release has them.
    A graph is ``complete`` if it has everything that the image shows, as that of a drawn scene; annotators leave out
    things. ``origin`` is the file and the position that the graph was read from, for messages.
    """

    id: str
    objects: Mapping[str, SceneObject]
    width: int | None = None
    height: int | None = None
    location: str = ""
    complete: bool = False
    origin: str = field(default="", compare=False)


Place = Literal["center", "mid", "margin"]
Extent = Literal["small", "medium", "large"]

SMALL, MEDIUM = 1024, 9216
"""Square pixels up to which a box is small, and medium (VL-CheckList, section 3.1)."""


def image_size(graph: SceneGraph) -> tuple[float, float] | None:
    return None if graph.width is None or graph.height is None else (graph.width, graph.height)


def sized(graph: SceneGraph) -> SceneGraph:
    """A graph with a size: its own or, if it has none, the smallest that holds all its boxes.

    Visual Genome's graphs have no sizes. The boxes of a whole graph reach nearly to the edges of its image.
    """
    if image_size(graph) is not None or not graph.objects:
        return graph
    boxes = [thing.box for thing in graph.objects.values()]
    width, height = max(box.x + box.w for box in boxes), max(box.y + box.h for box in boxes)
    return replace(graph, width=ceil(width), height=ceil(height))


def share(box: Box, size: tuple[float, float]) -> float:
    return box.w * box.h / (size[0] * size[1])


def overlap(one: Box, other: Box) -> float:
    """The area that two boxes share, divided by the area that they cover together, in 0..1."""
    both = _common(one, other)
    return both / (one.w * one.h + other.w * other.h - both)


def inside(one: Box, other: Box) -> float:
    """The share of the first box that lies within the other, in 0..1."""
    return _common(one, other) / (one.w * one.h)


def place_of(box: Box, size: tuple[float, float]) -> Place:
    """The place of a box, by the distance of its centre from the image's, in halves of the image's diagonal.

    Up to 1/3 it is in the center, up to 2/3 in the middle, else at the margin.
    """
    width, height = size
    away = hypot(box.x + box.w / 2 - width / 2, box.y + box.h / 2 - height / 2) / (hypot(width, height) / 2)
    if away <= 1 / 3:
        return "center"
    return "mid" if away <= 2 / 3 else "margin"


def size_of(box: Box) -> Extent:
    area = box.w * box.h
    if area <= SMALL:
        return "small"
    return "medium" if area <= MEDIUM else "large"


def _common(box: Box, other: Box) -> float:
    width = min(box.x + box.w, other.x + other.w) - max(box.x, other.x)
    height = min(box.y + box.h, other.y + other.h) - max(box.y, other.y)
    return max(width, 0.0) * max(height, 0.0)
