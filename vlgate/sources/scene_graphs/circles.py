"""Relations that contradict each other: a cup on a table that is on the cup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

Edge = tuple[str, str]

_ON: tuple[str, ...] = (
    "on",
    "on top of",
    "atop",
    "sitting on",
    "sitting on top of",
    "standing on",
    "lying on",
    "lying on top of",
)
_ON += ("parked on", "resting on", "mounted on")
_FORWARD: Mapping[str, tuple[str, ...]] = {
    "on": _ON,
    "above": ("above",),
    "in": ("in", "inside", "inside of", "within"),
    "behind": ("behind",),
    "left": ("to the left of", "left of", "on the left of"),
    "wearing": ("wearing", "wears"),
}
_BACKWARD: Mapping[str, tuple[str, ...]] = {
    "above": ("below", "under", "underneath", "beneath"),
    "behind": ("in front of",),
    "left": ("to the right of", "right of", "on the right of"),
}

ORDERS: Mapping[str, tuple[str, bool]] = MappingProxyType(
    {name: (order, True) for order, names in _FORWARD.items() for name in names}
    | {name: (order, False) for order, names in _BACKWARD.items() for name in names},
)
"""For each relation that sets things in an order: the order, and whether the first thing comes first in it.

"above" and "under" are one order, told from its two ends; "on" is another, since a sign on a wall may be above it.
"""


def circles(relations: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Find the relations that close a circle of an order: (thing, relation, other thing), in the order of the graph.

    Returns: for each relation that would have to go, the things of the circle that it closes. Without them there is no
    circle. The same relations in the same order give the same result.

    >>> circles([("cup", "on", "table"), ("table", "on", "box"), ("box", "on top of", "cup")])
    {('box', 'on top of', 'cup'): ('cup', 'table', 'box')}
    >>> circles([("cup", "above", "table"), ("table", "under", "cup")])
    {}
    """
    orders: dict[str, dict[str, dict[str, None]]] = {}
    for thing, name, other in relations:
        if name in ORDERS:
            order, forward = ORDERS[name]
            first, second = (thing, other) if forward else (other, thing)
            after = orders.setdefault(order, {})
            if first in after:
                after[first][second] = None
            else:
                after[first] = {second: None}
    closing = {(order, *edge): way for order, after in orders.items() for edge, way in _closing(after)}
    found = {one: closing.get(_edge(*one)) for one in relations if one[1] in ORDERS} if closing else {}
    return {one: way for one, way in found.items() if way is not None}


def _edge(thing: str, name: str, other: str) -> tuple[str, str, str]:
    order, forward = ORDERS[name]
    return (order, thing, other) if forward else (order, other, thing)


def _closing(after: Mapping[str, Iterable[str]]) -> Iterator[tuple[Edge, tuple[str, ...]]]:
    """Yield the edges that lead back to a thing on the way to them, with that way (depth first, without recursion)."""
    done: set[str] = set()
    for start in after:
        if start in done:
            continue
        way = {start: iter(after[start])}
        while way:
            here = next(reversed(way))
            other = next(way[here], None)
            if other is None:
                done.add(here)
                del way[here]
            elif other in way:
                things = list(way)
                yield (here, other), tuple(things[things.index(other) :])
            elif other not in done:
                way[other] = iter(after.get(other, ()))
