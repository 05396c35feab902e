"""Finds relations that contradict each other, such as a cup on a table that is on the cup."""

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
"""The relations that put things in an order: the name of the order, and whether the first thing comes first in it.

"above" and "under" are the same order in two directions; "on" is another, because a sign on a wall may be above it.
"""


def circles(relations: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Find the relations that close a circle; relations are (thing, relation, other thing), in the graph's order.

    Returns: for each relation to remove, the things of the circle that it closes. Without these relations there is no
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
    closing = {(order, *edge): circle for order, after in orders.items() for edge, circle in _closing(after)}
    found = {one: closing.get(_edge(*one)) for one in relations if one[1] in ORDERS} if closing else {}
    return {one: circle for one, circle in found.items() if circle is not None}


def _edge(thing: str, name: str, other: str) -> tuple[str, str, str]:
    order, forward = ORDERS[name]
    return (order, thing, other) if forward else (order, other, thing)


def _closing(after: Mapping[str, Iterable[str]]) -> Iterator[tuple[Edge, tuple[str, ...]]]:
    """Yield the edges that lead back to a thing on the current path, with the things of the circle.

    The search is depth first, without recursion, because a graph may have 10,000 objects.
    """
    done: set[str] = set()
    for start in after:
        if start in done:
            continue
        path = {start: iter(after[start])}
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
