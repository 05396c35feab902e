from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from vlgate.errors import DataError, MissingImageError
from vlgate.sources.benchmarks.valse import INVALID, TASKS, VALSE
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

RECORD = json.loads(Path(__file__).with_name("small_releases.json").read_text())["valse"]["content"]["existence_1"]


def votes(caption):
    return {"mturk": {"caption": caption, "foil": 3 - caption, "other": 0}}


def write(folder, records, name="existence.json", place="valse/data"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / name).write_text(json.dumps(records))


def tasks(*folders, wanted=lambda _: True, valid_only=True):
    protocols = frozenset() if valid_only else frozenset({"valse_all"})
    return list(VALSE.read(ReadOptions(folders=folders, seed=0, wanted=wanted, protocols=protocols)))


def one(folder, **changes):
    """Return the only case of the only task, made from RECORD with changes; a change to None removes the field."""
    fields = {name: value for name, value in {**RECORD, **changes}.items() if value is not None}
    write(folder, {"existence_1": fields})
    ((case,),) = [task.cases for task in tasks(folder)]
    return case


def test_a_case(tmp_path):
    case = one(tmp_path)
    caption, foil = case.requests
    assert (caption.image.key, caption.text) == ("v7w_2371044.jpg", RECORD["caption"])
    assert caption.image is foil.image
    assert foil.text == RECORD["foil"]
    assert case.truths == (True, False)
    assert case.id == "existence_1"
    assert case.origin == "existence.json, record existence_1"
    assert case.tags == {"provenance": "zero_to_something", "dataset": "visual7w"}


def test_a_task(tmp_path):
    write(tmp_path, {"b": RECORD, "a": {**RECORD, **votes(1)}, "c": {**RECORD, **votes(2)}})
    (task,) = tasks(tmp_path)
    assert (task.id, task.capability, task.shape) == ("valse/existence", "foil", "pair")
    assert [case.id for case in task.cases] == ["b", "c"]
    assert task.left_out == {INVALID: 1}


def test_all_instances_on_request(tmp_path):
    write(tmp_path, {"b": RECORD, "a": {**RECORD, **votes(0)}})
    (task,) = tasks(tmp_path, valid_only=False)
    assert [case.id for case in task.cases] == ["b", "a"]
    assert task.left_out == {}


def test_the_eleven_tasks(tmp_path):
    for instrument in TASKS.values():
        write(tmp_path, {"1": RECORD}, instrument.file)
    assert [task.id for task in tasks(tmp_path)] == list(TASKS)
    assert len(TASKS) == len({instrument.file for instrument in TASKS.values()}) == 11
    assert dict(VALSE.shapes) == dict.fromkeys(TASKS, "pair")


def test_a_file_in_two_data_folders(tmp_path):
    for folder in ("a", "b"):
        write(tmp_path, {"1": RECORD}, place=f"{folder}/valse/data")
    with pytest.raises(DataError, match=r"a/valse/data/existence\.json: is also in .*b/valse/data"):
        tasks(tmp_path / "a", tmp_path / "b")


def test_a_folder_given_twice_counts_once(tmp_path):
    write(tmp_path, {"1": RECORD})
    (tmp_path / "link").symlink_to(tmp_path)
    assert len(tasks(tmp_path, tmp_path, tmp_path / "link")) == 1


def test_an_empty_file_has_no_cases(tmp_path):
    write(tmp_path, {})
    assert [task.cases for task in tasks(tmp_path)] == [()]


def test_broken_votes_are_an_error_for_all_instances_too(tmp_path):
    write(tmp_path, {"1": {**RECORD, "mturk": {}}})
    with pytest.raises(DataError, match="field 'mturk': field 'caption' is missing"):
        tasks(tmp_path, valid_only=False)


@pytest.mark.parametrize("classes", [1, [1, 2], "field", True, None])
def test_classes_mix_types(tmp_path, classes):
    assert one(tmp_path, classes=classes, classes_foil=classes).tags["provenance"] == "zero_to_something"


