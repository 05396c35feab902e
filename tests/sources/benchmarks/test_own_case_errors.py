"""Errors in a user's own cases: each names the file, the line and the field."""

import os
from pathlib import Path

import pytest
from builders import json_table
from hypothesis import given
from hypothesis import strategies as st
from own_case_lines import EVERY, OTHER, PAIR, QUAD, SAME, SET, problem, tasks, without, write
from PIL import Image

from vlgate.errors import DataError
from vlgate.sources import registry
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")


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


@pytest.mark.parametrize(
    ("fields", "field", "written"),
    [
        (PAIR, "foil", "foli"),
        (QUAD, "captions", "captoins"),
        (SET, "true", "ture"),
        (SAME, "question", "qestion"),
        (OTHER, "question", "Question"),
    ],
)
def test_a_line_of_no_kind_names_the_field_that_was_meant(tmp_path, fields, field, written):
    message = problem(tmp_path, PAIR, without(fields, field) | {written: fields[field]})
    assert f"record on line 2: field {written!r} is unknown (did you mean {field!r}?)" in message
    assert "fields of one kind of case" in message


def test_a_line_of_no_kind_with_a_field_like_no_other(tmp_path):
    message = problem(tmp_path, PAIR, without(PAIR, "foil") | {"colour": "red"})
    assert "did you mean" not in message
    assert "fields of one kind of case" in message


def test_a_line_of_two_kinds(tmp_path):
    assert "fields of one kind" in problem(tmp_path, PAIR | {"question": "Is there a dog?"})


@pytest.mark.parametrize(("fields", "field"), [(PAIR, "captoin"), (SAME, "choises"), (QUAD, "tag"), (SET, "image_id")])
def test_an_unknown_field(tmp_path, fields, field):
    right = {"captoin": "caption", "choises": "choices", "tag": "tags", "image_id": "image"}[field]
    assert f"field {field!r} is unknown (did you mean {right!r}?)" in problem(tmp_path, PAIR, fields | {field: "x"})


@pytest.mark.parametrize("broken", ["", " ", 3, None, ["x"], {"a": 1}])
@pytest.mark.parametrize(
    ("fields", "field"), [(PAIR, "caption"), (PAIR, "foil"), (SAME, "answer"), (OTHER, "perturbed"), (SET, "image")]
)
def test_a_field_that_is_not_a_text(tmp_path, fields, field, broken):
    assert f"field {field!r} is " in problem(tmp_path, QUAD, fields | {field: broken})


@pytest.mark.parametrize("broken", ["ab", ["a"], ["a", "b", "c"], [], None, ["a", 3], ["a", " "]])
@pytest.mark.parametrize(("fields", "field"), [(QUAD, "images"), (QUAD, "captions"), (SET, "true"), (SET, "false")])
def test_a_field_that_is_not_two_texts(tmp_path, fields, field, broken):
    if (field, broken) == ("false", "ab"):
        return  # two true sentences and a false one
    assert f"field {field!r}" in problem(tmp_path, PAIR, fields | {field: broken})


@pytest.mark.parametrize("task", ["spatial", "mine/", "/mine", "mine spatial/x", "mine/*", "mine/[a]", "../x", "a//b"])
def test_an_invalid_name_of_a_task(tmp_path, task):
    assert "'task' is a string" in problem(tmp_path, PAIR | {"task": task})


@pytest.mark.parametrize("benchmark", sorted(set(registry.SOURCES) - {"own"}))
def test_a_task_must_not_begin_with_a_benchmarks_name(tmp_path, benchmark):
    message = problem(tmp_path, PAIR, PAIR | {"task": f"{benchmark}/new"})
    assert f"task '{benchmark}/new' begins with {benchmark!r}" in message


@pytest.mark.parametrize("other", [SET, QUAD, SAME])
def test_a_task_of_two_kinds(tmp_path, other):
    assert "task 'mine/spatial' has an earlier case of another kind" in problem(
        tmp_path, PAIR, other | {"task": "mine/spatial"}
    )


def test_invariance_and_directional_are_two_kinds(tmp_path):
    assert "task 'mine/rephrase' has an earlier case of another kind" in problem(
        tmp_path, SAME, OTHER | {"task": "mine/rephrase"}
    )


def test_a_task_of_two_kinds_in_two_files(tmp_path):
    write(tmp_path, PAIR)
    write(tmp_path, PAIR | {"id": "p2"}, SET | {"task": "mine/spatial"}, name="cases/more.jsonl")
    with pytest.raises(DataError, match=r"more\.jsonl, record on line 2: .*'mine/spatial'.* kind"):
        tasks(tmp_path)
    write(tmp_path, SET | {"task": "mine/spatial"}, name="cases/more.jsonl")
    with pytest.raises(DataError, match=r"more\.jsonl, record on line 1: .*'mine/spatial'.* kind"):
        tasks(tmp_path)


def test_a_repeated_id_in_a_task(tmp_path):
    message = problem(tmp_path, PAIR, SET | {"id": "p"}, PAIR | {"foil": "x"})
    assert "id 'p' is already used in task 'mine/spatial' (cases.jsonl, record on line 1)" in message


