from __future__ import annotations

import json
from pathlib import Path

import pytest

from vlgate.errors import DataError
from vlgate.sources.benchmarks.captions import FOIL_IT
from vlgate.sources.reading.source import ReadOptions

TEST = "foilv1.0_test_2017.json"
RELEASE = json.loads(Path(__file__).with_name("small_releases.json").read_text())["foil-it"]["content"]
TRUE, FOIL = RELEASE["annotations"]
[IMAGE] = RELEASE["images"]


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
