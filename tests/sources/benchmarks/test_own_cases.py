"""A user's own cases: the kinds of case, their files, ids, tags and images."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from builders import json_table
from own_case_lines import CROSSED, EVERY, OTHER, PAIR, QUAD, SAME, SET, SHAPES, one, tasks, without, write
from PIL import Image

from vlgate.errors import MissingImageError
from vlgate.sources import registry
from vlgate.sources.own.cases import shapes
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Ask, Match

TABLES = Path(__file__).with_suffix(".tsv")


def test_a_pair(tmp_path):
    task, case = one(tmp_path, PAIR)
    assert (task.id, task.capability, task.shape) == ("mine/spatial", "foil", "pair")
    assert [(request.image.key, request.text) for request in case.requests] == [
        ("photos/1.jpg", "a left of b"),
        ("photos/1.jpg", "b left of a"),
    ]
    assert (case.id, case.truths, case.tags) == ("p", (True, False), {})
    assert case.origin == "cases.jsonl, record on line 1"


def test_a_2x2(tmp_path):
    task, case = one(tmp_path, QUAD)
    assert (task.capability, task.shape) == ("compositional", "quad")
    asked = [(request.image.key, request.text) for request in case.requests]
    assert asked == [("a.jpg", "a on b"), ("a.jpg", "b on a"), ("b.jpg", "a on b"), ("b.jpg", "b on a")]
    assert case.truths == (True, False, False, True)


def test_a_set(tmp_path):
    task, case = one(tmp_path, SET)
    assert (task.capability, task.shape) == ("compositional", "set")
    assert [request.text for request in case.requests] == ["t1", "t2", "f1", "f2"]
    assert case.truths == (True, True, False, False)


@pytest.mark.parametrize("fields", [SAME, OTHER])
def test_questions(tmp_path, fields):
    task, case = one(tmp_path, fields)
    assert (task.capability, task.shape) == (fields["kind"], "questions")
    assert [(type(request), request.question) for request in case.requests] == [
        (Ask, fields["question"]),
        (Ask, fields["perturbed"]),
    ]
    assert case.truths == ("yes", fields["perturbed_answer"])
    assert {request.choices for request in case.requests} == {("yes", "no")}


def test_questions_with_choices_and_another_image(tmp_path):
    fields = SAME | {"choices": ["yes", "no"], "perturbed_image": "a-blurred.jpg"}
    _, case = one(tmp_path, fields)
    assert [(request.image.key, request.choices) for request in case.requests] == [
        ("a.jpg", ("yes", "no")),
        ("a-blurred.jpg", ("yes", "no")),
    ]


def test_all_kinds_in_one_file(tmp_path):
    write(tmp_path, *EVERY)
    assert dict(shapes([tmp_path])) == SHAPES
    assert {task.id: task.shape for task in tasks(tmp_path)} == SHAPES


def test_many_files_and_folders_make_one_task(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    write(first, PAIR, PAIR | {"id": "p2"})
    write(first, PAIR | {"id": "p3"}, name="cases/z.jsonl")
    write(first, PAIR | {"id": "p4"}, name="cases/y.jsonl")
    write(second, PAIR | {"id": "p5"})
    [task] = tasks(first, second)
    assert [case.id for case in task.cases] == ["p", "p2", "p4", "p3", "p5"]


def test_a_folder_given_twice_counts_once(tmp_path):
    write(tmp_path, PAIR)
    (tmp_path / "link").symlink_to(tmp_path)
    assert len(tasks(tmp_path, tmp_path, tmp_path / "link")[0].cases) == 1


def test_without_a_file_there_is_no_task(tmp_path):
    assert tasks(tmp_path) == tasks() == []
    assert dict(shapes([tmp_path])) == dict(shapes(())) == {}


def test_unwanted_tasks_are_not_made(tmp_path):
    write(tmp_path, PAIR, SET | {"true": "wrong"})
    assert [task.id for task in tasks(tmp_path, wanted="mine/spatial".__eq__)] == ["mine/spatial"]
    assert tasks(tmp_path, wanted=lambda _: False) == []


def test_a_case_without_an_id_is_named_by_its_line(tmp_path):
    write(tmp_path, PAIR, without(PAIR, "id"), PAIR | {"id": 7})
    assert [case.id for case in tasks(tmp_path)[0].cases] == ["p", "cases on line 2", "7"]


def test_blank_lines_and_line_ends_of_windows(tmp_path):
    write(tmp_path, "", json.dumps(PAIR) + "\r", "  ", PAIR | {"id": "p2", "foil": "a\u2028b"})
    assert [case.id for case in tasks(tmp_path)[0].cases] == ["p", "p2"]


def test_tags_are_slices(tmp_path):
    _, case = one(tmp_path, PAIR | {"tags": {"side": "left", "objects": 2, "indoor": True}})
    assert case.tags == {"side": "left", "objects": "2", "indoor": "true"}


def test_images_may_be_in_any_data_folder(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    write(first, PAIR, PAIR | {"id": "p2", "image": "deep/er/2.png"}, PAIR | {"id": "p3", "image": "none.jpg"})
    for place in (second / "photos/1.jpg", first / "deep/er/2.png"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    images = [case.requests[0].image for case in tasks(first, second)[0].cases]
    assert [image.where for image in images] == [str(second / "photos/1.jpg"), str(first / "deep/er/2.png"), ""]
    with pytest.raises(MissingImageError, match=r"a/none\.jpg.*b/none\.jpg"):
        images[2].load()


def test_cases_about_one_image_share_it(tmp_path):
    write(tmp_path, PAIR, PAIR | {"id": "p2"})
    first, second = tasks(tmp_path)[0].cases
    assert first.requests[0].image is second.requests[0].image


def test_every_benchmark_is_named_as_its_tasks_are():
    names = {task.partition("/")[0] for task in registry.shapes()}
    assert names == set(registry.SOURCES) - {"own"}


def test_a_file_that_changes_is_read_again(tmp_path):
    write(tmp_path, PAIR)
    assert dict(shapes([tmp_path])) == {"mine/spatial": "pair"}
    write(tmp_path, PAIR, SET)
    assert dict(shapes([tmp_path])) == {"mine/spatial": "pair", "mine/set": "set"}


def test_the_registry_knows_the_tasks_of_the_users_folders(tmp_path):
    write(tmp_path, *EVERY)
    assert registry.shapes((tmp_path,)).items() >= SHAPES.items()
    options = ReadOptions(folders=(tmp_path,), seed=0, wanted="mine/set".__eq__)
    assert [task.id for task in registry.read_tasks(options)] == ["mine/set"]


def test_tasks_travel_between_processes(tmp_path):
    write(tmp_path, *EVERY)
    assert pickle.loads(pickle.dumps(tasks(tmp_path))) == tasks(tmp_path)
    assert isinstance(tasks(tmp_path)[0].cases[0].requests[0], Match)


@pytest.mark.parametrize("fields", [SAME, OTHER], ids=["invariance", "directional"])
def test_questions_answered_yes_or_no_have_these_choices_without_a_field_choices(tmp_path, fields):
    _, case = one(tmp_path, without(fields, "choices"))
    assert [request.choices for request in case.requests] == [("yes", "no")] * 2


def test_questions_with_another_answer_keep_their_choices_or_have_none(tmp_path):
    _, open_question = one(tmp_path, SAME | {"answer": "a dog", "perturbed_answer": "a dog"})
    assert [request.choices for request in open_question.requests] == [(), ()]
    _, three = one(tmp_path, OTHER | {"choices": ["no", "yes", "unclear"]})
    assert [request.choices for request in three.requests] == [("no", "yes", "unclear")] * 2


def test_the_requests_of_the_further_kinds(tmp_path):
    write(tmp_path, *EVERY)
    found = {case.id: case for task in tasks(tmp_path) for case in task.cases}
    texts = {
        name: [asked.question if isinstance(asked, Ask) else asked.text for asked in case.requests]
        for name, case in found.items()
    }
    images = {name: [asked.image.key for asked in case.requests] for name, case in found.items()}
    assert (texts["c"], found["c"].truths) == (["two cups", "a cup", "six cups"], (True, False, False))
    assert (images["w"], set(texts["w"]), found["w"].truths) == (
        ["a.jpg", "b.jpg", "c.jpg"],
        {"two cups"},
        (True, False, False),
    )
    assert (texts["t"], found["t"].truths) == (["a cup is there"], (False,))
    assert (texts["o"], found["o"].truths, found["o"].requests[0].choices) == (
        ["Is there a cup?"],
        ("yes",),
        ("yes", "no"),
    )
    assert (texts["2"], found["2"].truths) == (["a cup", "one cup", "no cup"], (True, True, False))
    assert (images["x"], texts["x"]) == (["a.jpg"] * 2 + ["b.jpg"] * 2, CROSSED["questions"] * 2)
    assert (found["x"].truths, found["x"].requests[0].choices) == (("yes", "no", "no", "yes"), ("yes", "no"))


def test_a_box_names_a_region_of_the_image(tmp_path):
    pixels = np.zeros((30, 40, 3), np.uint8)
    pixels[5:25, 10:20] = 255
    (tmp_path / "photos").mkdir()
    Image.fromarray(pixels).save(tmp_path / "photos/1.png")
    _, case = one(tmp_path, PAIR | {"image": "photos/1.png", "box": [10, 5, 10, 20]})
    image = case.requests[0].image
    assert image.key == "photos/1.png#10,5,10,20"
    assert (image.load().size, np.asarray(image.load()).min()) == ((10, 20), 255)


@pytest.mark.parametrize(("box", "pixels"), json_table(TABLES, "a_box_with_fractions_is_every_pixel_that_it_touches"))
def test_a_box_with_fractions_is_every_pixel_that_it_touches(tmp_path, box, pixels):
    _, case = one(tmp_path, PAIR | {"box": box})
    assert case.requests[0].image.key == f"photos/1.jpg#{','.join(map(str, pixels))}"
    _, case = one(tmp_path, PAIR | {"named": [box]})
    assert case.named == {"photos/1.jpg": (tuple(pixels),)}


def test_boxes_of_what_the_texts_name_belong_to_the_image(tmp_path):
    _, case = one(tmp_path, PAIR | {"image": "photos/1.png", "named": [[10, 5, 10, 20], [0, 0, 3, 3]]})
    assert case.named == {"photos/1.png": ((10, 5, 10, 20), (0, 0, 3, 3))}
