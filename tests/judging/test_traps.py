"""No trap of released scorers: models that do not look are at chance or below in every further shape of cases.

In released code of What'sUp, SPEC, CREPE and ARO the true candidate comes first and the first of the highest scores
wins; POPE's labels alternate from line to line; VSR, MMVP and NaturalBench are answered by yes or by the first option.
"""

from itertools import product

import numpy as np
import pytest
from builders import image, judged, task_of

from vlgate.asking.items import hashed_order
from vlgate.judging.chance import chance
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Ask, Batch, Case, Match, Prediction

N = 400
YES_NO, THREE = ("yes", "no"), ("cup", "plate", "bowl")


def case(shape, number):
    """A case as the readers make it: what is true comes first, and the labels of single questions alternate."""
    one, other = image(f"{number}_0"), image(f"{number}_1")
    tags = {"set_all": str(number // 4), "pair_all": str(number // 2)} if shape == "choice" else {}
    if shape == "statements":
        asked, truths = (Match(image=one, text=f"{number}"),), (number % 2 == 0,)
    elif shape == "choice":
        asked = tuple(Match(image=one, text=f"{number} {index}") for index in range(4))
        truths = (True, False, False, False)
    elif shape == "image_choice":
        asked, truths = tuple(Match(image=each, text=f"{number}") for each in (one, other)), (True, False)
    elif shape == "two_true":
        asked = tuple(Match(image=one, text=f"{number} {index}") for index in range(3))
        truths = (True, True, False)
    elif shape == "image_quad":
        asked = tuple(Match(image=each, text=f"{number} {place}") for each in (one, other) for place in (0, 1))
        truths = (True, False, False, True)
    elif shape == "single":
        asked, truths = (Ask(image=one, question=f"{number}?", choices=YES_NO),), (YES_NO[number % 2],)
    else:
        asked = tuple(Ask(image=each, question=f"{number} {q}?", choices=YES_NO) for each in (one, other) for q in "ab")
        truths = ("yes", "no", "no", "yes")
    return Case(id=str(number), requests=asked, truths=truths, tags=tags)


MODELS = {
    "constant": lambda _: {"score": 0.5, "answer": "yes", "accepted": True},
    "first choice": lambda _: {"score": 1.0, "answer": YES_NO[0], "accepted": True},
    "last choice": lambda _: {"score": 0.0, "answer": YES_NO[1], "accepted": False},
    "alternating": lambda place: {"score": float(place % 2), "answer": YES_NO[place % 2], "accepted": place % 2 == 0},
    "counting": lambda place: {"score": float(place), "answer": YES_NO[place // 3 % 2], "accepted": place % 3 == 0},
}


def replies(task, model):
    """What a model says that replies by the place at which it is asked; a run asks in the order of a hash."""
    asked = [request for one in task.cases for request in one.requests]
    places = {place: turn for turn, place in enumerate(hashed_order(asked, 0))}
    found = {}
    for index, request in enumerate(asked):
        reply = MODELS[model](places[index])
        answer = reply.pop("answer")
        found[request] = Prediction(request=request, **({"answer": answer} if isinstance(request, Ask) else reply))
    return found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "shape", ["choice", "image_choice", "two_true", "image_quad", "single", "question_quad", "statements"]
)
def test_a_model_that_does_not_look_is_at_chance_or_below(shape, model):
    kind = "single" if shape == "statements" else shape
    task = task_of([case(shape, number) for number in range(N)], shape=kind)
    verdicts = judge(Batch(task=task, positions=tuple(range(N))), replies(task, model))
    found = metrics(columns(kind, verdicts))
    level = chance(kind, "foil", task.cases)
    main = found[SHAPES[kind].headline]
    assert main.value <= level[SHAPES[kind].headline] + 4 * np.sqrt(0.25 / N)
    for name in ("pair_all", "set_all", "precision", "recall", "q_acc", "i_acc"):
        if name in found and name in level and name != "recall":
            assert found[name].value <= level[name] + 4 * np.sqrt(0.25 / min(N, found[name].n))


@pytest.mark.parametrize("model", ["constant", "first choice", "last choice"])
@pytest.mark.parametrize("shape", ["choice", "image_choice", "two_true", "image_quad"])
def test_one_score_for_everything_is_never_right(shape, model):
    task = task_of([case(shape, number) for number in range(9)], shape=shape)
    verdicts = judge(Batch(task=task, positions=tuple(range(9))), replies(task, model))
    assert not any(verdict.right for verdict in verdicts)
    assert all(verdict.facts["tied"] == 1.0 for verdict in verdicts)


@pytest.mark.parametrize("model", ["first choice", "last choice"])
def test_an_answer_that_ignores_the_image_gets_no_group_of_crossed_questions(model):
    task = task_of([case("question_quad", number) for number in range(9)], shape="question_quad")
    found = metrics(columns("question_quad", judge(Batch(task=task, positions=tuple(range(9))), replies(task, model))))
    assert (found["g_acc"].value, found["q_acc"].value, found["q_image_acc"].value) == (0.0, 0.0, 0.5)


def questions(name, *asked):
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
    one = questions("a", *asked)
    expected = reached(capability, one)
    found = chance("questions", capability, [one])
    assert found == pytest.approx({name: expected[name] for name in found})
    assert set(found) == {"acc", "cons", "c_acc", "acc_original", "acc_perturbed"}


def test_chance_is_that_of_the_tasks_own_cases():
    cases = [questions("a", (YES_NO, "yes"), (YES_NO, "yes")), questions("b", (THREE, "cup"), (THREE, "cup"))]
    found = chance("questions", "invariance", cases)
    assert found["acc"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert found["c_acc"] == pytest.approx((1 / 4 + 1 / 9) / 2)
    assert found["cons"] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_a_question_without_choices_has_no_chance_level():
    cases = [questions("a", (YES_NO, "yes"), (YES_NO, "yes")), questions("b", ((), "cup"), ((), "cup"))]
    assert chance("questions", "invariance", cases) == {}
    assert chance("questions", "invariance", []) == {}


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "questions"])
def test_the_chance_level_of_scores_does_not_depend_on_the_cases(shape):
    assert chance(shape, "foil", []) == dict(SHAPES[shape].chance)
