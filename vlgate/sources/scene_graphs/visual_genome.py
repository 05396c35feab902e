"""Visual Genome's scene graphs: one file of graphs, or the release's files of objects, attributes and relationships.

Krishna et al. 2017, "Visual Genome: Connecting Language and Vision Using Crowdsourced Dense Image Annotations", section
3 (https://homes.cs.washington.edu/~ranjay/visualgenome/api_readme.html). ``scene_graphs.json`` is a list of graphs,
``{"image_id", "objects": [{"object_id", "names", "x", "y", "w", "h", "attributes"}], "relationships": [{"predicate",
"subject_id", "object_id"}]}``, without the images' sizes. To read the release in several files, read ``objects.json``
(see ``vlgate.sources.scene_graphs.release``).

An object's name is the first of its ``names``. An id in an object's ``merged_object_ids`` stands for that object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.scene_graphs.checks import Checker, Faults, shown
from vlgate.sources.scene_graphs.stream import Member

_COPIED = ("x", "y", "w", "h", "attributes")


def graphs(listed: Iterable[Member], checker: Checker) -> Iterator[SceneGraph]:
    """Yield the graphs of a list of Visual Genome, in the order of the list.

    Raises: DataError for a fault, if the checker's mode is "fail".
    """
    for member in listed:
        name = image_of(member.value)
        where = f"graph {shown(name)}, in place {member.key}"
        plain = _plain(member.value, where, checker.faults)
        if plain is not None and (graph := checker.graph(name, plain, member.repeated)) is not None:
            yield graph


def id_of(fields: Any, *names: str) -> str | None:
    """Return an id, which releases write as an integer, as a string; None if no field with these names has one.

    >>> id_of({"object_id": 5046}, "object_id", "id")
    '5046'
    """
    value = next((fields[name] for name in names if name in fields), None) if type(fields) is dict else None
    return value if type(value) is str and value else str(value) if type(value) is int else None


def image_of(fields: Any) -> str | None:
    """Return the id of a record's image; the first version of the release has it in ``id``."""
    return id_of(fields, "image_id", "id")


def _plain(fields: Any, where: str, faults: Faults) -> dict[str, Any] | None:
    """Convert a graph to GQA's form; None if that is not possible."""
    if type(fields) is not dict:
        faults.found(where, "a record that is not an object", shown(fields))
        return None
    if type(fields.get("objects")) is not list:
        faults.found(where, "objects that are not a list", shown(fields.get("objects")))
        return None
    objects: dict[str, Any] = {}
    merged: dict[str, str] = {}
    for position, thing in enumerate(fields["objects"], 1):
        number = id_of(thing, "object_id", "id")
        if number is None:
            faults.found(where, "an object without an id", f"object {position}: {shown(thing)}")
        elif number in objects:
            faults.found(where, "a repeated object id", f"object {position}: {number!r}")
        else:
            objects[number] = _object(thing)
            merged.update((str(other), number) for other in _list(thing.get("merged_object_ids")))
    given = fields.get("relationships", [])
    if type(given) is not list:
        faults.found(where, "relationships that are not a list", shown(given))
    for relation in _list(given):
        _relate(relation, objects, merged, where, faults)
    return {"width": fields.get("width"), "height": fields.get("height"), "objects": objects}


def _object(thing: Mapping[str, Any]) -> dict[str, Any]:
    names = thing.get("names", thing.get("name"))
    name = (names[0] if names else "") if type(names) is list else names
    return {"name": name, "relations": [], **{field: thing[field] for field in _COPIED if field in thing}}


def _relate(relation: Any, objects: dict[str, Any], merged: Mapping[str, str], where: str, faults: Faults) -> None:
    ends = []
    for end in ("subject", "object"):
        number = id_of(relation, f"{end}_id")
        if number is None and type(relation) is dict:
            number = id_of(relation.get(end), "object_id", "id")
        ends.append(number if number is None or number in objects else merged.get(number, number))
    subject, other = ends
    if subject is None or other is None:
        faults.found(where, "a relationship without two objects' ids", shown(relation))
    elif subject not in objects:
        reason = "a relation of an object that the graph lacks"
        faults.found(where, reason, f"{shown(relation.get('predicate'))} of {subject!r}")
    else:
        objects[subject]["relations"].append({"name": relation.get("predicate"), "object": other})


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []
