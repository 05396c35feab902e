from __future__ import annotations

import json
from pathlib import Path

import pytest

from vlgate.sources.benchmarks.captions import SUGARCREPE
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

RECORD = json.loads(Path(__file__).with_name("small_releases.json").read_text())["sugarcrepe"]["content"]["0"]


def write(folder, content, name="replace_att.json", place="sugarcrepe/data"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / name).write_text(content if isinstance(content, str) else json.dumps(content))


def tasks(*folders, wanted=lambda _: True):
    return list(SUGARCREPE.read(ReadOptions(folders=folders, seed=0, wanted=wanted)))


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


def test_the_image_under_any_of_its_names_in_coco(tmp_path):
    place = tmp_path / "images/coco/val2014/COCO_val2014_000000331352.jpg"
    place.parent.mkdir(parents=True)
    place.touch()
    write(tmp_path, {"0": RECORD})
    assert tasks(tmp_path)[0].cases[0].requests[0].image.where == str(place)


@pytest.mark.skipif(not (REAL / "sugarcrepe").is_dir(), reason=f"no real SugarCrepe files in {REAL}")
def test_the_released_files_are_read_whole():
    files = sorted((REAL / "sugarcrepe/data").glob("*.json"))
    made = {task.id: len(task.cases) for task in tasks(REAL)}
    assert made == {f"sugarcrepe/{file.stem}": len(json.loads(file.read_text())) for file in files}
    assert made
