"""Faults of a graph: an error with place and remedy, or the smallest faulty part is left out and counted."""

import json
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from builders import json_table, tabled
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import DataError
from vlgate.sources.graphs.checks import MOST_OBJECTS, ORDERS, circles
from vlgate.sources.graphs.files import read_graphs

TABLES = Path(__file__).with_suffix(".tsv")

BOX = {"x": 10, "y": 10, "w": 20, "h": 20}
CUP = {"name": "cup", **BOX, "attributes": ["red"], "relations": [{"name": "on", "object": "2"}]}
TABLE = {"name": "table", **BOX, "attributes": [], "relations": []}
REMEDY = "; correct it, or leave such parts out, and count them, with --faults leave-out"


def write(folder, content):
    file = folder / "graphs.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def gqa(cup=None, table=None, **graph):
    objects = {"1": CUP if cup is None else cup, "2": table or TABLE}
    return {"7": {"width": 100, "height": 50, "objects": objects, **graph}}


def problem(folder, content):
    file = write(folder, content)
    with pytest.raises(DataError) as caught:
        list(read_graphs(file))
    message = str(caught.value)
    assert message.startswith(f"{file}, record ")
    assert message.endswith(REMEDY)
    return message.removeprefix(f"{file}, record ").removesuffix(REMEDY)


def kept(folder, content):
    """Return the graphs without their faulty parts, and the counts of what was left out."""
    left_out = Counter()
    found = list(read_graphs(write(folder, content), faults="leave out", left_out=left_out))
    for graph in found:
        for thing in graph.objects.values():
            assert all(link.object in graph.objects and link.object != thing.id for link in thing.relations)
    return found, dict(left_out)


@pytest.mark.parametrize(("cup", "reason", "said"), json_table(TABLES, "an_object"))
def test_an_object(tmp_path, cup, reason, said):
    table = TABLE | {"relations": [{"name": "near", "object": "1"}]}
    assert problem(tmp_path, gqa(cup, table)).startswith(f"graph '7', object '1': has {reason}: {said}")
    [graph], left_out = kept(tmp_path, gqa(cup, table))
    assert list(graph.objects) == ["2"]
    assert left_out == {reason: 1, "a relation to an object that is left out": 1}


@pytest.mark.parametrize(("attributes", "reason", "said"), json_table(TABLES, "attributes"))
def test_attributes(tmp_path, attributes, reason, said):
    cup = CUP | {"attributes": attributes}
    assert problem(tmp_path, gqa(cup)) == f"graph '7', object '1': has {reason}: {said}"
    more = ["small"] if isinstance(attributes, list) else []
    [graph], left_out = kept(tmp_path, gqa(CUP | {"attributes": attributes + more if more else attributes}))
    assert graph.objects["1"].attributes == tuple(more)
    assert left_out == {reason: 1}


@pytest.mark.parametrize(("relation", "reason", "said"), json_table(TABLES, "a_relation"))
def test_a_relation(tmp_path, relation, reason, said):
    cup = CUP | {"relations": [relation, {"name": "near", "object": "2"}]}
    assert problem(tmp_path, gqa(cup)) == f"graph '7', object '1': has {reason}: {said}"
    [graph], left_out = kept(tmp_path, gqa(cup))
    assert [link.name for link in graph.objects["1"].relations] == ["near"]
    assert left_out == {reason: 1}


@pytest.mark.parametrize("name", ["on", "inside", "under", "behind", "to the left of", "above"])
def test_relations_in_a_circle(tmp_path, name):
    things = {
        one: TABLE | {"name": thing, "relations": [{"name": name, "object": other}, {"name": "near", "object": other}]}
        for one, thing, other in (("a", "cup", "b"), ("b", "table", "c"), ("c", "box", "a"))
    }
    said = problem(tmp_path, gqa(objects=things))
    assert f"has a relation that closes a circle: {name!r}, " in said
    assert "cup 'a'" in said
    [graph], left_out = kept(tmp_path, gqa(objects=things))
    names = [link.name for thing in graph.objects.values() for link in thing.relations]
    assert sorted(names) == sorted([name] * 2 + ["near"] * 3)
    assert left_out == {"a relation that closes a circle": 1}


def test_a_repeated_relation_in_a_circle_is_left_out_twice_and_no_list_of_relations_is_a_fault(tmp_path):
    cup = CUP | {"relations": {"9": {"name": "on", "object": "2"}}}
    assert problem(tmp_path, gqa(cup)) == "graph '7', object '1': has relations that are not a list: an object of 1"
    back = {"name": "on", "object": "1"}
    [graph], left_out = kept(tmp_path, gqa(table=TABLE | {"relations": [back, back]}))
    assert [len(thing.relations) for thing in graph.objects.values()] == [1, 0]
    assert left_out == {"a relation that closes a circle": 2}


