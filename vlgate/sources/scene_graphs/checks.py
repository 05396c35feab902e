"""What a graph must be, whatever file it comes from: raised, or left out and counted, where it is not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import DataError, nearest
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject
from vlgate.sources.images import is_plain
from vlgate.sources.scene_graphs.circles import ORDERS, circles

Mode = Literal["fail", "leave out"]

MOST_OBJECTS = 10_000
"""The most objects of one graph; GQA's largest have some 130."""

TOLERANCE = 0.1
"""How far a box may reach beyond the picture, as a share of the picture's side; it is cut off there.

Where the picture's size is not given, the box's own side counts. ``TOLERANCE_PIXELS`` are allowed in any case.
"""

TOLERANCE_PIXELS = 2.0


@dataclass(slots=True)
class Faults:
    """What becomes of the faults of a file: an error, or a count by reason in ``left_out``."""

    file: Path
    mode: Mode
    left_out: Counter[str]
    remedy: str = "correct it, or leave such parts out (--faults leave-out), which are counted"

    def found(self, where: str, reason: str, shown: str) -> None:
        """Raise DataError for a fault, or count it, for the caller to leave out the part that has it."""
        if self.mode == "fail":
            raise DataError(self.file, where, f"has {reason}: {shown}", self.remedy)
        self.left_out[reason] += 1

    def refuse_unknown(self, fields: Mapping[str, Any], known: Collection[str], where: str) -> None:
        """Find a fault in each field that is not among ``known``; left out, it is passed over."""
        for name in fields:
            if name not in known:
                self.found(where, "an unknown field", f"{name!r} ({nearest(name, known)})")


@lru_cache(maxsize=2**16)  # a release has some thousand names, each a thousand times
def normal_name(name: str) -> str | None:
    """Return a name in lower case with single blanks; None where nothing or something unprintable is left.

    >>> normal_name("Traffic  light ")
    'traffic light'
    """
    normal = " ".join(name.lower().split())
    return normal if normal and normal.isprintable() else None


