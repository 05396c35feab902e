from itertools import product

import pytest
from builders import image, judged, task_of

from vlgate.judging.chance import chance
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Ask, Case

YES_NO, THREE = ("yes", "no"), ("cup", "plate", "bowl")


def case(name, *asked):
    shown = image(f"{name}.jpg")
    requests = tuple(Ask(image=shown, question=f"{name}/{n}?", choices=choices) for n, (choices, _) in enumerate(asked))
    return Case(id=name, requests=requests, truths=tuple(truth for _, truth in asked))


def reached(capability, one):
    """The mean of each metric over all combinations of choices, which are equally likely."""
    task = task_of([one], capability=capability, shape="questions")
    pairs = product(*(request.choices for request in one.requests))
    replies = ([[{"answer": answer} for answer in pair]] for pair in pairs)
    found = [metrics(columns("questions", judged(task, reply))) for reply in replies]
    return {name: sum(values[name].value for values in found) / len(found) for name in found[0]}


@pytest.mark.parametrize("capability", ["invariance", "directional"])
@pytest.mark.parametrize(
    "asked",
    [
        [(YES_NO, "yes"), (YES_NO, "no")],
        [(THREE, "cup"), (THREE[::-1], "cup")],
        [(THREE, "cup"), (YES_NO, "yes")],
        [(("Cup", "plate"), "cup"), (THREE, "bowl")],
    ],
)
def test_chance_is_the_mean_over_all_combinations_of_choices(capability, asked):
    one = case("a", *asked)
    expected = reached(capability, one)
    found = chance("questions", capability, [one])
    assert found == pytest.approx({name: expected[name] for name in found})
    assert set(found) == {"acc", "cons", "c_acc", "acc_original", "acc_perturbed"}


def test_chance_is_that_of_the_tasks_own_cases():
    cases = [case("a", (YES_NO, "yes"), (YES_NO, "yes")), case("b", (THREE, "cup"), (THREE, "cup"))]
    found = chance("questions", "invariance", cases)
    assert found["acc"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert found["c_acc"] == pytest.approx((1 / 4 + 1 / 9) / 2)
    assert found["cons"] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_a_question_without_choices_has_no_chance_level():
    cases = [case("a", (YES_NO, "yes"), (YES_NO, "yes")), case("b", ((), "cup"), ((), "cup"))]
    assert chance("questions", "invariance", cases) == {}
    assert chance("questions", "invariance", []) == {}


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "questions"])
def test_the_chance_level_of_scores_does_not_depend_on_the_cases(shape):
    assert chance(shape, "foil", []) == dict(SHAPES[shape].chance)
