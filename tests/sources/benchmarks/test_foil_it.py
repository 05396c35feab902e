from __future__ import annotations

import json
import pickle
from copy import deepcopy

import pytest

from vlgate.errors import DataError
from vlgate.sources.benchmarks.captions import FOIL_IT
from vlgate.sources.reading.source import ReadOptions

TEST = "foilv1.0_test_2017.json"
TRUE = {
    "image_id": 165831,
    "id": 91,
    "foil_id": 1283538,
    "caption": "a giant bowl of food, with broccoli",
    "foil": False,
    "foil_word": "ORIG",
    "target_word": "ORIG",
}
FOIL = TRUE | {
    "foil_id": 1283539,
    "caption": "a giant bottle of food, with broccoli",
    "foil": True,
    "foil_word": "bottle",
    "target_word": "bowl",
}
IMAGE = {"id": 165831, "file_name": "COCO_val2014_000000165831.jpg", "license": 1}


def release(*annotations, images=(IMAGE,)):
    return {"info": {}, "licenses": [], "type": "captions", "images": list(images), "annotations": list(annotations)}


def write(folder, content, name=TEST, place="foil-it"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / name).write_text(content if isinstance(content, str) else json.dumps(content))


def tasks(*folders, wanted=lambda _: True):
    return list(FOIL_IT.read(ReadOptions(folders=folders, seed=0, wanted=wanted)))


def cases(folder, *annotations, **more):
    write(folder, release(*annotations, **more))
    [task] = tasks(folder)
    return task.cases


def problem(folder, content):
    write(folder, content)
    with pytest.raises(DataError) as caught:
        tasks(folder)
    assert str(folder / "foil-it" / TEST) in str(caught.value)
    assert "; download" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("order", [(TRUE, FOIL), (FOIL, TRUE)])
def test_a_case(tmp_path, order):
    [case] = cases(tmp_path, *order)
    assert [request.text for request in case.requests] == [TRUE["caption"], FOIL["caption"]]
    assert {request.image.key for request in case.requests} == {"COCO_val2014_000000165831.jpg"}
    assert (case.id, case.truths, case.tags) == ("1283539", (True, False), {"target_word": "bowl"})
    assert case.origin == f"{TEST}, record annotations[{order.index(FOIL)}]"


def test_the_two_tasks(tmp_path):
    for part in ("test", "train"):
        write(tmp_path, release(TRUE, FOIL), f"foilv1.0_{part}_2017.json")
    made = tasks(tmp_path)
    assert {task.id: task.shape for task in made} == dict(FOIL_IT.shapes)
    assert {task.capability for task in made} == {"foil"}


def test_captions_without_a_foil_give_no_cases(tmp_path):
    assert len(cases(tmp_path, TRUE, FOIL, TRUE | {"id": 92, "foil_id": 5})) == 1


def test_foils_share_their_caption_and_their_tags(tmp_path):
    other = FOIL | {"foil_id": 7, "caption": "a giant cup of food, with broccoli", "foil_word": "cup"}
    first, second = cases(tmp_path, TRUE, FOIL, other)
    assert first.requests[0] == second.requests[0]
    assert first.requests[0].image is second.requests[0].image
    assert first.tags is second.tags


def test_a_repeated_foil_id_is_numbered(tmp_path):
    made = cases(tmp_path, TRUE, FOIL, FOIL | {"caption": "another"}, FOIL | {"caption": "one more"})
    assert [case.id for case in made] == ["1283539", "1283539-2", "1283539-3"]


def test_a_repeated_true_caption_counts_once(tmp_path):
    assert len(cases(tmp_path, TRUE, TRUE | {"foil_id": 1}, FOIL)) == 1


def test_two_true_captions_for_one_foil(tmp_path):
    message = problem(tmp_path, release(TRUE, TRUE | {"caption": "another"}, FOIL))
    assert "record annotations[1]: id 91 is" in message
    assert "another true caption" in message


