"""Good files of each format, and what is normalised in them."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import DataError
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject
from vlgate.sources.graphs import formats
from vlgate.sources.graphs.files import read_graphs, read_words, unknown_names
from vlgate.sources.graphs.generated import find_graphs

REAL = Path(__file__).parents[4] / "shared/data/scene-graphs"

CUP = {"name": "cup", "x": 30, "y": 200.5, "w": 80, "h": 90, "attributes": ["red"]}
CUP["relations"] = [{"name": "on", "object": "2"}]
TABLE = {"name": "table", "x": 0, "y": 280, "w": 640, "h": 200, "attributes": [], "relations": []}
GQA = {"2407890": {"width": 640, "height": 480, "location": "kitchen", "objects": {"1": CUP, "2": TABLE}}}
ON = Relation(name="on", object="2")
OBJECTS = {
    "1": SceneObject(id="1", name="cup", box=Box(x=30, y=200.5, w=80, h=90), attributes=("red",), relations=(ON,)),
    "2": SceneObject(id="2", name="table", box=Box(x=0, y=280, w=640, h=200)),
}
GRAPH = SceneGraph(id="2407890", width=640, height=480, location="kitchen", objects=OBJECTS)


def write(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def vg(**more):
    things = [
        {"object_id": 1, "names": ["Cup ", "mug"], "synsets": [], "attributes": [" Red"], **CUP} | {"relations": 0},
        {"object_id": 2, "names": ["TABLE"], "merged_object_ids": [7], "x": 0, "y": 280, "w": 640, "h": 200},
    ]
    for thing in things:
        thing.pop("name", None)
        thing.pop("relations", None)
    link = {"predicate": "ON", "relationship_id": 9, "subject_id": 1, "object_id": 7, "synsets": []}
    return {"image_id": 2407890, "objects": things, "relationships": [link], **more}


def as_own(graph):
    def thing(one):
        box = [one.box.x, one.box.y, one.box.w, one.box.h]
        relations = [{"name": link.name, "object": link.object} for link in one.relations]
        return {"id": one.id, "name": one.name, "box": box, "attributes": one.attributes, "relations": relations}

    size = {side: getattr(graph, side) for side in ("width", "height") if getattr(graph, side) is not None}
    return {"image": graph.id, **size, "location": graph.location, "objects": [*map(thing, graph.objects.values())]}


def as_gqa(graph):
    objects = {}
    for thing in as_own(graph)["objects"]:
        box = dict(zip("xywh", thing.pop("box"), strict=True))
        objects[thing.pop("id")] = thing | box
    return {"width": graph.width, "height": graph.height, "location": graph.location, "objects": objects}


def test_gqa_with_names_that_are_normalised_and_each_attribute_once(tmp_path):
    [graph] = read_graphs(write(tmp_path / "val_sceneGraphs.json", GQA))
    assert graph == GRAPH
    assert graph.origin == "val_sceneGraphs.json, graph '2407890'"
    assert list(graph.objects) == ["1", "2"]
    assert unknown_names([graph] * 2, {"cup"}.__contains__) == Counter(table=2)
    cup = CUP | {"name": " Coffee  CUP", "attributes": ["Red", " red", "Light  Blue"], "relations": []}
    [graph] = read_graphs(write(tmp_path / "val.json", {"1": {"objects": {"1": cup}}}))
    assert graph.objects["1"].name == "coffee cup"
    assert graph.objects["1"].attributes == ("red", "light blue")


def test_visual_genome_in_one_file(tmp_path):
    [graph] = read_graphs(write(tmp_path / "scene_graphs.json", [vg(width=640, height=480)]))
    assert graph.objects == GRAPH.objects
    assert (graph.id, graph.width, graph.height, graph.location) == ("2407890", 640, 480, "")
    [graph] = read_graphs(write(tmp_path / "scene_graphs.json", [vg()]))
    assert (graph.width, graph.height) == (None, None)


def release(folder, **files):
    whole = vg()
    second = {"image_id": 5, "objects": [], "attributes": [], "relationships": [], "width": 9, "height": 9}
    attributes = [{"object_id": 1, "names": ["cup"], "attributes": [" Red"]}, {"object_id": 2, "names": ["table"]}]
    link = {"predicate": "ON", "subject": {"object_id": 1, "name": "cup"}, "object": {"object_id": 7}}
    objects = [{key: value for key, value in thing.items() if key != "attributes"} for thing in whole["objects"]]
    content = {
        "objects": [{"image_id": 2407890, "objects": objects, "image_url": "u"}, {"image_id": 5, "objects": []}],
        "attributes": [{"image_id": 2407890, "attributes": attributes}, second],
        "relationships": [{"image_id": 2407890, "relationships": [link]}, second],
        "image_data": [{"image_id": 2407890, "width": 640, "height": 480, "url": "u", "coco_id": None}, second],
    }
    for name, records in (content | files).items():
        if records is not None:
            write(folder / f"{name}.json", records)
    return folder / "objects.json"


def test_visual_genome_in_several_files(tmp_path):
    first, second = read_graphs(release(tmp_path))
    assert first.objects == GRAPH.objects
    assert (first.id, first.width, first.height) == ("2407890", 640, 480)
    assert (second.id, second.width, dict(second.objects)) == ("5", 9, {})


@pytest.mark.parametrize("name", ["attributes", "relationships"])
def test_a_file_of_the_release_is_missing_but_that_of_sizes_is_optional(tmp_path, name):
    first, _ = read_graphs(release(tmp_path, image_data=None))
    assert (first.width, first.objects) == (None, GRAPH.objects)
    (tmp_path / f"{name}.json").unlink()
    with pytest.raises(DataError, match=rf"objects\.json: .*there is no {name}\.json beside it"):
        list(read_graphs(release(tmp_path, **{name: None}), faults="leave out", left_out=Counter()))


@pytest.mark.parametrize("name", ["attributes", "relationships", "image_data"])
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ((5, 2407890), "image '5' is in place 1, but objects.json has image '2407890'"),
        ((2407890,), "image None is in place 2, but objects.json has image '5'"),
        ((2407890, 5, 6), "image '6' is in place 3, but objects.json has image None"),
    ],
)
def test_the_files_of_the_release_are_out_of_step(tmp_path, name, ids, said):
    records = [{"image_id": id_, "attributes": [], "relationships": [], "width": 640, "height": 480} for id_ in ids]
    with pytest.raises(DataError) as caught:
        list(read_graphs(release(tmp_path, **{name: records}), faults="leave out", left_out=Counter()))
    assert str(caught.value).startswith(f"{tmp_path / name}.json: {said} there; ")


def test_own_also_in_lines(tmp_path):
    [graph] = read_graphs(write(tmp_path / "own.json", {"graphs": [as_own(GRAPH)]}))
    assert graph == GRAPH
    lines = [json.dumps(as_own(GRAPH)), "", json.dumps({"image": "b/2.jpg", "objects": []}), ""]
    first, second = read_graphs(write(tmp_path / "own.jsonl", "\n".join(lines)))
    assert (first, second.id) == (GRAPH, "b/2.jpg")


def test_the_example_of_the_documentation(tmp_path):
    example = formats.__doc__.partition("::\n")[2].partition("\n\n``image``")[0]
    file = write(tmp_path / "own.json", example)
    [graph] = read_graphs(file)
    assert (graph.id, graph.location, len(graph.objects)) == ("photos/1.jpg", "kitchen", 3)
    assert graph.objects["1"].relations[1] == Relation(name="to the left of", object="3")
    words = read_words(file)
    assert words["nouns"] == ({"name": "robot arm", "number": "singular", "parents": ("device",)},)
    assert [word["name"] for kind in ("attributes", "relations") for word in words[kind]] == ["moving", "welded to"]


def test_words_with_required_fields_only_and_other_files_have_none(tmp_path):
    words = {"nouns": [{"name": "gizmo"}], "attributes": [{"name": "odd"}]}
    found = read_words(write(tmp_path / "own.json", {"words": words, "graphs": []}))
    assert found["nouns"] == ({"name": "gizmo", "number": "singular", "parents": ()},)
    assert found["attributes"] == ({"name": "odd", "category": "", "before": True, "after": "", "rank": 4},)
    assert found["relations"] == ()
    assert read_words(write(tmp_path / "val.json", GQA)) == {}
    assert read_words(write(tmp_path / "own.json", {"graphs": [as_own(GRAPH)]})) == {}


NAMES = st.sampled_from(("cup", "traffic light", "éclair", "人", "tee-shirt"))
IDS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=6)
SIDES = st.integers(1, 2000)


@st.composite
def graphs(draw):
    width, height = draw(st.tuples(SIDES, SIDES) | st.tuples(st.none(), st.none()))
    ids = draw(st.lists(IDS, max_size=5, unique=True))
    objects = {}
    for place, id_ in enumerate(ids):
        x, y = draw(st.integers(0, (width or 900) - 1)), draw(st.integers(0, (height or 900) - 1))
        w, h = (draw(st.floats(0.5, (side or 900) - at)) for at, side in ((x, width), (y, height)))
        links = [(draw(st.sampled_from(("on", "near", "to the left of"))), other) for other in ids[place + 1 :]]
        objects[id_] = SceneObject(
            id=id_,
            name=draw(NAMES),
            box=Box(x=x, y=y, w=w, h=h),
            attributes=tuple(draw(st.lists(NAMES, max_size=3, unique=True))),
            relations=tuple(Relation(name=name, object=other) for name, other in links),
        )
    place = draw(st.sampled_from(("", "kitchen")))
    return SceneGraph(id=draw(IDS), objects=objects, width=width, height=height, location=place)


MANY = st.lists(graphs(), min_size=1, max_size=4, unique_by=lambda graph: graph.id)


@given(MANY)
def test_what_is_written_as_gqa_is_read(tmp_path_factory, many):
    file = write(tmp_path_factory.getbasetemp() / "gqa.json", {graph.id: as_gqa(graph) for graph in many})
    assert list(read_graphs(file)) == many
    assert [list(graph.objects) for graph in read_graphs(file)] == [list(graph.objects) for graph in many]


@pytest.mark.slow
@given(MANY, st.booleans())
def test_what_is_written_as_own_json_is_read(tmp_path_factory, many, lines):
    written = [as_own(graph) for graph in many]
    content = "\n".join(map(json.dumps, written)) if lines else {"words": {}, "graphs": written}
    assert list(read_graphs(write(tmp_path_factory.getbasetemp() / "own.json", content))) == many


def test_a_file_of_many_pieces_is_read_like_a_small_one(tmp_path):
    content = {str(number): GQA["2407890"] for number in range(4000)}
    found = list(read_graphs(write(tmp_path / "train_sceneGraphs.json", content)))
    assert [graph.id for graph in found] == list(content)
    assert all(graph.objects == GRAPH.objects for graph in found)


def test_a_byte_order_mark_and_pairs_of_surrogates_are_allowed(tmp_path):
    content = "\ufeff" + json.dumps({"1": {"objects": {"1": CUP | {"name": "\U0001f41f \\ud800", "relations": []}}}})
    assert "\\ud83d\\udc1f \\\\ud800" in content
    [graph] = read_graphs(write(tmp_path / "val.json", content))
    assert graph.objects["1"].name == "\U0001f41f \\ud800"


def test_find_graphs(tmp_path):
    names = ["scene-graphs/b.json", "scene-graphs/a.jsonl", "gqa/val_sceneGraphs.json", "gqa/sceneGraphs/train.json"]
    wanted = [write(tmp_path / "1" / name, "") for name in [*names, "vg/scene_graphs.json"]]
    for name in ("scene-graphs/deep/c", "gqa/questions", "vg/objects", "scene-graphs/vg_attribute_synsets"):
        write(tmp_path / "1" / f"{name}.json", "")
    apart = write(tmp_path / "2/vg/objects.json", "")
    (tmp_path / "link").symlink_to(tmp_path / "1")
    assert find_graphs([tmp_path / "1", tmp_path / "2", tmp_path / "link"]) == [*wanted, apart]


def real(name):
    if not (REAL / name).is_file():
        pytest.skip(f"{REAL / name} is not there")
    return REAL / name


def test_ten_images_of_visual_genome_have_no_fault_and_a_hundred_records_are_of_44_images():
    found = list(read_graphs(real("vg_scene_graphs_1-10.json")))
    assert [graph.id for graph in found] == [str(number) for number in range(1, 11)]
    assert sum(len(graph.objects) for graph in found) == 376
    assert sum(len(thing.relations) for graph in found for thing in graph.objects.values()) == 423
    file = real("vg_scene_graphs_100.json")
    with pytest.raises(DataError, match=r"_100\.json, record graph '107910': has an id that an earlier graph has"):
        list(read_graphs(file))
    runs = []
    for _ in range(2):
        left_out = Counter()
        runs.append((list(read_graphs(file, faults="leave out", left_out=left_out)), left_out))
    assert runs[0] == runs[1]
    assert len(runs[0][0]) == 44
    assert runs[0][1] == {"an id that an earlier graph has": 56}


def test_a_graph_is_complete_only_if_its_file_says_so(tmp_path):
    objects = {"1": CUP | {"relations": []}}
    graphs = {"1": {"objects": objects}, "2": {"objects": objects, "complete": True}}
    found = read_graphs(write(tmp_path / "val.json", graphs))
    assert [graph.complete for graph in found] == [False, True]
    with pytest.raises(DataError, match="'complete' that is not true or false"):
        list(read_graphs(write(tmp_path / "wrong.json", {"1": {"objects": objects, "complete": "yes"}})))
