"""Relations that contradict each other."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.sources.graphs.checks import ORDERS, circles


@pytest.mark.parametrize("name", ["on", "above", "to the left of", "inside", "under", "behind", "in front of", "in"])
def test_two_and_three_things_in_a_circle(name):
    assert circles([("a", name, "b"), ("b", name, "a")])
    assert circles([("a", name, "b"), ("b", name, "c"), ("c", name, "a")])
    assert not circles([("a", name, "b"), ("b", name, "c"), ("a", name, "c")])
    assert circles([("a", name, "b"), ("a", name, "c"), ("a", name, "d"), ("c", name, "a")])


@pytest.mark.parametrize(
    ("one", "other"), [("above", "under"), ("behind", "in front of"), ("to the left of", "to the right of")]
)
def test_the_two_ends_of_one_order(one, other):
    assert not circles([("a", one, "b"), ("b", other, "a")])
    assert circles([("a", one, "b"), ("a", other, "b")]) == {("a", other, "b"): ("a", "b")}


@pytest.mark.parametrize("name", ["near", "next to", "holding", "touching"])
def test_symmetric_relations_close_no_circle(name):
    assert circles([("a", name, "b"), ("b", name, "a")]) == {}


def test_different_orders_close_no_circle():
    assert circles([("sign", "on", "wall"), ("wall", "under", "sign"), ("wall", "behind", "sign")]) == {}


def test_a_long_chain_needs_no_recursion():
    chain = [(str(number), "on", str(number + 1)) for number in range(20_000)]
    assert circles(chain) == {}
    closing = ("20000", "on", "0")
    assert list(circles([*chain, closing])) == [closing]


def test_a_thing_that_many_paths_lead_to_is_visited_once():
    """There are 2**60 paths through this ladder."""
    steps = [(f"{side}{rung}", "on", f"{to}{rung + 1}") for rung in range(60) for side in "lr" for to in "lr"]
    assert circles(steps) == {}


def without_circles(links):
    for order in {order for order, _ in ORDERS.values()}:
        sorter = TopologicalSorter()
        for one, name, other in links:
            if ORDERS.get(name, ("", True))[0] == order:
                sorter.add(*((one, other) if ORDERS[name][1] else (other, one)))
        try:
            sorter.prepare()
        except CycleError:
            return False
    return True


THINGS = st.sampled_from("abcde")
NAMES = st.sampled_from(("on", "above", "under", "near", "behind"))
LINKS = st.lists(st.tuples(THINGS, NAMES, THINGS).filter(lambda link: link[0] != link[2]), max_size=30)


@given(LINKS)
def test_without_the_relations_found_there_is_no_circle_and_without_a_circle_none_is_found(links):
    found = circles(links)
    assert without_circles([link for link in links if link not in found])
    assert bool(found) != without_circles(links)
    assert circles(links) == found