@pytest.mark.parametrize("identity", ["", " ", True, 1.5, None, ["x"], "a\nb", "\ud800"])
def test_an_invalid_id(tmp_path, identity):
    assert "field 'id' is " in problem(tmp_path, PAIR | {"id": identity})


@pytest.mark.parametrize("tags", ["x", ["x"], None, 3, {"a": None}, {"a": ["x"]}, {"a": ""}, {"a\n": "x"}])
def test_invalid_tags(tmp_path, tags):
    assert "field 'tags'" in problem(tmp_path, PAIR | {"tags": tags})


@pytest.mark.parametrize(("fields", "says"), json_table(TABLES, "an_answer_that_is_no_text_says_what_to_write"))
def test_an_answer_that_is_no_text_says_what_to_write(tmp_path, fields, says):
    message = problem(tmp_path, PAIR, fields)
    assert says in message
    assert len(message) < 700


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


@pytest.mark.parametrize("kind", ["invariant", "", 3])
def test_an_unknown_kind_of_questions(tmp_path, kind):
    assert "field 'kind' is " in problem(tmp_path, SAME | {"kind": kind})


def test_answers_that_do_not_fit_their_kind(tmp_path):
    assert "kind is 'invariance', but the answers are ('yes', 'no')" in problem(
        tmp_path, SAME | {"perturbed_answer": "no"}
    )
    assert "kind is 'directional', but the answers are ('yes', 'Yes.')" in problem(
        tmp_path, OTHER | {"perturbed_answer": "Yes."}
    )


@pytest.mark.parametrize("choices", ["yes", ["yes", 3], ["yes", " "], {"yes": 1}])
def test_invalid_choices(tmp_path, choices):
    assert "field 'choices' is " in problem(tmp_path, SAME | {"choices": choices})


def test_an_answer_that_is_not_among_the_choices(tmp_path):
    assert "among the choices ['yes', 'maybe']" in problem(tmp_path, OTHER | {"choices": ["yes", "maybe"]})


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"task": "mine/x", ', "is cut off"),
        ("[1]", "is a list ([1]), expected an object"),
        ("x", "is not JSON"),
        ('{"task": "mine/x", "task": "mine/y"}', "repeats the key 'task'"),
        ('{"task": NaN}', "holds NaN"),
    ],
)
def test_a_line_that_is_not_a_json_object(tmp_path, line, says):
    assert says in problem(tmp_path, PAIR, line)


def test_a_broken_line_before_others(tmp_path):
    assert "is not JSON" in problem(tmp_path, PAIR, '{"task": "mine/x",', PAIR, line=2)


def test_an_empty_file(tmp_path):
    write(tmp_path)
    with pytest.raises(DataError, match=r"cases\.jsonl: is empty"):
        tasks(tmp_path)


@pytest.mark.parametrize(("line", "problem_said"), json_table(TABLES, "a_line_of_a_further_kind_that_is_wrong"))
def test_a_line_of_a_further_kind_that_is_wrong(tmp_path, line, problem_said):
    assert problem_said in problem(tmp_path, line)


@pytest.mark.parametrize(("fields", "says"), json_table(TABLES, "a_case_in_which_true_and_false_are_the_same"))
def test_a_case_in_which_true_and_false_are_the_same(tmp_path, fields, says):
    assert says in problem(tmp_path, fields)


@pytest.mark.parametrize(
    ("box", "cut"),
    [
        ([-5, -2, 16, 48], "[0, 0, 11, 46]"),
        ([-0.3, 4, 10, 10], "[0, 4, 10, 10]"),
        ([3, -7.5, 10, 10.2], "[3, 0, 10, 3]"),
    ],
)
def test_a_box_that_begins_outside_its_image_is_shown_cut_at_the_edge(tmp_path, box, cut):
    for field in ({"box": box}, {"named": [box]}):
        write(tmp_path, PAIR | field)
        with pytest.raises(DataError) as caught:
            tasks(tmp_path)
        assert f"box {box} begins outside the image: left and top are at least 0; cut it at the edge, {cut}" in str(
            caught.value
        )


def test_a_box_that_is_not_in_its_image(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (40, 30)).save(tmp_path / "photos/1.jpg")
    for box in ([40, 0, 5, 5], [0, 30, 5, 5], [900, 900, 5, 5]):
        assert f"box {box} is outside the image, which has 40 x 30 pixels" in problem(tmp_path, PAIR | {"box": box})
    write(tmp_path, PAIR | {"box": [39, 29, 5, 5]})
    assert len(tasks(tmp_path)) == 1


def test_two_files_of_one_name_whose_cases_have_no_ids_are_named_by_their_paths(tmp_path):
    plain = {name: value for name, value in PAIR.items() if name != "id"}
    folders = tuple(tmp_path / name for name in ("one", "two"))
    for folder in folders:
        folder.mkdir()
        write(folder, plain)
    with pytest.raises(DataError) as caught:
        list(registry.read_source("own", ReadOptions(folders=folders, seed=0, wanted=lambda _: True)))
    assert all(str(folder / "cases.jsonl") in str(caught.value) for folder in folders)