def shown(value: object) -> str:
    """Return what a message shows of a value of any size."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = repr(value) if value is not None else "null"
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(slots=True)
class Checker:
    """Makes graphs of the raw ones of a file, which are in GQA's form: see ``vlgate.sources.scene_graphs.gqa``."""

    faults: Faults
    _seen: set[str] = field(default_factory=set)

    def graph(self, name: object, fields: Any, repeated: tuple[str, ...] = ()) -> SceneGraph | None:
        """Return a graph without a fault; None where it is left out as a whole.

        Raises: DataError where there is a fault and ``faults`` raises it, and for more than ``MOST_OBJECTS`` objects.
        """
        where = f"graph {shown(name)}"
        for key in repeated:
            self.faults.found(where, "a key a second time in one object", repr(key))
        if not self._may_be(name, where) or not isinstance(name, str):
            return None
        if type(fields) is not dict:
            self.faults.found(where, "a graph that is no object", shown(fields))
            return None
        objects = fields.get("objects")
        if type(objects) is not dict:
            wrong = shown(objects) if "objects" in fields else f"'objects' is missing ({nearest('objects', fields)})"
            self.faults.found(where, "no objects", wrong)
            return None
        if len(objects) > MOST_OBJECTS:
            problem = f"has {len(objects)} objects where at most {MOST_OBJECTS} are allowed"
            raise DataError(self.faults.file, where, problem, "split the graph, or leave objects out")
        size = self._side(fields, "width", where), self._side(fields, "height", where)
        made = {one: thing for one in objects if (thing := self._object(one, objects[one], size, where)) is not None}
        related = self._related(objects, made, where)
        return SceneGraph(
            id=name,
            objects={one: _with(thing, related[one]) for one, thing in made.items()},
            width=size[0],
            height=size[1],
            location=normal_name(location) or "" if type(location := fields.get("location")) is str else "",
            origin=f"{self.faults.file.name}, {where}",
        )

    def _may_be(self, name: object, where: str) -> bool:
        """Return whether a graph of that name may be; it is the name of a picture, which may lead nowhere else."""
        if type(name) is not str or not is_plain(name):
            self.faults.found(where, "no name of a picture", f"{shown(name)} where a plain relative path was expected")
            return False
        if name in self._seen:
            self.faults.found(where, "an id that an earlier graph has", "each picture has one graph")
            return False
        self._seen.add(name)
        return True

    def _side(self, fields: Mapping[str, Any], side: str, where: str) -> int | None:
        value = fields.get(side)
        if value is None or (type(value) is int and value > 0):
            return value
        self.faults.found(where, f"a {side} that is no integer above 0", shown(value))
        return None

    def _object(
        self, name_in_graph: str, fields: Any, size: tuple[int | None, int | None], graph: str
    ) -> SceneObject | None:
        where = f"{graph}, object {name_in_graph!r}"
        if type(fields) is not dict:
            self.faults.found(where, "an object that is no JSON object", shown(fields))
            return None
        name = self._name(fields.get("name"), where, "a name")
        box = None if name is None else self._box(fields, size, where)
        if name is None or box is None:
            return None
        return SceneObject(
            id=name_in_graph, name=name, box=box, attributes=self._attributes(fields.get("attributes", []), where)
        )

    def _name(self, name: Any, where: str, what: str) -> str | None:
        if type(name) is not str:
            self.faults.found(where, f"{what} that is no string", shown(name))
            return None
        normal = normal_name(name)
        if normal is None:
            self.faults.found(where, f"{what} that is empty or unprintable", shown(name))
        return normal

    def _attributes(self, given: Any, where: str) -> tuple[str, ...]:
        if type(given) is not list:
            self.faults.found(where, "attributes that are no list", shown(given))
            return ()
        names = [self._name(name, where, "an attribute") for name in given]
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def _box(self, fields: Mapping[str, Any], size: tuple[int | None, int | None], where: str) -> Box | None:
        try:
            x, y, w, h = fields["x"], fields["y"], fields["w"], fields["h"]
        except KeyError as error:
            if "box" in fields:  # of a user's own file
                self.faults.found(where, "a box that is not of four finite numbers", shown(fields["box"]))
                return None
            self.faults.found(where, "no box", f"{error.args[0]!r} is missing ({nearest(error.args[0], fields)})")
            return None
        numbers = {type(x), type(y), type(w), type(h)} <= {int, float}
        if not numbers or not math.isfinite(x + w) or not math.isfinite(y + h):
            self.faults.found(where, "a box that is not of four finite numbers", shown((x, y, w, h)))
            return None
        if w <= 0 or h <= 0:
            self.faults.found(where, "a box without an extent", f"w={w}, h={h}")
            return None
        left, top = _cut(x, w, size[0]), _cut(y, h, size[1])
        if left is None or top is None:
            extent = f"in a picture of {size[0]} x {size[1]}" if size != (None, None) else "where 0, 0 is the corner"
            self.faults.found(where, "a box outside the picture", f"x={x}, y={y}, w={w}, h={h} {extent}")
            return None
        return Box(x=left[0], y=top[0], w=left[1], h=top[1])

    def _related(self, objects: Mapping[str, Any], made: Mapping[str, SceneObject], graph: str) -> _Related:
        related: _Related = {}
        ordered = []
        for one in made:
            relations = related[one] = self._relations(one, objects[one].get("relations", []), objects, made, graph)
            ordered += [(one, name, other) for name, other in relations if name in ORDERS]
        closing = circles(ordered) if len(ordered) > 1 else {}
        for (one, name, other), things in closing.items():
            circle = " - ".join(f"{made[thing].name} {thing!r}" for thing in (*things, things[0]))
            while (name, other) in related[one]:
                related[one].remove((name, other))
                self.faults.found(f"{graph}, object {one!r}", "a relation that closes a circle", f"{name!r}, {circle}")
        return related

    def _relations(
        self, one: str, given: Any, objects: Mapping[str, Any], made: Mapping[str, SceneObject], graph: str
    ) -> list[tuple[str, str]]:
        where = f"{graph}, object {one!r}"
        if type(given) is not list:
            self.faults.found(where, "relations that are no list", shown(given))
            return []
        relations = []
        for relation in given:
            if type(relation) is not dict or type(relation.get("object")) is not str:
                self.faults.found(where, "a relation without an object's id", shown(relation))
                continue
            given_name, other = relation.get("name"), relation["object"]
            name = normal_name(given_name) if type(given_name) is str else None
            if name is None:
                self._name(given_name, where, "a relation")  # says what is wrong with it
                continue
            if other in made and other != one:
                relations.append((name, other))
            elif other == one:
                self.faults.found(where, "a relation to itself", repr(name))
            elif other in objects:
                self.faults.found(where, "a relation to an object that is left out", f"{name!r} to {other!r}")
            else:
                self.faults.found(where, "a relation to an object that the graph lacks", f"{name!r} to {shown(other)}")
        return relations


_Related = dict[str, list[tuple[str, str]]]


def _with(thing: SceneObject, relations: list[tuple[str, str]]) -> SceneObject:
    if not relations:
        return thing
    made = tuple(Relation(name=name, object=other) for name, other in relations)
    return SceneObject(id=thing.id, name=thing.name, box=thing.box, attributes=thing.attributes, relations=made)


def _cut(start: float, extent: float, side: int | None) -> tuple[float, float] | None:
    """Return where an interval starts within the picture and its extent there; None where it reaches too far out."""
    end = start + extent
    if start >= 0 and (side is None or end <= side):
        return float(start), float(extent)
    low, high = max(start, 0), end if side is None else min(end, side)
    beyond = max(-start, 0 if side is None else end - side)
    if high <= low or beyond > max(TOLERANCE_PIXELS, TOLERANCE * (extent if side is None else side)):
        return None
    return float(low), float(high - low)
