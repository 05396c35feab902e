"""A picture's scene graph: its objects, where they are, what they are like and how they stand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in pixels: its left upper corner, its width and its height, both above 0."""

    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How an object stands to another of the same graph: ``name`` is "on" or "wearing", ``object`` the other's id."""

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
    """The objects of one picture by their ids (Hudson and Manning 2019, GQA, section 3.1).

    ``id`` is the picture's name in the release, ``width`` and ``height`` its size in pixels where the release gives it.
    ``origin`` says where the graph was read, for messages.
    """

    id: str
    objects: Mapping[str, SceneObject]
    width: int | None = None
    height: int | None = None
    location: str = ""
    origin: str = field(default="", compare=False)
