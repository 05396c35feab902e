"""Scene graphs: the objects of an image with their boxes, attributes and relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
