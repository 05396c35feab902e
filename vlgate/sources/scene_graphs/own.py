"""A user's own scene graphs: JSON with a list of graphs, or JSON lines with one graph per line.

An example with all fields::

    {"graphs": [
       {"image": "photos/1.jpg", "width": 640, "height": 480, "location": "kitchen", "complete": false,
        "objects": [
          {"id": "1", "name": "cup", "box": [30, 200.5, 80, 90], "attributes": ["red", "small"],
           "relations": [{"name": "on", "object": "2"}, {"name": "to the left of", "object": "3"}]},
          {"id": "2", "name": "table", "box": [0, 280, 640, 200]},
          {"id": "3", "name": "robot arm", "box": [300, 20, 200, 260], "attributes": ["moving"]}]}],
     "words": {
       "nouns": [{"name": "robot arm", "number": "singular", "parents": ["device"]}],
       "attributes": [{"name": "moving", "category": "activity", "before": true, "after": "moving", "rank": 5}],
       "relations": [{"name": "welded to", "text": "welded to", "that": true}]}}

``image`` is the image's path in the data folder, and the graph's id. ``box`` is [x, y, width, height] in pixels; x and
y are the upper left corner. Each object must have ``id`` (a string or an integer), ``name`` and ``box``;
``width``, ``height``, ``location``, ``complete``, ``attributes`` and ``relations`` are optional. ``complete`` says that
the graph has everything that the image shows, as that of a drawn scene; it is false unless given. ``words`` adds words
that the vocabulary for the questions lacks. In JSON lines, each line is one graph, ``{"image": ..., "objects":
[...]}``, which must begin with a field of the graph; there are no words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vlgate.errors import instead_of
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.scene_graphs.checks import Checker, Faults, shown
from vlgate.sources.scene_graphs.stream import Member
from vlgate.sources.scene_graphs.visual_genome import id_of
from vlgate.sources.scene_graphs.words import words

GRAPH = ("image", "width", "height", "location", "complete", "objects")
OBJECT = ("id", "name", "box", "attributes", "relations")
RELATION = ("name", "object")


def graphs(members: Iterable[Member], checker: Checker) -> Iterator[SceneGraph]:
    """Yield the graphs of a user's own file, in the order of the file.

    Raises: DataError for a fault, such as an unknown field, if the checker's mode is "fail".
    """
    for member in members:
        if member.layout == "beside":
            words(member, checker.faults)
            continue
        image = member.value.get("image") if type(member.value) is dict else None
        where = f"graph {member.key} ({shown(image)})"
        plain = _plain(member.value, where, checker.faults)
        if plain is not None and (graph := checker.graph(image, plain, member.repeated)) is not None:
            yield graph


def _plain(fields: Any, where: str, faults: Faults) -> dict[str, Any] | None:
    """Convert a graph to GQA's form; None if that is not possible."""
    if type(fields) is not dict:
        faults.found(where, "a graph that is not an object", shown(fields))
        return None
    faults.refuse_unknown(fields, GRAPH, where)
    if "image" not in fields:
        faults.found(where, "no image", instead_of("image", fields))
        return None
    if type(fields.get("objects")) is not list:
        known = f", {instead_of('objects', fields)}" if "objects" not in fields else ""
        faults.found(where, "no list of objects", f"{shown(fields.get('objects'))}{known}")
        return None
    objects: dict[str, Any] = {}
    for position, thing in enumerate(fields["objects"], 1):
        number = id_of(thing, "id")
        if number is None:
            faults.found(where, "an object without an id", f"object {position}: {shown(thing)}")
        elif number in objects:
            faults.found(where, "a repeated object id", f"object {position}: {number!r}")
        else:
            objects[number] = _object(thing, f"{where}, object {number!r}", faults)
    return {**fields, "objects": objects}


def _object(thing: dict[str, Any], where: str, faults: Faults) -> dict[str, Any]:
    faults.refuse_unknown(thing, OBJECT, where)
    plain = {"name": thing.get("name"), "attributes": thing.get("attributes", [])}
    if "box" in thing:
        box = thing["box"]
        plain |= zip("xywh", box, strict=True) if type(box) is list and len(box) == 4 else {"box": box}
    relations = thing.get("relations", [])
    if type(relations) is not list:
        return {**plain, "relations": relations}
    for relation in relations:
        if type(relation) is dict:
            faults.refuse_unknown(relation, RELATION, where)
    return {**plain, "relations": [_to(relation) for relation in relations]}


def _to(relation: Any) -> Any:
    return {**relation, "object": id_of(relation, "object")} if type(relation) is dict else relation
