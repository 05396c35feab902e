from __future__ import annotations

import json
from pathlib import Path

import pytest

from vlgate.errors import MissingImageError
from vlgate.sources.benchmarks.bla import BLA, FILES
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

[RECORD] = json.loads(Path(__file__).with_name("small_releases.json").read_text())["bla"]["content"]
[SET] = RECORD["caption_group"]
ACTIVE = "active_passive_captions.json"


def write(folder, content, name=ACTIVE, place="bla/annotations"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / name).write_text(content if isinstance(content, str) else json.dumps(content))


def tasks(*folders, wanted=lambda _: True):
    return list(BLA.read(ReadOptions(folders=folders, seed=0, wanted=wanted)))


def cases(folder, content):
    write(folder, content)
    [task] = tasks(folder)
    return task.cases


@pytest.mark.parametrize("image", ["1159399", 1159399])
def test_a_case(tmp_path, image):
    [case] = cases(tmp_path, [RECORD | {"image_id": image, "index": 14}])
    assert [request.text for request in case.requests] == list(SET.values())
    assert {request.image.key for request in case.requests} == {"1159399"}
    assert case.truths == (True, True, False, False)
    assert (case.id, case.tags) == ("1159399", {})
    assert case.origin == f"{ACTIVE}, record 0"


def test_the_releases_other_form(tmp_path):
    [case] = cases(tmp_path, {"2368232": list(SET.values())})
    assert [request.text for request in case.requests] == list(SET.values())
    assert (case.id, case.truths, case.requests[0].image.key) == ("2368232", (True, True, False, False), "2368232")
    assert case.origin == f"{ACTIVE}, record 2368232"


def test_a_predicate_is_a_slice(tmp_path):
    group = SET | {"predicate": "looks at", "group_index": 3, "score": [0.9, 0.8, 0.9, 0.8]}
    [case] = cases(tmp_path, [RECORD | {"caption_group": [group]}])
    assert case.tags == {"verb": "looks at"}


def test_the_three_tasks(tmp_path):
    for name in FILES.values():
        write(tmp_path, [RECORD], name)
    made = tasks(tmp_path)
    assert {task.id: task.shape for task in made} == dict(BLA.shapes)
    assert {task.id: task.shape for task in made} == {
        "bla/active-passive": "active_passive_set",
        "bla/coordination": "set",
        "bla/relative-clause": "set",
    }
    assert {task.capability for task in made} == {"compositional"}


def test_several_sets_of_an_image_have_ids_of_their_own(tmp_path):
    twice = RECORD | {"caption_group": [SET, SET]}
    assert [case.id for case in cases(tmp_path, [twice, RECORD])] == ["1159399", "1159399-2", "1159399-3"]


@pytest.mark.parametrize("place", ["bla/images/1159399.png", "bla/images/1159399.jpg", "images/vg/VG_100K/1159399.jpg"])
def test_the_image_of_the_release_or_of_visual_genome(tmp_path, place):
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).touch()
    [case] = cases(tmp_path, [RECORD])
    assert case.requests[0].image.where == str(tmp_path / place)


def test_the_image_of_the_release_comes_first(tmp_path):
    for place in ("bla/images", "images/vg"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "1159399.jpg").touch()
    [case] = cases(tmp_path, [RECORD])
    assert case.requests[0].image.where == str(tmp_path / "bla/images/1159399.jpg")


def test_a_missing_image_names_the_places(tmp_path):
    [case] = cases(tmp_path, [RECORD])
    with pytest.raises(MissingImageError, match=r"bla/images.*images/vg"):
        case.requests[0].image.load()


@pytest.mark.skipif(not (REAL / "bla").is_dir(), reason=f"no real BLA files in {REAL}")
def test_the_released_records_and_their_images():
    made = {task.id: task for task in tasks(REAL)}
    for task, name in FILES.items():
        file = REAL / "bla/annotations" / name
        expected = sum(len(record["caption_group"]) for record in json.loads(file.read_text())) if file.exists() else 0
        assert len(made[task].cases if task in made else ()) == expected
    assert sum(len(task.cases) for task in made.values()) == 10
    images = {case.requests[0].image for task in made.values() for case in task.cases}
    assert {image.load().mode for image in images} == {"RGB"}