@pytest.mark.parametrize("change", [{"id": 92}, {"image_id": 5}])
def test_a_foil_without_its_true_caption(tmp_path, change):
    content = release(TRUE | change, FOIL, images=(IMAGE, IMAGE | {"id": 5}))
    assert "record annotations[1]: no true caption of image 165831 has the foil's id 91" in problem(tmp_path, content)


def test_an_image_that_is_not_listed(tmp_path):
    message = problem(tmp_path, release(TRUE, FOIL, images=()))
    assert "annotations[1]: image_id 165831 is not listed in 'images'" in message


def test_unwanted_tasks_are_not_read(tmp_path):
    write(tmp_path, release(TRUE, FOIL))
    write(tmp_path, "broken", "foilv1.0_train_2017.json")
    assert [task.id for task in tasks(tmp_path, wanted="foil-it/test".__eq__)] == ["foil-it/test"]


def test_without_its_file_there_is_no_task(tmp_path):
    assert tasks(tmp_path, tmp_path / "none") == tasks() == []


def test_a_folder_of_annotations_and_two_places(tmp_path):
    write(tmp_path, release(TRUE, FOIL), place="foil-it/annotations")
    assert len(tasks(tmp_path)) == 1
    write(tmp_path, release(TRUE, FOIL))
    with pytest.raises(DataError, match=r"foilv1\.0_test_2017\.json: is also in .*foil-it/"):
        tasks(tmp_path)


def test_a_file_that_is_cut_off(tmp_path):
    assert "is cut off" in problem(tmp_path, json.dumps(release(TRUE, FOIL))[:-20])


def test_a_file_with_a_list_is_rejected(tmp_path):
    assert "expected an object with 'images' and 'annotations'" in problem(tmp_path, [TRUE, FOIL])


@pytest.mark.parametrize("field", ["images", "annotations"])
def test_a_part_that_is_missing_or_invalid(tmp_path, field):
    content = release(TRUE, FOIL)
    assert f"field {field!r} is an object" in problem(tmp_path, content | {field: {}})
    assert f"{field}[0]: expected an object" in problem(tmp_path, content | {field: [3]})
    del content[field]
    assert f"field {field!r} is missing" in problem(tmp_path, content)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("field", ["caption", "image_id", "id", "foil"])
def test_a_missing_field(tmp_path, place, field):
    content = deepcopy(release(TRUE, FOIL))
    del content["annotations"][place][field]
    assert f"record annotations[{place}]: field {field!r} is missing" in problem(tmp_path, content)


@pytest.mark.parametrize("field", ["foil_id", "target_word"])
def test_a_field_that_only_a_foil_needs(tmp_path, field):
    without = {name: value for name, value in FOIL.items() if name != field}
    assert f"record annotations[1]: field {field!r} is missing" in problem(tmp_path, release(TRUE, without))


@pytest.mark.parametrize(
    "change", [{"foil": 1}, {"foil": "true"}, {"id": "91"}, {"image_id": True}, {"caption": " "}, {"foil_id": -1}]
)
def test_a_field_of_another_type(tmp_path, change):
    [field] = change
    assert f"record annotations[1]: field {field!r} is " in problem(tmp_path, release(TRUE, FOIL | change))


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\0.jpg"])
def test_an_images_name_is_not_trusted(tmp_path, name):
    content = release(TRUE, FOIL, images=[IMAGE | {"file_name": name}])
    assert "expected a relative path without" in problem(tmp_path, content)


@pytest.mark.parametrize("field", ["id", "file_name"])
def test_an_image_without_a_field(tmp_path, field):
    image = {name: value for name, value in IMAGE.items() if name != field}
    assert f"record images[0]: field {field!r} is missing" in problem(tmp_path, release(TRUE, FOIL, images=[image]))


def test_tasks_travel_between_processes(tmp_path):
    write(tmp_path, release(TRUE, FOIL))
    assert pickle.loads(pickle.dumps(tasks(tmp_path))) == tasks(tmp_path)
