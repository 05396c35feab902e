"""A user's own twins: an image that is not as usual, its twin, a question, the answer and the prior."""

import pytest
from own_case_lines import one, problem, without

from vlgate.types import Ask

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


def test_a_case_asks_the_twin_first(tmp_path):
    task, case = one(tmp_path, TWINS)
    assert (task.capability, task.shape) == ("directional", "twin_questions")
    assert [request.image.key for request in case.requests] == ["yellow.jpg", "blue.jpg"]
    assert {(type(request), request.question, request.choices) for request in case.requests} == {
        (Ask, TWINS["question"], ("blue", "red", "yellow"))
    }
    assert case.truths == ("yellow", "blue")


def test_choices_are_optional(tmp_path):
    assert one(tmp_path, without(TWINS, "choices"))[1].requests[0].choices == ()
    yes = without(TWINS, "choices") | {"answer": "no", "prior": "yes"}
    assert one(tmp_path, yes)[1].requests[0].choices == ("yes", "no")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prior": "Blue."}, "answer and prior are both 'Blue.'"),
        ({"choices": ["blue", "red"]}, "are not all among the choices"),
        ({"choices": "blue"}, "choices"),
        ({"twin": "../yellow.jpg"}, "the image's name is '../yellow.jpg'"),
        ({"twins": "a.jpg"}, "field 'twins' is unknown"),
    ],
)
def test_a_wrong_line(tmp_path, change, said):
    assert said in problem(tmp_path, TWINS | change)


@pytest.mark.parametrize("field", ["image", "twin", "question", "answer"])
def test_a_missing_field(tmp_path, field):
    assert f"field {field!r} is missing" in problem(tmp_path, without(TWINS, field))
