"""A user's own cases: the kinds of case, their files, ids, tags and images."""

import json
import pickle
from pathlib import Path

import numpy as np
import own_case_lines as lines
import pytest
import releases
from builders import json_table
from own_case_lines import EVERY, OTHER, PAIR, QUAD, SAME, SET, SHAPES, one, tasks, without, write
from PIL import Image

from vlgate.errors import MissingImageError
from vlgate.sources import registry
from vlgate.sources.own.cases import shapes
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")


TWINS = {
    "task": "mine/unusual",
    "id": "t",
    "image": "blue.jpg",
    "twin": "yellow.jpg",
    "question": "What color is the banana?",
    "answer": "blue",
    "prior": "yellow",
    "choices": ["blue", "red", "yellow"],
}
COLOURS = ("blue", "red", "yellow")


@pytest.mark.parametrize(
    ("fields", "kind", "asked", "truths"),
    [
        (PAIR, "foil pair", [("photos/1.jpg", "a left of b"), ("photos/1.jpg", "b left of a")], (True, False)),
        (
            QUAD, "compositional quad", [(f"{image}.jpg", text) for image in "ab" for text in ("a on b", "b on a")],
            (True, False, False, True),
        ),
        (SET, "compositional set", [("a.jpg", text) for text in ("t1", "t2", "f1", "f2")], (True, True, False, False)),
        *(
            (
                fields, f"{fields['kind']} questions",
                [("a.jpg", fields[name], ("yes", "no")) for name in ("question", "perturbed")],
                ("yes", fields["perturbed_answer"]),
            )
            for fields in (SAME, OTHER)
        ),
        (
            SAME | {"choices": ["yes", "no"], "perturbed_image": "blurred.jpg"}, "invariance questions",
            [("a.jpg", SAME["question"], ("yes", "no")), ("blurred.jpg", SAME["perturbed"], ("yes", "no"))],
            ("yes", "Yes"),
        ),
        (  # the twin is asked first
            TWINS, "directional twin_questions",
            [(image, TWINS["question"], COLOURS) for image in ("yellow.jpg", "blue.jpg")], ("yellow", "blue"),
        ),
        (
            lines.CHOICE, "foil choice", [("a.jpg", text) for text in ("two cups", "a cup", "six cups")],
            (True, False, False),
        ),
        (lines.IMAGES, "foil image_choice", [(f"{name}.jpg", "two cups") for name in "abc"], (True, False, False)),
        (lines.STATEMENT, "foil single", [("a.jpg", "a cup is there")], (False,)),
        (lines.SINGLE, "foil single", [("a.jpg", "Is there a cup?", ("yes", "no"))], ("yes",)),
        (
            lines.TWO_TRUE, "foil two_true", [("a.jpg", text) for text in ("a cup", "one cup", "no cup")],
            (True, True, False),
        ),
        (
            lines.CROSSED, "compositional question_quad",
            [(f"{name}.jpg", text, ("yes", "no")) for name in "ab" for text in lines.CROSSED["questions"]],
            ("yes", "no", "no", "yes"),
        ),
    ],
)  # fmt: skip
def test_a_case_of_each_kind(tmp_path, fields, kind, asked, truths):
    task, case = one(tmp_path, fields)
    assert (task.id, f"{task.capability} {task.shape}") == (fields["task"], kind)
    assert (releases.asked(case), case.truths) == (asked, truths)
    assert (case.id, case.tags, case.origin) == (fields["id"], {}, "cases.jsonl, record on line 1")


def test_all_kinds_in_one_file_which_travel_between_processes(tmp_path):
    assert tasks(tmp_path) == tasks() == []
    assert dict(shapes([tmp_path])) == dict(shapes(())) == {}
    write(tmp_path, *EVERY)
    assert dict(shapes([tmp_path])) == SHAPES
    made = tasks(tmp_path)
    assert {task.id: task.shape for task in made} == SHAPES
    assert pickle.loads(pickle.dumps(made)) == made
    assert registry.shapes((tmp_path,)).items() >= SHAPES.items()
    options = ReadOptions(folders=(tmp_path,), seed=0, wanted="mine/set".__eq__)
    assert [task.id for task in registry.read_tasks(options)] == ["mine/set"]


def test_many_files_and_folders_make_one_task_and_a_folder_given_twice_counts_once(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    write(first, PAIR, PAIR | {"id": "p2"})
    write(first, PAIR | {"id": "p3"}, name="cases/z.jsonl")
    write(first, PAIR | {"id": "p4"}, name="cases/y.jsonl")
    write(second, PAIR | {"id": "p5"})
    (tmp_path / "link").symlink_to(first)
    [task] = tasks(first, second, first, tmp_path / "link")
    assert [case.id for case in task.cases] == ["p", "p2", "p4", "p3", "p5"]
    assert task.cases[0].requests[0].image is task.cases[1].requests[0].image


def test_unwanted_tasks_are_not_made(tmp_path):
    write(tmp_path, PAIR, SET | {"true": "wrong"})
    assert [task.id for task in tasks(tmp_path, wanted="mine/spatial".__eq__)] == ["mine/spatial"]
    assert tasks(tmp_path, wanted=lambda _: False) == []


def test_blank_lines_line_ends_of_windows_and_a_case_without_an_id_which_is_named_by_its_line(tmp_path):
    write(tmp_path, "", json.dumps(PAIR) + "\r", "  ", without(PAIR, "id") | {"foil": "a\u2028b"}, PAIR | {"id": 7})
    assert [case.id for case in tasks(tmp_path)[0].cases] == ["p", "cases on line 4", "7"]


def test_tags_are_slices_and_every_benchmark_is_named_as_its_tasks_are(tmp_path):
    _, case = one(tmp_path, PAIR | {"tags": {"side": "left", "objects": 2, "indoor": True}})
    assert case.tags == {"side": "left", "objects": "2", "indoor": "true"}
    names = {task.partition("/")[0] for task in registry.shapes()}
    assert names == set(registry.SOURCES) - {"own"}


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


def test_a_file_that_changes_is_read_again(tmp_path):
    write(tmp_path, PAIR)
    assert dict(shapes([tmp_path])) == {"mine/spatial": "pair"}
    write(tmp_path, PAIR, SET)
    assert dict(shapes([tmp_path])) == {"mine/spatial": "pair", "mine/set": "set"}


@pytest.mark.parametrize(
    ("fields", "choices"),
    [
        (SAME | {"answer": "a dog", "perturbed_answer": "a dog"}, ()),
        (OTHER | {"choices": ["no", "yes", "unclear"]}, ("no", "yes", "unclear")),
        (without(TWINS, "choices"), ()),
        (without(TWINS, "choices") | {"answer": "no", "prior": "yes"}, ("yes", "no")),
    ],
)
def test_questions_keep_their_choices_or_have_none_unless_answered_yes_or_no(tmp_path, fields, choices):
    assert [request.choices for request in one(tmp_path, fields)[1].requests] == [choices] * 2


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
    _, case = one(tmp_path, PAIR | {"named": [box, [0, 0, 3, 3]]})
    assert case.named == {"photos/1.jpg": (tuple(pixels), (0, 0, 3, 3))}
