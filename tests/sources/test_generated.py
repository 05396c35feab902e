"""The tables that are made from scene graphs in the data folders: which graphs, which pictures, what is left out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vlgate.errors import DataError, MissingPictureError
from vlgate.fixtures.scenes.scene_graphs import as_gqa, picture_of, world_graphs
from vlgate.options import Options
from vlgate.perturb.questions import BEYOND
from vlgate.perturb.questions import TESTS as OF_CARETS
from vlgate.planning import make_plan
from vlgate.sources.annotated import ENOUGH
from vlgate.sources.generated import SHAPES, read
from vlgate.sources.registry import shapes
from vlgate.types import Reading

TESTS = (*OF_CARETS, *BEYOND)
REAL = Path(__file__).parents[3] / "shared/data"
GRAPHS = world_graphs(6, 50)


def reading(folder, wanted=lambda _: True, pairs=24, seed=0):
    return Reading(folders=(folder,), seed=seed, wanted=wanted, pairs=pairs)


def tables(*given, **kwargs):
    return {table.id.partition("/")[2]: table for table in read(reading(*given, **kwargs))}


def own(graph, image):
    """A graph in a user's own format."""
    objects = [
        {
            "id": thing.id,
            "name": thing.name,
            "box": [thing.box.x, thing.box.y, thing.box.w, thing.box.h],
            "attributes": list(thing.attributes),
            "relations": [{"name": one.name, "object": one.object} for one in thing.relations],
        }
        for thing in graph.objects.values()
    ]
    return {"image": image, "width": graph.width, "height": graph.height, "objects": objects}


@pytest.fixture
def folder(tmp_path):
    """A data folder with graphs in GQA's format, as "7000" and so on, and no picture."""
    (tmp_path / "gqa").mkdir()
    content = {str(7000 + place): as_gqa(graph) for place, graph in enumerate(GRAPHS)}
    (tmp_path / "gqa" / "train_sceneGraphs.json").write_text(json.dumps(content))
    return tmp_path


def put_pictures(folder, number, place="images/gqa", suffix=".jpg", first=7000):
    (folder / place).mkdir(parents=True, exist_ok=True)
    image = picture_of(GRAPHS[0]).image()
    for name in range(first, first + number):
        image.save(folder / place / f"{name}{suffix}")


def pictures_of(table):
    return {request.picture for case in table.cases for request in case.requests}


def keys_of(table):
    return {picture.key.partition("#")[0] for picture in pictures_of(table)}


def test_the_tables_are_the_six_tests():
    assert {f"scene-graphs/{test}" for test in TESTS} == set(SHAPES)
    assert set(SHAPES) <= set(shapes())
    assert set(SHAPES.values()) == {"questions"}


def test_without_graphs_there_are_no_tables(tmp_path):
    assert tables(tmp_path) == {}
    assert list(read(Reading(folders=(), seed=0, wanted=lambda _: True))) == []


def test_each_table_has_as_many_questions_as_were_asked_for(folder):
    for pairs in (12, 24):
        found = tables(folder, pairs=pairs)
        assert set(found) == set(TESTS)
        assert {name: len(table.cases) for name, table in found.items()} == {
            name: pairs * (5 if name == "visual-inv" else 1) for name in TESTS
        }


def test_only_what_is_wanted_is_made(folder, monkeypatch):
    only = tables(folder, wanted=lambda name: name == "scene-graphs/order-inv")
    assert list(only) == ["order-inv"]
    assert only["order-inv"] == tables(folder)["order-inv"]
    monkeypatch.setattr("vlgate.sources.annotated.read_graphs", lambda *_, **__: pytest.fail("read a file"))
    assert tables(folder, wanted=lambda _: False) == {}


def test_the_seed_decides(folder):
    assert tables(folder) == tables(folder)
    first, second = (tables(folder, seed=seed) for seed in (0, 1))
    assert all(first[test].cases != second[test].cases for test in TESTS)


def test_every_process_makes_the_same_plan(folder):
    code = (
        "import sys; from pathlib import Path\n"
        "from vlgate.options import Options; from vlgate.planning import make_plan\n"
        "plan = make_plan(Options(folder=Path(), data=(Path(sys.argv[1]),), pairs=12, limit=9, thresholds=Path(),"
        " results=Path()))\nprint([(name, batch.cases) for name, batch in plan.batches.items()])"
    )
    seen = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(folder)]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
        seen.add(ended.stdout)
    assert len(seen) == 1
    assert "scene-graphs/order-inv" in seen.pop()


