"""Checks scene graphs of any format, contradictions included: a fault is raised, or left out and counted."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import DataError, instead_of, nearest
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject
from vlgate.sources.reading.image_finder import is_plain

_FORWARD: Mapping[str, str] = {
    "on": "on|on top of|atop|sitting on|sitting on top of|standing on|lying on|lying on top of|parked on|resting on|"
    "mounted on",
    "above": "above",
    "in": "in|inside|inside of|within",
    "behind": "behind",
    "left": "to the left of|left of|on the left of",
    "wearing": "wearing|wears",
}
_BACKWARD: Mapping[str, str] = {
    "above": "below|under|underneath|beneath",
    "behind": "in front of",
    "left": "to the right of|right of|on the right of",
}

# The relations that put things in an order: the name of the order, and whether the first thing comes first in it.
# "above" and "under" are the same order in two directions; "on" is another, because a sign on a wall may be above it.
ORDERS: Mapping[str, tuple[str, bool]] = {
    name: (order, True) for order, names in _FORWARD.items() for name in names.split("|")
} | {name: (order, False) for order, names in _BACKWARD.items() for name in names.split("|")}


def circles(relations: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Find the relations that close a circle, such as a cup on a table that is on the cup.

    Relations are (thing, relation, other thing), in the graph's order. Returns the things of the circle that each
    relation to remove closes; without these relations there is no circle.

    >>> circles([("cup", "on", "table"), ("table", "on", "box"), ("box", "on top of", "cup")])
    {('box', 'on top of', 'cup'): ('cup', 'table', 'box')}
    """
    orders: dict[str, dict[str, dict[str, None]]] = {}
    edges: dict[tuple[str, str, str], tuple[str, str, str]] = {}
    for thing, name, other in relations:
        if name in ORDERS:
            order, forward = ORDERS[name]
            first, second = (thing, other) if forward else (other, thing)
            orders.setdefault(order, {}).setdefault(first, {})[second] = None
            edges[thing, name, other] = order, first, second
    closing = {(order, *edge): circle for order, after in orders.items() for edge, circle in _closing(after)}
    return {relation: closing[edge] for relation, edge in edges.items() if edge in closing}


# The search is depth first, without recursion, because a graph may have 10,000 objects.
def _closing(after: Mapping[str, Iterable[str]]) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    done: set[str] = set()
    for start in after:
        path = {} if start in done else {start: iter(after[start])}
        while path:
            here = next(reversed(path))
            other = next(path[here], None)
            if other is None:
                done.add(here)
                del path[here]
            elif other in path:
                things = list(path)
                yield (here, other), tuple(things[things.index(other) :])
            elif other not in done:
                path[other] = iter(after.get(other, ()))


Mode = Literal["fail", "leave out"]
SizeOf = Callable[[str], tuple[int, int] | None]  # the width and height of the image with a name, if they are known
Size = tuple[int | None, int | None]
_Related = dict[str, tuple[Relation, ...]]

MOST_OBJECTS = 10_000  # of a graph; GQA's largest graphs have about 130
# How far a box may reach beyond the image, as a share of the image's side, and in any case in pixels; the box is cut
# off at the edge. If the image's size is not given, the box's own side counts.
TOLERANCE, TOLERANCE_PIXELS = 0.1, 2.0
# How much the proportions of a graph's size may differ from those of its image, because a scaled image is rounded.
SCALED = 0.02


@dataclass(slots=True)
class Faults:
    file: Path
    mode: Mode  # in "fail" each fault is an error, in "leave out" it is counted by reason
    left_out: Counter[str]
    remedy: str = "correct it, or leave such parts out, and count them, with --faults leave-out"
    errors: list[DataError] | None = None  # if it is a list, it gets the error of each fault that is counted, too

    def found(self, where: str, reason: str, shown: str, counted: str = "") -> None:
        """Raise DataError for a fault, or count it by ``counted`` or ``reason``; the caller leaves the part out."""
        if self.mode == "fail":
            raise self.error(where, reason, shown)
        self.left_out[counted or reason] += 1
        if self.errors is not None:
            self.errors.append(self.error(where, reason, shown))

    def typed(self, value: Any, kind: type, where: str, reason: str) -> Any:
        """Return a value of a type; for one of another type report a fault, and return None."""
        if type(value) is kind:
            return value
        self.found(where, reason, shown(value))
        return None

    def error(self, where: str, reason: str, shown: str) -> DataError:
        return DataError(self.file, where, f"has {reason}: {shown}", self.remedy)

    def refuse_unknown(self, fields: Mapping[str, Any], known: Collection[str], where: str) -> None:
        for name in fields:
            if name not in known:
                which = f"{shown(name)} ({nearest(name, known)})"
                self.found(where, "an unknown field", which, counted=f"an unknown field {which}")


