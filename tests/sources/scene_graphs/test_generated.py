"""The tasks that are made from scene graphs in the data folders: which graphs, which images, what is left out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import json_table

from vlgate.errors import DataError, MissingImageError
from vlgate.fixtures.scenes.scene_graphs import as_gqa, image_of, world_graphs
from vlgate.perturb.questions import BEYOND
from vlgate.perturb.questions import TESTS as OF_CARETS
from vlgate.record.options import Options
from vlgate.run.planning import make_plan
from vlgate.sources.graphs.annotated import ENOUGH
from vlgate.sources.graphs.generated import TASK_SHAPES, read
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import shapes

TABLES = Path(__file__).with_suffix(".tsv")

TESTS = (*OF_CARETS, *BEYOND)
REAL = Path(__file__).parents[4] / "shared/data"
GRAPHS = world_graphs(6, 50)
FILE = "gqa/train_sceneGraphs.json"


def options_of(folder, wanted=lambda _: True, pairs=24, seed=0):
    return ReadOptions(folders=(folder,), seed=seed, wanted=wanted, pairs=pairs)


def tasks(*given, **kwargs):
    return {task.id.partition("/")[2]: task for task in read(options_of(*given, **kwargs))}


def own(graph, image):
    """Return a graph in the format of a user's own file."""
    objects = [
        {"id": name, "box": [item.pop(side) for side in "xywh"], **item}
        for name, item in as_gqa(graph)["objects"].items()
    ]
    return {"image": image, "width": graph.width, "height": graph.height, "objects": objects}


def write(folder, name, content):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def as_file(number=50):
    """The content of a file in GQA's format, with graphs "7000" and so on."""
    return {str(7000 + index): as_gqa(GRAPHS[index % len(GRAPHS)]) for index in range(number)}


@pytest.fixture
def folder(tmp_path):
    """A data folder with graphs in GQA's format and no image."""
    write(tmp_path, FILE, as_file())
    return tmp_path


def put_images(folder, number, place="images/gqa", suffix=".jpg", first=7000):
    (folder / place).mkdir(parents=True, exist_ok=True)
    image = image_of(GRAPHS[0]).load()
    for name in range(first, first + number):
        image.save(folder / place / f"{name}{suffix}")


def images_of(task):
    return {request.image for case in task.cases for request in case.requests}


def keys_of(task):
    return {image.key.partition("#")[0] for image in images_of(task)}


def test_the_tasks_are_the_six_tests_and_without_graphs_there_are_none(tmp_path):
    assert {f"scene-graphs/{test}" for test in TESTS} == set(TASK_SHAPES)
    assert set(TASK_SHAPES) <= set(shapes())
    assert set(TASK_SHAPES.values()) == {"questions"}
    assert tasks(tmp_path) == {}
    assert list(read(ReadOptions(folders=(), seed=0, wanted=lambda _: True))) == []


def test_each_task_has_the_number_of_questions_in_the_options(folder):
    for pairs in (5, 10):
        found = tasks(folder, pairs=pairs)
        assert set(found) == set(TESTS)
        assert {name: len(task.cases) for name, task in found.items()} == {
            name: pairs * (5 if name == "visual-inv" else 1) for name in TESTS
        }


def test_the_seed_decides_and_only_what_is_wanted_is_made(folder):
    only = tasks(folder, wanted=lambda name: name == "scene-graphs/order-inv")
    assert list(only) == ["order-inv"]
    again, first, second = (tasks(folder, seed=seed) for seed in (0, 0, 1))
    assert again == first
    assert only["order-inv"] == first["order-inv"]
    assert all(first[test].cases != second[test].cases for test in TESTS)
    write(folder, FILE, "not read")
    assert tasks(folder, wanted=lambda _: False) == {}