def test_pictures_are_found_by_their_number(folder):
    put_pictures(folder, len(GRAPHS))
    found = tables(folder)
    for test in set(OF_CARETS) - {"visual-inv"}:
        assert all(picture.where == f"{folder}/images/gqa/{picture.key}.jpg" for picture in pictures_of(found[test]))
    assert found["order-inv"].note == "made from 50 of 50 scene graphs, those whose pictures are there"


def test_only_the_graphs_whose_pictures_are_there_are_asked_about(folder):
    put_pictures(folder, 30)
    for table in tables(folder).values():
        assert keys_of(table) <= {str(name) for name in range(7000, 7030)}
        assert table.note == "made from 30 of 50 scene graphs, those whose pictures are there"


@pytest.mark.parametrize("there", [0, 3])
def test_with_few_pictures_all_graphs_are_asked_about(folder, there):
    put_pictures(folder, there)
    table = tables(folder)["negation-dir"]
    assert len(keys_of(table)) > there + 5
    assert table.note == f"made from all 50 scene graphs; the pictures of {there} are there"
    gone = next(picture for picture in pictures_of(table) if not picture.where)
    with pytest.raises(MissingPictureError, match=r"images/gqa.*--missing-images skip"):
        gone.image()


def test_so_many_pictures_are_enough_whatever_the_number_of_graphs(tmp_path):
    (tmp_path / "gqa").mkdir()
    content = {str(7000 + place): as_gqa(GRAPHS[place % len(GRAPHS)]) for place in range(5 * ENOUGH)}
    (tmp_path / "gqa" / "val_sceneGraphs.json").write_text(json.dumps(content))
    (tmp_path / "images/vg").mkdir(parents=True)
    for place in range(ENOUGH):
        (tmp_path / f"images/vg/{7000 + place}.jpg").touch()
    note = tables(tmp_path, wanted=lambda name: name == "scene-graphs/order-inv")["order-inv"].note
    assert note == f"made from {ENOUGH} of {5 * ENOUGH} scene graphs, those whose pictures are there"


def test_a_users_own_pictures_are_found_by_their_paths_only(tmp_path):
    (tmp_path / "scene-graphs").mkdir()
    content = {"graphs": [own(graph, f"mine/{7000 + place}.png") for place, graph in enumerate(GRAPHS)]}
    (tmp_path / "scene-graphs" / "mine.json").write_text(json.dumps(content))
    put_pictures(tmp_path, 50, "images/vg")
    assert not any(picture.where for picture in pictures_of(tables(tmp_path)["order-inv"]))
    put_pictures(tmp_path, 50, "mine", ".png")
    found = pictures_of(tables(tmp_path)["order-inv"])
    assert {picture.where for picture in found} == {f"{tmp_path}/{picture.key}" for picture in found}
    assert tables(tmp_path)["order-inv"].cases[0].origin.startswith("mine.json, graph 'mine/70")


def test_a_twin_of_another_size_is_not_taken_for_a_graph_without_a_size(tmp_path):
    (tmp_path / "vg").mkdir()
    (tmp_path / "images/coco").mkdir(parents=True)
    (tmp_path / "images/coco_to_vg_ids.json").write_text(json.dumps({str(name): [7000 + name] for name in range(50)}))
    put_pictures(tmp_path, 50, "images/coco", first=0)
    put_pictures(tmp_path, 30, "images/vg")

    def listed(**size):
        content = [
            {
                "image_id": 7000 + place,
                **size,
                "objects": [
                    {
                        "object_id": int(thing.id),
                        "names": [thing.name],
                        **{side: getattr(thing.box, side) for side in "xywh"},
                    }
                    for thing in graph.objects.values()
                ],
                "relationships": [],
            }
            for place, graph in enumerate(GRAPHS)
        ]
        (tmp_path / "vg" / "scene_graphs.json").write_text(json.dumps(content))
        return tables(tmp_path)["negation-dir"]

    without = listed()
    assert keys_of(without) <= {str(name) for name in range(7000, 7030)}
    assert next(number for reason, number in without.left_out.items() if "twin" in reason) == 20
    sized = listed(width=400, height=300)
    assert sized.note == "made from 50 of 50 scene graphs, those whose pictures are there"
    assert not any("twin" in reason for reason in sized.left_out)


