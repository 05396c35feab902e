"""Errors in a user's own cases: each names the file, the line and the field."""

import os
from pathlib import Path

import pytest
from builders import json_table
from hypothesis import given
from hypothesis import strategies as st
from own_case_lines import EVERY, OTHER, PAIR, SAME, SET, problem, tasks, without, write
from PIL import Image

from vlgate.errors import DataError
from vlgate.sources import registry

TABLE = Path(__file__).with_suffix(".tsv")


@pytest.mark.parametrize("name", ["../1.jpg", "/etc/passwd", "a/../../1.jpg", "..\\1.jpg", "a\n.jpg", ".", "a/"])
@pytest.mark.parametrize("fields", EVERY)
def test_an_images_name_never_leads_out_of_the_data_folder(tmp_path, fields, name):
    field = "images" if "images" in fields else "image"
    fields = fields | {field: [name, "b.jpg"] if field == "images" else name}
    assert f"the image's name is {name!r}" in problem(tmp_path, PAIR, fields)


@given(st.text() | st.lists(st.sampled_from(["..", ".", "", "secret.jpg", "a"])).map("/".join))
def test_no_name_leaves_the_folders(tmp_path_factory, name):
    folder = tmp_path_factory.getbasetemp() / "own"
    (folder / "a").mkdir(parents=True, exist_ok=True)
    (folder.parent / "secret.jpg").touch()
    write(folder, PAIR | {"image": name})
    try:
        where = tasks(folder)[0].cases[0].requests[0].image.where
    except DataError:
        return
    assert not where or os.path.realpath(where).startswith(str(folder))


@pytest.mark.parametrize(("fields", "says"), json_table(TABLE, "a_wrong_line"))
def test_a_wrong_line(tmp_path, fields, says):
    message = problem(tmp_path, PAIR, fields)
    assert says in message
    assert len(message) < 700


MARKS = ("foil", "captions", "true", "foils", "other_images", "statement", "questions")


@pytest.mark.parametrize(
    ("fields", "field"), [(fields, field) for fields in EVERY for field in fields if field not in {"id", *MARKS}]
)
def test_a_missing_field(tmp_path, fields, field):
    message = problem(tmp_path, PAIR, without(fields, field))
    if (field, "question" in fields) == ("question", True):
        assert "fields of one kind of case" in message
    else:
        assert f"field {field!r} is missing" in message


@pytest.mark.parametrize("field", MARKS)
def test_a_line_of_no_kind(tmp_path, field):
    fields = next(fields for fields in EVERY if field in fields)
    message = problem(tmp_path, PAIR, without(fields, field))
    assert "fields of one kind of case (image, caption, foil; image, caption, foils; " in message
    assert "did you mean" not in problem(tmp_path, PAIR, without(fields, field) | {"colour": "red"})


@pytest.mark.parametrize("benchmark", sorted(set(registry.SOURCES) - {"own"}))
def test_a_task_must_not_begin_with_a_benchmarks_name(tmp_path, benchmark):
    message = problem(tmp_path, PAIR, PAIR | {"task": f"{benchmark}/new"})
    assert f"task '{benchmark}/new' begins with {benchmark!r}" in message
    assert message.endswith("; write for example 'mine/new'")
    assert "which is the name of a benchmark" in problem(tmp_path, PAIR | {"task": f"{benchmark.upper()}/new"}, line=1)


def test_a_task_of_two_kinds_and_a_repeated_id_in_it(tmp_path):
    message = problem(tmp_path, PAIR, SET | {"id": "p"}, PAIR | {"foil": "x"})
    assert "id 'p' is already used in task 'mine/spatial' (cases.jsonl, record on line 1); give each case an" in message
    two = SET | {"false": SET["false"][0]}  # of the same fields
    assert "'mine/set' has an earlier case of another kind" in problem(tmp_path, SET, SET, two, line=3)
    message = problem(tmp_path, SAME, OTHER | {"task": "mine/rephrase"})  # invariance and directional
    assert "task 'mine/rephrase' has an earlier case of another kind (invariance: image, question, answer, " in message
    assert message.endswith("; give the cases of each kind a task of their own")
    write(tmp_path, PAIR)
    write(tmp_path, PAIR | {"id": "p2"}, SET | {"task": "mine/spatial"}, name="cases/more.jsonl")
    with pytest.raises(DataError, match=r"more\.jsonl, record on line 2: .*'mine/spatial'.* kind"):
        tasks(tmp_path)
    write(tmp_path, SET | {"task": "mine/spatial"}, name="cases/more.jsonl")
    with pytest.raises(DataError, match=r"more\.jsonl, record on line 1: .*'mine/spatial'.* kind"):
        tasks(tmp_path)


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("foils", without(PAIR, "foil") | {"foils": ["x", "y", "x"]}),
        ("other_images", {"task": "mine/i", "image": "a.jpg", "other_images": ["b.jpg", "b.jpg"], "caption": "c"}),
        ("true", SET | {"true": ["t", "t"]}),
        ("false", SET | {"false": ["f", "f"]}),
        ("choices", SAME | {"choices": ["yes", "no", "no"]}),
    ],
)
def test_a_candidate_that_is_there_twice_would_lower_chance(tmp_path, field, line):
    assert f"field '{field}' holds '{line[field][-1]}' twice; change or leave out one of them" in problem(
        tmp_path, line
    )


@pytest.mark.parametrize("name", ["cases.JSONL", "cases/more.Jsonl", "cases/more.jsonlines", "cases/more.CSV"])
def test_a_file_of_cases_whose_name_ends_in_another_way_is_not_passed_over(tmp_path, name):
    write(tmp_path, PAIR)
    write(tmp_path, PAIR, name=name)
    with pytest.raises(DataError, match=r"is not read; save it as cases\.(jsonl|csv), or rename it"):
        tasks(tmp_path)


@pytest.mark.parametrize("what", ["id", "tag", "field", "caption"])
def test_a_long_value_is_not_printed_whole(tmp_path, what):
    long = "x" * 50_000
    rows = {
        "id": (PAIR | {"id": long}, PAIR | {"id": long}),
        "tag": (PAIR | {"tags": {long: None}},),
        "field": (PAIR | {long: "a"},),
        "caption": (PAIR | {"caption": long, "foil": long},),
    }
    assert len(problem(tmp_path, *rows[what])) < 1200


def test_a_broken_line_before_others_and_an_empty_file(tmp_path):
    assert "is not JSON" in problem(tmp_path, PAIR, '{"task": "mine/x",', PAIR, line=2)
    write(tmp_path)
    with pytest.raises(DataError, match=r"cases\.jsonl: is empty"):
        tasks(tmp_path)


def test_a_box_that_is_not_in_its_image(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (40, 30)).save(tmp_path / "photos/1.jpg")
    for box in ([40, 0, 5, 5], [0, 30, 5, 5], [900, 900, 5, 5]):
        assert f"box {box} is outside the image, which has 40 x 30 pixels" in problem(tmp_path, PAIR | {"box": box})
    write(tmp_path, PAIR | {"box": [39, 29, 5, 5]})
    assert len(tasks(tmp_path)) == 1


def test_two_files_of_one_name_whose_cases_have_no_ids_are_named_by_their_paths(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        write(folder, without(PAIR, "id"))
    with pytest.raises(DataError) as caught:
        tasks(*folders)
    assert all(str(folder / "cases.jsonl") in str(caught.value) for folder in folders)