@lru_cache(maxsize=2**16)  # a release has a few thousand names, each about a thousand times
def normal_name(name: str) -> str | None:
    normal = " ".join(name.lower().split())
    return normal if normal and normal.isprintable() else None


def shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = repr(value) if value is not None else "null"
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(slots=True)
class Checker:
    faults: Faults
    size_of: SizeOf | None = None  # to compare a graph's size with that of its image
    _seen: set[str] = field(default_factory=set)

    def graph(self, name: object, fields: Any, repeated: tuple[str, ...] = ()) -> SceneGraph | None:
        where = f"graph {shown(name)}"
        for key in repeated:
            self.faults.found(where, "a repeated key in one object", repr(key))
        if not self._may_be(name, where) or not isinstance(name, str):
            return None
        if self.faults.typed(fields, dict, where, "a graph that is not an object") is None:
            return None
        objects = fields.get("objects")
        if type(objects) is not dict:
            wrong = shown(objects) if "objects" in fields else f"'objects' is missing ({instead_of('objects', fields)})"
            self.faults.found(where, "no objects", wrong)
            return None
        if len(objects) > MOST_OBJECTS:
            problem = f"has {len(objects)} objects, more than the {MOST_OBJECTS} that are allowed"
            raise DataError(self.faults.file, where, problem, "split the graph, or leave objects out")
        size = self._side(fields, "width", where), self._side(fields, "height", where)
        image = None if self.size_of is None else self.size_of(name)
        if image is not None and not _scaled(size, image):
            given = f"{size[0] or '?'} x {size[1] or '?'}, not {image[0]} x {image[1]}"
            self.faults.found(where, "a width or height that is not the image's", given)
            return None
        edge = image if image is not None and size == (None, None) else size
        made = {key: thing for key in objects if (thing := self._object(key, objects[key], edge, where)) is not None}
        related = self._related(objects, made, where)
        location = fields.get("location")
        complete = self.faults.typed(fields.get("complete", False), bool, where, "'complete' that is not true or false")
        return SceneGraph(
            id=name,
            objects=made | {key: replace(made[key], relations=links) for key, links in related.items() if links},
            width=size[0],
            height=size[1],
            location=normal_name(location) or "" if type(location) is str else "",
            complete=complete is True,
            origin=f"{self.faults.file.name}, {where}",
        )

    def _may_be(self, name: object, where: str) -> bool:
        if type(name) is not str or not is_plain(name):
            self.faults.found(where, "no valid image name", f"{shown(name)}, expected a plain relative path")
            return False
        if name in self._seen:
            self.faults.found(where, "an id that an earlier graph has", "each image has one graph")
            return False
        self._seen.add(name)
        return True

    def _side(self, fields: Mapping[str, Any], side: str, where: str) -> int | None:
        value = fields.get(side)
        if value is None or (type(value) is int and value > 0):
            return value
        self.faults.found(where, f"a {side} that is not an integer above 0", shown(value))
        return None

    def _object(self, key: str, fields: Any, size: Size, graph: str) -> SceneObject | None:
        where = f"{graph}, object {key!r}"
        if self.faults.typed(fields, dict, where, "an object that is not a JSON object") is None:
            return None
        name = self._name(fields.get("name"), where, "a name")
        box = None if name is None else self._box(fields, size, where)
        if name is None or box is None:
            return None
        given = self.faults.typed(fields.get("attributes", []), list, where, "attributes that are not a list")
        attributes = dict.fromkeys(self._name(attribute, where, "an attribute") for attribute in given or ())
        return SceneObject(
            id=key, name=name, box=box, attributes=tuple(attribute for attribute in attributes if attribute is not None)
        )

    def _name(self, name: Any, where: str, what: str) -> str | None:
        if self.faults.typed(name, str, where, f"{what} that is not a string") is None:
            return None
        normal = normal_name(name)
        if normal is None:
            self.faults.found(where, f"{what} that is empty or unprintable", shown(name))
        return normal

    def _box(self, fields: Mapping[str, Any], size: Size, where: str) -> Box | None:
        try:
            x, y, w, h = fields["x"], fields["y"], fields["w"], fields["h"]
        except KeyError as error:
            if "box" in fields:  # only graphs of a user's own file have it
                self.faults.found(where, "a box that is not of four finite numbers", shown(fields["box"]))
                return None
            self.faults.found(where, "no box", f"{error.args[0]!r} is missing ({instead_of(error.args[0], fields)})")
            return None
        # type() and not isinstance(), because true is an int in Python; the sums, because 1e308 + 1e308 is infinite.
        numbers = {type(x), type(y), type(w), type(h)} <= {int, float}
        if not numbers or not math.isfinite(x + w) or not math.isfinite(y + h):
            self.faults.found(where, "a box that is not of four finite numbers", shown((x, y, w, h)))
            return None
        if w <= 0 or h <= 0:
            self.faults.found(where, "a box without an extent", f"w={w}, h={h}")
            return None
        left, top = _cut(x, w, size[0]), _cut(y, h, size[1])
        if left is None or top is None:
            extent = f"in an image of {size[0]} x {size[1]}" if size != (None, None) else "in an image from 0, 0 on"
            self.faults.found(where, "a box outside the image", f"x={x}, y={y}, w={w}, h={h} {extent}")
            return None
        return Box(x=left[0], y=top[0], w=left[1], h=top[1])

    def _related(self, objects: Mapping[str, Any], made: Mapping[str, SceneObject], graph: str) -> _Related:
        related = {key: self._relations(key, objects, made, f"{graph}, object {key!r}") for key in made}
        ordered = [
            (key, *relation) for key, relations in related.items() for relation in relations if relation[0] in ORDERS
        ]
        closing = circles(ordered) if len(ordered) > 1 else {}  # one relation alone closes no circle
        for (key, name, other), things in closing.items():
            circle = " - ".join(f"{made[thing].name} {thing!r}" for thing in (*things, things[0]))
            while (name, other) in related[key]:
                related[key].remove((name, other))
                self.faults.found(f"{graph}, object {key!r}", "a relation that closes a circle", f"{name!r}, {circle}")
        return {key: tuple(Relation(name=name, object=to) for name, to in pairs) for key, pairs in related.items()}

    def _relations(
        self, key: str, objects: Mapping[str, Any], made: Mapping[str, SceneObject], where: str
    ) -> list[tuple[str, str]]:
        given = self.faults.typed(objects[key].get("relations", []), list, where, "relations that are not a list")
        relations: list[tuple[str, str]] = []
        for relation in given or ():
            if type(relation) is not dict or type(relation.get("object")) is not str:
                self.faults.found(where, "a relation without an object's id", shown(relation))
                continue
            other, name = relation["object"], self._name(relation.get("name"), where, "a relation's name")
            if name is None:
                continue
            if other in made and other != key:
                relations.append((name, other))
            elif other == key:
                self.faults.found(where, "a relation to itself", repr(name))
            elif other in objects:
                self.faults.found(where, "a relation to an object that is left out", f"{name!r} to {other!r}")
            else:
                self.faults.found(where, "a relation to an object that the graph lacks", f"{name!r} to {shown(other)}")
        return relations


def _scaled(given: Size, image: tuple[int, int]) -> bool:
    factors = [side / whole for side, whole in zip(given, image, strict=True) if side is not None]
    if len(factors) == 1:
        return factors == [1.0]
    return not factors or abs(factors[0] / factors[1] - 1) <= SCALED


def _cut(start: float, extent: float, side: int | None) -> tuple[float, float] | None:
    end = start + extent
    if start >= 0 and (side is None or end <= side):
        return float(start), float(extent)
    low, high = max(start, 0), end if side is None else min(end, side)
    beyond = max(-start, 0 if side is None else end - side)
    if high <= low or beyond > max(TOLERANCE_PIXELS, TOLERANCE * (extent if side is None else side)):
        return None
    return float(low), float(high - low)
