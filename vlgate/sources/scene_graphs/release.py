"""Visual Genome's release in several files, joined: objects, attributes and relationships of each image.

``objects.json`` is the file to read; ``attributes.json`` and ``relationships.json`` must be in the same folder, and
``image_data.json`` is read for the sizes of the images if it is there. Each is a list with one record per image, and
all have the same order (https://homes.cs.washington.edu/~ranjay/visualgenome/api_readme.html), so they are read in
parallel, one record at a time. For every record it is checked that the ids agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.scene_graphs.checks import Faults, shown
from vlgate.sources.scene_graphs.stream import Member, members
from vlgate.sources.scene_graphs.visual_genome import id_of, image_of

NEEDED = ("attributes.json", "relationships.json")
SIZES = "image_data.json"


def is_apart(member: Member) -> bool:
    """Return whether a record of a list has objects but no relationships, which are then in another file."""
    return type(member.value) is dict and "objects" in member.value and "relationships" not in member.value


def joined(objects: Iterable[Member], faults: Faults) -> Iterator[Member]:
    """Yield the records of ``objects.json``, each as a graph joined with the records of the files beside it.

    Raises: DataError if a file is missing, or the files do not have the same images in the same order.
    """
    folder = faults.file.parent
    for name in NEEDED:
        if not (folder / name).is_file():
            problem = f"has objects without relationships, and there is no {name} beside it"
            raise DataError(faults.file, None, problem, f"put the release's {name} into {folder}")
    with ExitStack() as stack:
        names = (*NEEDED, *([SIZES] if (folder / SIZES).is_file() else []))
        beside = {name: stack.enter_context(closing(members(folder / name))) for name in names}
        for member in objects:
            found = {name: _same(folder / name, member, next(others, None)) for name, others in beside.items()}
            yield _graph(member, found, faults)
        for name, others in beside.items():
            if (further := next(others, None)) is not None:
                raise _out_of_step(folder / name, further.key, image_of(further.value), None)


def _same(file: Path, member: Member, other: Member | None) -> Member:
    image = image_of(member.value)
    if other is None or image is None or image_of(other.value) != image:
        raise _out_of_step(file, member.key, image_of(other.value) if other else None, image)
    return other


def _out_of_step(file: Path, place: str, is_there: str | None, expected: str | None) -> DataError:
    problem = f"image {is_there!r} is in place {place}, but objects.json has image {expected!r} there"
    return DataError(file, None, problem, "take all files from the same release, so that their order agrees")


def _graph(member: Member, found: dict[str, Member], faults: Faults) -> Member:
    where = f"graph {image_of(member.value)!r}"
    size = found[SIZES].value if SIZES in found else {}
    graph = {
        **member.value,
        "objects": _described(member.value.get("objects"), found["attributes.json"].value, where, faults),
        "relationships": found["relationships.json"].value.get("relationships"),
        "width": size.get("width"),
        "height": size.get("height"),
    }
    repeated = (*member.repeated, *(key for other in found.values() for key in other.repeated))
    return Member(member.layout, member.key, graph, repeated)


def _described(objects: Any, given: dict[str, Any], where: str, faults: Faults) -> Any:
    """Return the objects with their attributes, which ``attributes.json`` has by the object's id."""
    attributes: dict[str | None, Any] = {}
    records = given.get("attributes")
    if type(records) is not list:
        faults.found(where, "attributes that are not a list", shown(records))
    for record in records if type(records) is list else ():
        if type(record) is dict and (more := record.get("attributes")) is not None:
            attributes[id_of(record, "object_id", "id")] = more
    if type(objects) is not list:
        return objects
    described = []
    for thing in objects:
        known = attributes.pop(id_of(thing, "object_id", "id"), None)
        described.append({**thing, "attributes": known} if known is not None and type(thing) is dict else thing)
    for number in attributes:
        faults.found(where, "attributes of an object that objects.json lacks", shown(number))
    return described
