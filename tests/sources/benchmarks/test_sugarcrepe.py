from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from vlgate.errors import DataError
from vlgate.sources.benchmarks.captions import SUGARCREPE
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

RECORD = {
    "filename": "000000331352.jpg",
    "caption": "A tan toilet and sink combination in a small room.",
    "negative_caption": "A white toilet and sink combination in a small room.",
}


def write(folder, content, name="replace_att.json", place="sugarcrepe/data"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / name).write_text(content if isinstance(content, str) else json.dumps(content))


def tasks(*folders, wanted=lambda _: True):
    return list(SUGARCREPE.read(ReadOptions(folders=folders, seed=0, wanted=wanted)))


def problem(folder, content):
    write(folder, content)
    with pytest.raises(DataError) as caught:
        tasks(folder)
    assert str(folder / "sugarcrepe/data/replace_att.json") in str(caught.value)
    assert "; download" in str(caught.value)
    return str(caught.value)


def test_a_case(tmp_path):
    write(tmp_path, {"0": RECORD})
    [task] = tasks(tmp_path)
    assert (task.id, task.capability, task.shape) == ("sugarcrepe/replace_att", "foil", "pair")
    [case] = task.cases
    assert [request.text for request in case.requests] == [RECORD["caption"], RECORD["negative_caption"]]
    assert {request.image.key for request in case.requests} == {"000000331352.jpg"}
    assert (case.id, case.truths, case.tags) == ("0", (True, False), {})
    assert case.origin == "replace_att.json, record 0"


def test_the_seven_tasks(tmp_path):
    for kind in (task.removeprefix("sugarcrepe/") for task in SUGARCREPE.shapes):
        write(tmp_path, {"0": RECORD}, f"{kind}.json")
    assert {task.id: task.shape for task in tasks(tmp_path)} == dict(SUGARCREPE.shapes)
    assert len(SUGARCREPE.shapes) == 7


def test_unwanted_tasks_are_not_read(tmp_path):
    write(tmp_path, {"0": RECORD})
    write(tmp_path, "broken", "add_att.json")
    assert len(tasks(tmp_path, wanted="sugarcrepe/replace_att".__eq__)) == 1


def test_files_directly_in_sugarcrepe_and_in_two_places(tmp_path):
    write(tmp_path, {"0": RECORD}, place="sugarcrepe")
    assert len(tasks(tmp_path)) == 1
    write(tmp_path, {"0": RECORD})
    with pytest.raises(DataError, match=r"sugarcrepe/.*\.json: is also in .*sugarcrepe/"):
        tasks(tmp_path)


def test_without_its_file_there_is_no_task(tmp_path):
    assert tasks(tmp_path, tmp_path / "none") == tasks() == []


def test_a_file_that_is_cut_off(tmp_path):
    assert "is cut off" in problem(tmp_path, json.dumps({"0": RECORD})[:-20])


def test_a_repeated_id(tmp_path):
    entry = f'"0": {json.dumps(RECORD)}'
    assert "repeats the key '0'" in problem(tmp_path, f"{{{entry}, {entry}}}")


@pytest.mark.parametrize("field", list(RECORD))
def test_a_missing_field(tmp_path, field):
    fields = {name: value for name, value in RECORD.items() if name != field}
    assert f"record 1: field {field!r} is missing" in problem(tmp_path, {"0": RECORD, "1": fields})


@pytest.mark.parametrize("field", list(RECORD))
@pytest.mark.parametrize("broken", ["", " ", None, 3, ["x"]])
def test_a_field_that_is_not_a_text(tmp_path, field, broken):
    assert f"record 0: field {field!r} is " in problem(tmp_path, {"0": RECORD | {field: broken}})


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\0.jpg", "..\\a.jpg"])
def test_an_images_name_is_not_trusted(tmp_path, name):
    assert "expected a relative path without" in problem(tmp_path, {"0": RECORD | {"filename": name}})


def test_the_image_under_any_of_its_names_in_coco(tmp_path):
    place = tmp_path / "images/coco/val2014/COCO_val2014_000000331352.jpg"
    place.parent.mkdir(parents=True)
    place.touch()
    write(tmp_path, {"0": RECORD})
    assert tasks(tmp_path)[0].cases[0].requests[0].image.where == str(place)


def test_tasks_travel_between_processes(tmp_path):
    write(tmp_path, {"0": RECORD})
    assert pickle.loads(pickle.dumps(tasks(tmp_path))) == tasks(tmp_path)


@pytest.mark.skipif(not (REAL / "sugarcrepe").is_dir(), reason=f"no real SugarCrepe files in {REAL}")
def test_the_released_files_are_read_whole():
    files = sorted((REAL / "sugarcrepe/data").glob("*.json"))
    made = {task.id: len(task.cases) for task in tasks(REAL)}
    assert made == {f"sugarcrepe/{file.stem}": len(json.loads(file.read_text())) for file in files}
    assert made
