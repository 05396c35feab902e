"""The count of images before the first test."""

import json

import pytest

from vlgate.errors import OptionError
from vlgate.images.files import file_image, missing_image
from vlgate.perturb.images import perturbed
from vlgate.record.options import Options
from vlgate.run.census import count, partly_missing, refuse_missing
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Case, Match, Read, Task


def task(here, cases, name="mine/pairs"):
    def image(place):
        key = f"{place}.jpg"
        return file_image(key, f"/data/{key}") if place < here else missing_image(key, ["/data/images"])

    made = [Case(id=str(n), requests=(Match(image=image(n), text="a"),), truths=(True,)) for n in range(cases)]
    return Task(id=name, capability="foil", shape="pair", cases=tuple(made))


def test_a_case_counts_if_all_of_its_images_have_a_file():
    there, gone = file_image("1.jpg", "/data/1.jpg"), missing_image("2.jpg", [])
    blurred = perturbed(gone, "flip")
    asked = [(there, there), (there, gone), (there, blurred), (perturbed(there, "flip"), there)]
    cases = [
        Case(id=str(n), requests=tuple(Ask(image=one, question="?") for one in pair), truths=("a", "b"))
        for n, pair in enumerate(asked)
    ]
    text = Case(id="text", requests=(Read(text="a"),), truths=(True,))
    found = count(Task(id="mine/q", capability="foil", shape="questions", cases=(*cases, text)))
    assert (found.cases, found.found, found.missing) == (5, 3, gone)


@pytest.mark.parametrize(("here", "cases", "refused"), [(95, 100, False), (94, 100, True), (0, 1, True), (3, 3, False)])
def test_a_run_needs_the_images_of_95_percent_of_each_task(here, cases, refused):
    tasks = [task(here, cases), task(2000, 2000, "mine/whole")]
    if not refused:
        refuse_missing(tasks)
        return
    with pytest.raises(OptionError) as caught:
        refuse_missing(tasks)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{here} of {cases} cases have their image: ")
    assert "--missing-images skip" in lines[0]
    assert lines[1].strip() == f"mine/pairs: {here} of {cases} cases have their image"
    assert "/data/images" in lines[2]
    assert len(lines) == 3


def test_a_refusal_lists_at_most_ten_tasks():
    with pytest.raises(OptionError) as caught:
        refuse_missing(task(1, 1000, f"mine/{n}") for n in range(29))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("29 of 29,000 cases have their image")
    assert sum("mine/" in line for line in lines) == 10
    assert any("19 more tasks" in line for line in lines)


def test_a_task_that_lacks_some_of_its_images_is_named():
    whole, texts = task(3, 3, "mine/whole"), task(0, 9, "mine/texts")
    assert partly_missing([whole, texts]) == ()
    [line] = partly_missing([whole, texts, task(99, 100)])
    assert line.startswith("mine/pairs: 99 of 100 cases have their image; for example image '99.jpg': not found")
    lines = partly_missing([task(1, 2, f"mine/{number}") for number in range(13)])
    assert len(lines) == 11
    assert lines[-1] == "and 3 more tasks lack some images; vlgate tasks lists them all"


def test_the_plan_of_a_run_counts_missing_images_for_every_model(tmp_path):
    (tmp_path / "1.png").touch()
    fields = {"task": "mine/a", "caption": "a cup", "foil": "a hat"}
    lines = [json.dumps(fields | {"id": name, "image": f"{name}.png"}) + "\n" for name in "12"]
    (tmp_path / "cases.jsonl").write_text("".join(lines))
    options = Options(folder=tmp_path, thresholds=tmp_path, results=tmp_path, model="blind", data=(tmp_path,))
    [note] = make_plan(options).notes
    assert note.startswith("mine/a: 1 of 2 cases have their image; for example image '2.png': not found; looked in ")
