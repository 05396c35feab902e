"""What the kinds of scene graphs make of other inputs: a graph, the name of its image, and the release it is from."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from vlgate.making.inputs.records import Frame, Interactions
from vlgate.perturb.foils.candidate import Foil
from vlgate.perturb.frame_graphs import graph_of_frame, graph_of_interactions
from vlgate.perturb.scene_graph import Box, SceneGraph

GraphInput = SceneGraph | Frame | Interactions
"""What a graph can be made of."""

UNTOLD = "no relation or attribute of things that have boxes"
"""The reason of an input that gives neither a candidate nor a reason."""

Release = Literal["VG", "SWIG", "HAKE"]

_OF_BOXES = frozenset(("size", "location"))


def graph_of(one: GraphInput) -> SceneGraph:
    """Return an input as a scene graph."""
    if isinstance(one, SceneGraph):
        return one
    if isinstance(one, Frame):
        boxes = {role: Box(x=x, y=y, w=w, h=h) for role, (x, y, w, h) in one.boxes.items()}
        return graph_of_frame(one.image, one.template, one.roles, boxes, one.size)
    done = ((each.person, each.verb, each.thing, each.place) for each in one.done)
    return graph_of_interactions(one.image, done, one.size)


def image_of(one: GraphInput) -> str:
    """Return the name of an input's image; Visual Genome's and GQA's are the ids of their graphs."""
    if not isinstance(one, SceneGraph):
        return one.image
    return one.id if "." in one.id else f"{one.id}.jpg"


def release_of(one: GraphInput) -> Release:
    """Return the release whose form an input has; VL-CheckList names its files after them."""
    if isinstance(one, SceneGraph):
        return "VG"
    return "SWIG" if isinstance(one, Frame) else "HAKE"


def without_boxes(foil: Foil, one: GraphInput) -> Foil:
    """Return a foil without the tags of boxes if the input has none."""
    if not isinstance(one, Interactions) or one.boxed:
        return foil
    return replace(foil, tags={name: value for name, value in foil.tags.items() if name not in _OF_BOXES})
