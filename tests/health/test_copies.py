"""Near-copies: cases that another task asks nearly so."""

from itertools import product

import pytest
from builders import asked_task, texts_task

from vlgate.audit.flaws import Flaw
from vlgate.audit.near_copies import near_copies
from vlgate.types import Case, Read, Task


def texts(name, shape, *rows):
    return texts_task(*rows, shape=shape, name=f"x/{name}", case=f"{name}-")


def questions(name, shape, *rows):
    asked = ((key, *(part for text in texts for part in (text, "yes"))) for key, *texts in rows)
    return asked_task(*asked, shape=shape, name=f"x/{name}")


def counts(*tasks):
    return {name: flaw.count for name, flaw in near_copies(tasks).items()}


A = ("000000000139.jpg", "A dog on a mat.", "A cat on a mat.")


@pytest.mark.parametrize(
    "other",
    [
        A,
        ("coco/000000000139.png", "a dog on the mat", "The cat on a mat!"),
        ("COCO_val2014_000000000139.jpg", "A  DOG on a mat", "A cat, on a mat"),
    ],
)
def test_the_same_texts_of_the_same_image_but_for_articles_case_and_punctuation(other):
    assert counts(texts("one", "pair", A), texts("two", "pair", other)) == {"x/one": 1, "x/two": 1}


@pytest.mark.parametrize(
    "other",
    [
        ("000000000140.jpg", *A[1:]),
        ("000000000139.jpg#blur6", *A[1:]),
        (A[0], A[2], A[1]),  # what is true there is false here
        (A[0], "A mat on a dog.", A[2]),
        (A[0], A[1], "A cow on a mat."),
    ],
)
def test_other_texts_images_and_truths_are_no_copies(other):
    assert counts(texts("one", "pair", A), texts("two", "pair", other)) == {}


def test_images_of_one_name_in_different_folders_are_different_ones():
    one, two = (texts(name, "pair", (f"{name}/dog.jpg", *A[1:])) for name in ("one", "two"))
    assert counts(one, two) == {}


def test_copies_within_a_task_are_no_copies_of_another_task():
    assert counts(texts("one", "pair", A, A), texts("two", "pair", ("b", "s", "t"))) == {}


def test_a_pair_in_a_case_of_another_shape_is_found_on_both_sides():
    twice = texts("twice", "two_true", (A[0], A[1], "A dog is on a mat.", A[2]))
    several = texts("several", "choice", (A[0], A[1], "A cow.", A[2]))
    found = near_copies([texts("one", "pair", A, ("b", "s", "t")), twice, several])
    assert {name: flaw.count for name, flaw in found.items()} == {"x/one": 1, "x/twice": 1, "x/several": 1}
    assert found["x/one"] == Flaw(
        name="near-copy",
        count=1,
        examples=("one-0",),
        why="nearly the same is asked of the same image in x/several (1), x/twice (1)",
    )


def test_questions_are_copies_if_all_of_the_case_are():
    single = questions("single", "single", ("a", "Is there a dog?"), ("b", "Is there a dog?"))
    again = questions("again", "single", ("a", "Is there a dog ?"), ("c", "Is there a dog?"))
    assert counts(single, again) == {"x/single": 1, "x/again": 1}
    both = questions("both", "questions", ("a", "Is there a dog?", "Is there no dog?"))
    other = questions("other", "questions", ("a", "Is there a dog?", "Is there a pet?"))
    assert counts(both, other, single) == {}
    assert counts(both, questions("same", "questions", ("a", "is there a dog", "is there no dog"))) == {
        "x/both": 1,
        "x/same": 1,
    }


def test_texts_without_images_are_compared_too():
    case = Case(id="1", requests=(Read(text="a cup"), Read(text="no cup")), truths=(True, False))
    tasks = [Task(id=f"x/{name}", capability="foil", shape="pair", cases=(case,)) for name in "ab"]
    assert counts(*tasks) == {"x/a": 1, "x/b": 1}


def test_the_most_frequent_of_the_other_tasks_are_named_and_the_rest_are_counted():
    rows = [(f"{number}.jpg", "a dog", "a cat") for number in range(5)]
    tasks = [texts(f"{size}", "pair", *rows[:size]) for size in (5, 4, 3, 2, 1)]
    found = near_copies(tasks)
    said = "nearly the same is asked of the same image in"
    assert found["x/5"].count == 4
    assert found["x/5"].why == f"{said} x/4 (4), x/3 (3), x/2 (2) and 1 more"
    assert found["x/1"].why == f"{said} x/2 (1), x/3 (1), x/4 (1) and 1 more"


def test_the_counts_are_those_of_plain_lines():
    """Every task against every other one, by comparing each case with each."""
    rows = list(product("ab", ("a dog", "the dog", "cat"), ("cat", "cow")))
    tasks = [texts(f"{step}", "pair", *rows[::step]) for step in (2, 3, 5)]

    def plain(case):
        return [(asked.image.key, asked.text.replace("a ", "").replace("the ", "")) for asked in case.requests]

    expected = {
        task.id: sum(
            any(plain(case) == plain(other) for them in tasks if them is not task for other in them.cases)
            for case in task.cases
        )
        for task in tasks
    }
    assert all(expected.values())
    assert counts(*tasks) == expected