def test_faulty_graphs_are_left_out_and_counted(folder):
    file = folder / "gqa" / "train_sceneGraphs.json"
    content = json.loads(file.read_text())
    del content["7001"]["objects"]
    content["7002"]["objects"]["0"]["w"] = 0
    content["7003"]["objects"]["0"]["name"] = "zorbot"
    file.write_text(json.dumps(content))
    for table in tables(folder).values():
        assert "7001" not in keys_of(table)
        assert table.left_out["no objects"] == 1
        assert table.left_out["a box without an extent"] == 1
        assert table.left_out["object whose name the ontology does not know"] == 1
        assert table.left_out["object under 32 pixels"] > 0


def test_a_picture_that_two_files_annotate_counts_once(folder):
    content = json.loads((folder / "gqa" / "train_sceneGraphs.json").read_text())
    (folder / "gqa" / "val_sceneGraphs.json").write_text(json.dumps(content))
    table = tables(folder)["order-inv"]
    assert table.left_out["graph of a picture that an earlier file has"] == 50
    assert table.cases == tables(folder)["order-inv"].cases


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"1": {"objects": {', "train_sceneGraphs.json"),
        ("", "train_sceneGraphs.json"),
        ('{"1": {"objects": {}}}', "none has an object that can be asked about"),
        (
            '{"1": {"objects": {"1": {"name": "zorbot", "x": 0, "y": 0, "w": 90, "h": 90}}}}',
            "or add the names as words",
        ),
        ('{"1": {"objects": {"1": {"name": "bench", "x": 0, "y": 0, "w": 90, "h": 90}}}}', "give no question of"),
        (
            '{"1": {"objects": {"1": {"name": "bench", "x": 0, "y": 0, "w": 0, "h": 90}}}}',
            "1 x a box without an extent",
        ),
    ],
)
def test_files_that_give_nothing_to_ask_are_an_error(folder, content, says):
    (folder / "gqa" / "train_sceneGraphs.json").write_text(content)
    with pytest.raises(DataError, match=r"train_sceneGraphs\.json.*; ") as raised:
        tables(folder, wanted=lambda name: "occlusion" not in name)  # which one graph is enough for
    assert says in str(raised.value)


def test_questions_are_asked_in_a_users_words(tmp_path):
    (tmp_path / "scene-graphs").mkdir()
    graphs = [own(graph, f"{place}.png") for place, graph in enumerate(GRAPHS)]
    for graph in graphs:
        graph["objects"][0] |= {"name": "zorbot", "attributes": ["zorbing"], "box": [0, 0, 90, 90]}
    words = {"nouns": [{"name": "zorbot", "parents": ["device"]}], "attributes": [{"name": "zorbing", "rank": 5}]}
    file = tmp_path / "scene-graphs" / "mine.json"
    for content, said in (({"graphs": graphs}, False), ({"graphs": graphs, "words": words}, True)):
        file.write_text(json.dumps(content))
        table = tables(tmp_path, pairs=100)["negation-dir"]
        assert any("zorbing zorbot" in ask.question for case in table.cases for ask in case.requests) == said


def test_all_of_the_papers_size_can_be_asked_for(folder):
    plan = make_plan(
        Options(
            folder=Path(),
            data=(folder,),
            suite=("scene-graphs/antonym-dir",),
            pairs=None,
            thresholds=Path(),
            results=Path(),
        )
    )
    (table,) = plan.tables
    wanting = sum(number for reason, number in table.left_out.items() if reason.startswith("too few graphs"))
    assert len(table.cases) + wanting == 5000


def test_real_graphs_of_visual_genome_make_tables():
    if not (REAL / "scene-graphs").is_dir():
        pytest.skip(f"there is no {REAL}/scene-graphs")
    found = tables(REAL, pairs=60)
    assert set(found) >= set(OF_CARETS)  # nothing there is annotated to be to the left of anything
    assert found["order-inv"].left_out["an id that an earlier graph has"] == 56