def test_an_equal_foil_is_a_case(tmp_path):
    case = one(tmp_path, foil=RECORD["caption"])
    assert case.requests[0] == case.requests[1]


def test_missing_fields_give_no_slices(tmp_path):
    assert one(tmp_path, provenance_of_foils=None, dataset=None).tags == {}


@pytest.mark.parametrize(("method", "expected"), [("PL", "sg2pl"), ("SG", "pl2sg")])
def test_plurals_by_direction(tmp_path, method, expected):
    write(tmp_path, {"1": {**RECORD, "foil_method": f"checklist method, change NP to {method}"}}, "plurals.json")
    assert tasks(tmp_path)[0].cases[0].tags == {"direction": expected, "dataset": "visual7w"}


def test_plurals_by_another_method(tmp_path):
    write(tmp_path, {"1": {**RECORD, "foil_method": "by hand"}}, "plurals.json")
    with pytest.raises(DataError, match=r"field 'foil_method' is a string .'by hand'"):
        tasks(tmp_path)


@pytest.mark.parametrize(("fields", "expected"), [({"answer": 4}, "4"), ({}, "0"), ({"answer": "12"}, "12")])
def test_counting_by_number(tmp_path, fields, expected):
    write(tmp_path, {"1": {**RECORD, **fields}}, "counting-hard.json")
    assert tasks(tmp_path)[0].cases[0].tags == {"class": expected, "dataset": "visual7w"}


@pytest.mark.parametrize("answer", [True, [1], None, 1.5])
def test_counting_by_something_else(tmp_path, answer):
    write(tmp_path, {"1": {**RECORD, "answer": answer}}, "counting-hard.json")
    with pytest.raises(DataError, match=r"field 'answer' is .*an integer or a string"):
        tasks(tmp_path)


def test_images_and_tags_are_shared(tmp_path):
    write(tmp_path, {"1": RECORD, "2": {**RECORD, "caption": "x"}})
    first, second = tasks(tmp_path)[0].cases
    assert first.requests[0].image is second.requests[0].image
    assert first.tags is second.tags


needs_data = pytest.mark.skipif(not (REAL / "valse").is_dir(), reason=f"no real VALSE files in {REAL}")

# Valid and all instances: Table 5 of the paper. Images: how many of the valid cases have theirs in that folder.
RELEASED = {
    "valse/existence": (505, 534),
    "valse/plurality": (851, 1000),
    "valse/counting-balanced": (868, 1000),
    "valse/actant-swap": (949, 1042),
    "valse/coreference-standard": (708, 916),
    "valse/foil-it": (943, 1000),
}


@needs_data
def test_the_release_has_the_counts_of_the_paper():
    valid = {task.id: len(task.cases) for task in tasks(REAL)}
    every = {task.id: len(task.cases) for task in tasks(REAL, valid_only=False)}
    left_out = {task.id: sum(task.left_out.values()) for task in tasks(REAL)}
    assert {task: (valid[task], every[task]) for task in valid} == RELEASED
    assert {task: valid[task] + left_out[task] for task in valid} == every


@needs_data
def test_the_slices_of_the_release():
    slices = {task.id: Counter(next(iter(case.tags.values())) for case in task.cases) for task in tasks(REAL)}
    assert slices["valse/existence"].keys() == {"zero_to_something", "something_to_zero"}
    assert slices["valse/plurality"].keys() == {"sg2pl", "pl2sg"}
    assert {int(number) for number in slices["valse/counting-balanced"]} >= set(range(17))


@needs_data
def test_the_ids_of_the_release_are_unique():
    ids = [case.id for task in tasks(REAL, valid_only=False) for case in task.cases]
    assert len(ids) == len(set(ids)) == 5492


@needs_data
def test_the_images_that_are_there_can_be_decoded():
    images = {case.requests[0].image for task in tasks(REAL) for case in task.cases}
    there = [image for image in images if image.where]
    assert there
    assert {image.load().mode for image in there} == {"RGB"}
    with pytest.raises(MissingImageError):
        next(image for image in images if not image.where).load()