@pytest.mark.parametrize(("graph", "reason", "said"), json_table(TABLES, "a_graph"))
def test_a_graph(tmp_path, graph, reason, said):
    content = {"8": graph} | gqa()
    assert problem(tmp_path, content).startswith(f"graph '8': has {reason}: {said}")
    found, left_out = kept(tmp_path, content)
    assert [one.id for one in found] == ["7"]
    assert left_out == {reason: 1}


@pytest.mark.parametrize("name", ["../7", "/etc/7", "", "a\\b", "7\n"])
def test_a_name_that_leads_out_of_the_images(tmp_path, name):
    content = {name: gqa()["7"]}
    assert f"graph {name!r}: has no valid image name: {name!r}" in problem(tmp_path, content)
    assert kept(tmp_path, content) == ([], {"no valid image name": 1})


@pytest.mark.parametrize("width", [0, -5, 1.5, "100", True])
def test_an_invalid_size(tmp_path, width):
    assert "graph '7': has a width that is not an integer above 0: " in problem(tmp_path, gqa(width=width))
    [graph], left_out = kept(tmp_path, gqa(width=width))
    assert (graph.width, graph.height, len(graph.objects)) == (None, 50, 2)
    assert left_out == {"a width that is not an integer above 0": 1}


@tabled
def test_a_box_that_reaches_a_little_beyond_the_image_is_cut_off(tmp_path, x, w, expected):
    content = gqa(CUP | {"x": x, "w": w})
    if expected is None:
        assert "has a box outside the image" in problem(tmp_path, content)
    else:
        [graph] = read_graphs(write(tmp_path, content))
        assert (graph.objects["1"].box.x, graph.objects["1"].box.w) == expected


@pytest.mark.parametrize(("x", "w", "good"), [(-2, 5, True), (-3, 5, False), (-3, 30, True), (-4, 30, False)])
def test_without_the_size_the_box_itself_is_the_measure(tmp_path, x, w, good):
    [graph], left_out = kept(tmp_path, gqa(CUP | {"x": x, "w": w}, width=None, height=None))
    assert ("1" in graph.objects) == (not left_out) == good


def test_repeated_ids(tmp_path):
    one = json.dumps(gqa()["7"])
    assert problem(tmp_path, f'{{"7": {one}, "7": {one}}}').startswith("graph '7': has an id that an earlier graph has")
    cup, table = json.dumps(CUP), json.dumps(TABLE)
    content = f'{{"7": {{"objects": {{"1": {cup}, "2": {table}, "1": {table}}}}}}}'
    assert problem(tmp_path, content) == "graph '7': has a repeated key in one object: '1'"
    [graph], left_out = kept(tmp_path, content)
    assert [thing.name for thing in graph.objects.values()] == ["cup", "table"]
    assert left_out == {"a repeated key in one object": 1}


def test_too_many_objects_are_refused_and_what_is_left_out_is_counted(tmp_path):
    file = write(tmp_path, gqa(objects={str(number): TABLE for number in range(MOST_OBJECTS + 1)}))
    with pytest.raises(DataError, match=r"graphs\.json, record graph '7': has 10001 objects.* 10000 "):
        list(read_graphs(file, faults="leave out", left_out=Counter()))
    with pytest.raises(ValueError, match="left_out=None: expected a Counter"):
        read_graphs(write(tmp_path, gqa()), faults="leave out")
    with pytest.raises(ValueError, match="faults='ignore': expected 'fail' or 'leave out'"):
        read_graphs(write(tmp_path, gqa()), faults="ignore")


def vg(**thing):
    link = {"predicate": "on", "subject_id": 1, "object_id": 2}
    things = [{"object_id": one, "names": ["cup"], **BOX} for one in (1, 2)]
    return {"image_id": 7, "objects": [things[0] | thing, things[1]], "relationships": [link]}


@pytest.mark.parametrize(("graph", "reason"), json_table(TABLES, "visual_genome"))
def test_visual_genome(tmp_path, graph, reason):
    assert f"has {reason}: " in problem(tmp_path, [graph])
    found, left_out = kept(tmp_path, [graph, vg() | {"image_id": 8}])
    assert [one.id for one in found][-1] == "8"
    assert left_out[reason] == 1


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
def test_symmetric_relations_and_different_orders_close_no_circle(name):
    assert circles([("sign", "on", "wall"), ("wall", "under", "sign"), ("wall", "behind", "sign")]) == {}
    assert circles([("a", name, "b"), ("b", name, "a")]) == {}


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