@pytest.mark.slow
def test_every_process_makes_the_same_plan(folder):
    code = (
        "import sys; from pathlib import Path\n"
        "from vlgate.record.options import Options; from vlgate.run.planning import make_plan\n"
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


def test_images_are_found_by_their_number_only_graphs_with_one_are_used_and_each_once(folder):
    put_images(folder, 30)
    found = tasks(folder)
    for test in set(OF_CARETS) - {"visual-inv"}:
        assert all(image.where == f"{folder}/images/gqa/{image.key}.jpg" for image in images_of(found[test]))
    for task in found.values():
        assert keys_of(task) <= {str(name) for name in range(7000, 7030)}
        assert task.note == "made from the 30 of 50 scene graphs whose images are there"
    write(folder, "gqa/val_sceneGraphs.json", as_file())
    task = tasks(folder)["order-inv"]
    assert task.left_out["graph of an image that an earlier file has"] == 50
    assert task.cases == tasks(folder)["order-inv"].cases


@pytest.mark.parametrize("there", [0, 3])
def test_with_few_images_all_graphs_are_used(folder, there):
    put_images(folder, there)
    task = tasks(folder)["negation-dir"]
    assert len(keys_of(task)) > there + 5
    assert task.note == f"made from all 50 scene graphs; the images of {there} are there"
    gone = next(image for image in images_of(task) if not image.where)
    with pytest.raises(MissingImageError, match=r"images/gqa.*--missing-images skip"):
        gone.load()


def test_one_hundred_images_are_enough_whatever_the_number_of_graphs(tmp_path):
    write(tmp_path, "gqa/val_sceneGraphs.json", as_file(5 * ENOUGH))
    for index in range(ENOUGH):
        write(tmp_path, f"images/vg/{7000 + index}.jpg", "")
    note = tasks(tmp_path, wanted=lambda name: name == "scene-graphs/order-inv")["order-inv"].note
    assert note == f"made from the {ENOUGH} of {5 * ENOUGH} scene graphs whose images are there"


def test_a_users_own_images_are_found_by_their_paths_only(tmp_path):
    content = {"graphs": [own(graph, f"mine/{7000 + index}.png") for index, graph in enumerate(GRAPHS)]}
    write(tmp_path, "scene-graphs/mine.json", content)
    put_images(tmp_path, 50, "images/vg")
    assert not any(image.where for image in images_of(tasks(tmp_path)["order-inv"]))
    put_images(tmp_path, 50, "mine", ".png")
    found = images_of(tasks(tmp_path)["order-inv"])
    assert {image.where for image in found} == {f"{tmp_path}/{image.key}" for image in found}
    assert tasks(tmp_path)["order-inv"].cases[0].origin.startswith("mine.json, graph 'mine/70")


def test_a_twin_of_another_size_is_not_taken_for_a_graph_without_a_size(tmp_path):
    write(tmp_path, "images/coco_to_vg_ids.json", {str(name): [7000 + name] for name in range(50)})
    put_images(tmp_path, 50, "images/coco", first=0)
    put_images(tmp_path, 30, "images/vg")

    def listed(**size):
        content = [
            {"image_id": 7000 + index, **size, "objects": [], "relationships": []} for index in range(len(GRAPHS))
        ]
        for image, graph in zip(content, GRAPHS, strict=True):
            for thing in graph.objects.values():
                box = {side: getattr(thing.box, side) for side in "xywh"}
                image["objects"].append({"object_id": int(thing.id), "names": [thing.name], **box})
        write(tmp_path, "vg/scene_graphs.json", content)
        return tasks(tmp_path)["negation-dir"]

    without = listed()
    assert keys_of(without) <= {str(name) for name in range(7000, 7030)}
    assert next(number for reason, number in without.left_out.items() if "twin" in reason) == 20
    sized = listed(width=400, height=300)
    assert sized.note == "made from the 50 of 50 scene graphs whose images are there"
    assert not any("twin" in reason for reason in sized.left_out)


def test_faulty_graphs_are_left_out_and_counted(folder):
    content = as_file()
    del content["7001"]["objects"]
    content["7002"]["objects"]["0"]["w"] = 0
    content["7003"]["objects"]["0"]["name"] = "zorbot"
    write(folder, FILE, content)
    for task in tasks(folder).values():
        assert "7001" not in keys_of(task)
        assert task.left_out["no objects"] == 1
        assert task.left_out["a box without an extent"] == 1
        assert [number for reason, number in task.left_out.items() if "ontology" in reason] == [1]
        assert any("32 pixels" in reason for reason in task.left_out)


@pytest.mark.parametrize(("content", "says"), json_table(TABLES, "files_that_give_nothing_to_ask_are_an_error"))
def test_files_that_give_nothing_to_ask_are_an_error(folder, content, says):
    write(folder, FILE, content)
    with pytest.raises(DataError, match=r"train_sceneGraphs\.json") as raised:
        tasks(folder, wanted=lambda name: "occlusion" not in name)  # one graph is enough for that test
    assert says in str(raised.value)


def test_questions_are_asked_in_a_users_words(tmp_path):
    graphs = [own(graph, f"{index}.png") for index, graph in enumerate(GRAPHS)]
    for graph in graphs:
        graph["objects"][0] |= {"name": "zorbot", "attributes": ["zorbing"], "box": [0, 0, 90, 90]}
    words = {"nouns": [{"name": "zorbot", "parents": ["device"]}], "attributes": [{"name": "zorbing", "rank": 5}]}
    for content, said in (({"graphs": graphs}, False), ({"graphs": graphs, "words": words}, True)):
        write(tmp_path, "scene-graphs/mine.json", content)
        task = tasks(tmp_path, pairs=100)["negation-dir"]
        assert any("zorbing zorbot" in ask.question for case in task.cases for ask in case.requests) == said


def test_a_task_can_have_the_size_of_the_paper(folder):
    paths = {name: Path() for name in ("folder", "thresholds", "results")}
    (task,) = make_plan(Options(data=(folder,), suite=("scene-graphs/antonym-dir",), pairs=None, **paths)).tasks
    missing = sum(number for reason, number in task.left_out.items() if reason.startswith("too few graphs"))
    assert len(task.cases) + missing == 5000


def test_real_graphs_of_visual_genome_make_tasks():
    if not (REAL / "scene-graphs").is_dir():
        pytest.skip(f"there is no {REAL}/scene-graphs")
    found = tasks(REAL, pairs=60)
    assert set(found) >= set(OF_CARETS)  # no graph there says that a thing is to the left of another
    assert found["order-inv"].left_out["an id that an earlier graph has"] == 56
