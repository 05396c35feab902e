"""Runs on tasks made from scene graphs: the oracle, missing images, replay, and files that do not fit."""

import json

import pytest

from vlgate.fixtures.scenes.scene_graphs import as_gqa, image_of, world_graphs
from vlgate.perturb.questions import BEYOND, TESTS

GRAPHS = world_graphs(6, 50)

LOOKS = """
class Model:
    def answer(self, questions):
        return [question.choices[question.image.load().width % len(question.choices)] for question in questions]

def build():
    return Model()
"""


@pytest.fixture
def folder(tmp_path):
    """A data folder with graphs in GQA's format, as "7000" and so on, and the images of ten of them."""
    (tmp_path / "gqa").mkdir()
    content = {str(7000 + index): as_gqa(graph) for index, graph in enumerate(GRAPHS)}
    (tmp_path / "gqa" / "train_sceneGraphs.json").write_text(json.dumps(content))
    (tmp_path / "images/gqa").mkdir(parents=True)
    for index in range(10):
        image_of(GRAPHS[index]).load().save(tmp_path / f"images/gqa/{7000 + index}.jpg")
    return tmp_path


@pytest.fixture
def run(place, folder):
    (place.path / "looks.py").write_text(LOOKS)

    def start(*arguments, out="out"):
        given = ("--suite=scene-graphs/*", "--pairs=12", f"--data={folder}", f"--results={out}")
        result = place.run(*given, *arguments, data=False)
        return result, place.metrics(out)["tasks"] if (place.path / out / "metrics.json").exists() else {}

    return start


@pytest.mark.parametrize(
    "arguments",
    [("--limit=5",), *(pytest.param(one, marks=pytest.mark.slow) for one in ((), ("-n", "2"), ("--seed=3",)))],
    ids=str,
)
def test_the_oracle_is_right_everywhere(run, arguments):
    result, found = run("--model=oracle", *arguments)
    assert result.ret == 0
    assert {task.partition("/")[2] for task in found} == {*TESTS, *BEYOND}
    assert {task["metrics"]["c_acc"]["value"] for task in found.values()} == {1.0}
    assert {task["unscored"] for task in found.values()} == {0}


@pytest.mark.slow
def test_missing_images_end_the_run_early_or_leave_cases_skipped(run):
    result, found = run("--model=looks:build", out="fail")
    assert (result.ret, found) == (4, {})
    _, found = run("--model=looks:build", "--missing-images=skip", out="skip")
    for task in found.values():
        assert 0 < task["skipped"] <= task["cases"]
        assert task["skipped"] + task["judged"] == task["cases"]
    assert any(task["judged"] for task in found.values())


@pytest.mark.slow
def test_the_summary_counts_what_was_left_out(run, folder, pytester):
    file = folder / "gqa" / "train_sceneGraphs.json"
    content = json.loads(file.read_text())
    del content["7001"]["objects"]
    file.write_text(json.dumps(content))
    result, found = run("--model=oracle")
    assert result.ret == 0
    assert found["scene-graphs/order-inv"]["left_out"]["no objects"] == 1
    assert "1 no objects" in (pytester.path / "out/summary.md").read_text()


def test_a_broken_file_ends_the_run_before_it_begins(run, folder):
    file = folder / "gqa" / "train_sceneGraphs.json"
    file.write_text(file.read_text()[:5000])
    result, found = run("--model=oracle")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {file}*; *"])
    assert found == {}


def test_the_number_of_pairs_may_be_in_an_ini_file(place, folder):
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_pairs = 17\n")
    place.run("--model=oracle", f"--data={folder}", "--suite=scene-graphs/order-inv", data=False, ret=0)
    assert place.task("scene-graphs/order-inv")["cases"] == 17
