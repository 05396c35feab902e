"""A graph whose objects are looked up in an ontology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from vlgate.perturb.ontology import Number, Reading
from vlgate.perturb.scene_graph import SceneGraph, SceneObject


class Masks(NamedTuple):
    """Sets of names, as bits (``Corpus.bits``)."""

    possible: int
    """What something might be called."""
    certain: int
    """What it is."""
    own: int
    """What it may have unannotated."""
    beside: int
    """The same, with its wholes and what these may have."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObjectView:
    """An object with what the ontology says about it, if the name is ``known``.

    ``adjectives`` are what can stand before its name.
    """

    object: SceneObject
    known: bool
    askable: bool
    number: Number
    masks: Masks
    adjectives: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called in the graph."""
        return self.object.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """A graph whose objects are looked up in the ontology.

    ``might`` holds every name that could be true of something in the image, as bits, and ``named`` those
    of what is annotated itself, and ``shown`` what it is, by name and class. ``links`` are the relations with a
    wording, by the position of the object that has them: the wording, and the position of the other object;
    ``marks`` are those that tell the object apart.
    """

    graph: SceneGraph
    things: tuple[ObjectView, ...]
    askable: tuple[int, ...]
    links: Mapping[int, tuple[tuple[Reading, int], ...]]
    marks: Mapping[int, tuple[tuple[Reading, int], ...]]
    names: tuple[str, ...]
    might: int
    named: int
    shown: int
