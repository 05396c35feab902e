"""``vlgate tasks``: what each task measures, and how long it takes."""

import json
from fnmatch import fnmatchcase

import pytest

from vlgate.metrics.shapes import SHAPES
from vlgate.sources.registry import measures, sentences, shapes

PAIR = {"task": "mine/pairs", "image": "1.jpg", "caption": "a cup", "foil": "a dog"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    rows = [PAIR | {"caption": f"cup {n}"} for n in range(300)]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.mark.parametrize("task", shapes())
def test_every_task_that_a_source_can_make_has_a_sentence(task):
    assert measures(task).endswith((".", "?"))
    assert 20 <= len(measures(task)) <= 110


def test_every_sentence_belongs_to_a_task_and_an_own_task_has_none():
    idle = [key for key in sentences() if not any(fnmatchcase(task, key) for task in shapes())]
    assert idle == []
    assert measures("mine/order-inv") == ""


def test_a_rate_gives_the_expected_time(data, vlgate):
    [entry] = json.loads(vlgate("tasks", "--data", data, "--rate", "0.5", "--json"))
    assert (entry["task"], entry["measures"], entry["shape"]) == ("mine/pairs", "", "pair")
    assert entry["metrics"] == list(SHAPES["pair"].metrics)
    assert entry["chance"] == SHAPES["pair"].chance
    assert (entry["cases"], entry["images"], entry["requests"]) == (300, 0, 301)
    assert entry["seconds"] == 602
    assert "10 min" in vlgate("tasks", "--data", data, "--rate", "0.5")


def test_seconds_per_image_text_and_pair_give_the_time_and_the_gpus(data, vlgate):
    per = ["--per-image", "10", "--per-text", "2", "--per-pair", "0.5"]
    [entry] = json.loads(vlgate("tasks", "--data", data, *per, "--json"))
    assert (entry["different_images"], entry["texts"], entry["requests"]) == (1, 301, 301)
    assert entry["seconds"] == 10 + 2 * 301 + 0.5 * 301
    assert (
        vlgate("tasks", "--data", data, "--per-text", "36", "--within", "0.5")
        .splitlines()[-1]
        .endswith("3.0 h; 7 GPUs finish within 0.5 h")
    )


def test_what_two_tasks_share_counts_once_in_the_total(data, vlgate):
    rows = [PAIR | {"task": f"mine/{name}", "caption": f"cup {n}"} for name in "ab" for n in range(100)]
    (data / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = vlgate("tasks", "--data", data, "--per-image", "60").splitlines()
    assert lines[-1].endswith(" 1 min")


def test_the_metrics_of_released_scorers_are_listed_with_how_they_differ(tmp_path, vlgate):
    (tmp_path / "pope").mkdir()
    asked = {"question_id": 1, "image": "COCO_val2014_000000310196.jpg", "text": "Is there a cup?", "label": "no"}
    (tmp_path / "pope/coco_pope_random.json").write_text(json.dumps(asked))
    [entry] = json.loads(vlgate("tasks", "--data", tmp_path, "--json"))
    assert list(entry["variants"]) == [
        f"{name}@{variant}"
        for variant in ("release", "pope_release")
        for name in ("accuracy", "precision", "recall", "f1", "yes_share")
    ]
    text = " ".join(vlgate("tasks", "--data", tmp_path).split())
    assert "with --protocol=release, for published figures: accuracy@release, precision@release," in text
    assert "even an empty one" in text
