from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from vlgate.errors import DataError, MissingImageError
from vlgate.sources.benchmarks.bla import BLA, FILES
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

SET = {
    "True1": "the man lifts the child",
    "True2": "the child is lifted by the man",
    "False1": "the child lifts the man",
    "False2": "the man is lifted by the child",
}
RECORD = {"image_id": "1159399", "caption_group": [SET]}
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


def problem(folder, content):
    write(folder, content)
    with pytest.raises(DataError) as caught:
        tasks(folder)
    assert str(folder / "bla/annotations" / ACTIVE) in str(caught.value)
    assert "; download" in str(caught.value)
    return str(caught.value)


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


def test_an_image_twice_in_the_other_form(tmp_path):
    entry = f'"7": {json.dumps(list(SET.values()))}'
    assert "repeats the key '7'" in problem(tmp_path, f"{{{entry}, {entry}}}")


def test_unwanted_tasks_are_not_read(tmp_path):
    write(tmp_path, [RECORD])
    write(tmp_path, "broken", FILES["bla/coordination"])
    assert [task.id for task in tasks(tmp_path, wanted="bla/active-passive".__eq__)] == ["bla/active-passive"]


def test_without_its_file_there_is_no_task(tmp_path):
    assert tasks(tmp_path, tmp_path / "none") == tasks() == []


def test_files_directly_in_bla_and_in_two_places(tmp_path):
    write(tmp_path, [RECORD], place="bla")
    assert len(tasks(tmp_path)) == 1
    write(tmp_path, [RECORD])
    with pytest.raises(DataError, match=r"bla/.*\.json: is also in .*bla/"):
        tasks(tmp_path)


def test_a_file_that_is_cut_off(tmp_path):
    assert "is cut off" in problem(tmp_path, json.dumps([RECORD])[:-20])


@pytest.mark.parametrize("content", [[RECORD, "x"], ["x"]])
def test_a_record_that_is_not_an_object(tmp_path, content):
    assert "expected an object with 'image_id' and 'caption_group'" in problem(tmp_path, content)


def test_a_file_that_is_neither_list_nor_object(tmp_path):
    assert "expected a list of records or an object" in problem(tmp_path, "3")


@pytest.mark.parametrize("field", list(SET))
@pytest.mark.parametrize("broken", [None, " ", 3])
def test_a_sentence_that_is_missing_or_invalid(tmp_path, field, broken):
    group = {name: text for name, text in (SET | {field: broken}).items() if text is not None}
    message = problem(tmp_path, [RECORD, RECORD | {"caption_group": [group]}])
    assert "record 1: " in message
    assert f"field {field!r} is " in message


@pytest.mark.parametrize("sentences", [["a", "b", "c"], ["a"] * 5, "abcd", {"True1": "a"}])
def test_not_four_sentences(tmp_path, sentences):
    assert "record 7: expected a list of four sentences" in problem(tmp_path, {"7": sentences})


def test_an_invalid_sentence_of_the_other_form(tmp_path):
    assert "record 7: field 'False1' is null" in problem(tmp_path, {"7": ["a", "b", None, "d"]})


@pytest.mark.parametrize("groups", [None, [], "x", ["x"], {}])
def test_invalid_groups(tmp_path, groups):
    assert "field 'caption_group' is " in problem(tmp_path, [RECORD | {"caption_group": groups}])


@pytest.mark.parametrize("image", [None, True, -1, 1.5, ["1"], ""])
def test_an_invalid_image_id(tmp_path, image):
    assert "field 'image_id' is " in problem(tmp_path, [RECORD | {"image_id": image}])


@pytest.mark.parametrize("image", ["../../etc/passwd", "/etc/passwd", "a\\b"])
def test_an_image_id_is_not_trusted(tmp_path, image):
    assert "expected a relative path without" in problem(tmp_path, [RECORD | {"image_id": image}])


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


def test_tasks_travel_between_processes(tmp_path):
    write(tmp_path, [RECORD])
    assert pickle.loads(pickle.dumps(tasks(tmp_path))) == tasks(tmp_path)


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
