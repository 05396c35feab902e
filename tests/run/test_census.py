"""The count of images before the first test."""

import pytest

from vlgate.errors import OptionError
from vlgate.images.files import file_image, missing_image
from vlgate.perturb.images import perturbed
from vlgate.run.census import count, refuse_missing
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
