"""No trap of released scorers: models that do not look are at chance or below in every further shape of cases.

In released code of What'sUp, SPEC, CREPE and ARO the true candidate comes first and the first of the highest scores
wins; POPE's labels alternate from line to line; VSR, MMVP and NaturalBench are answered by yes or by the first option.
"""

import itertools
from collections import Counter
from itertools import product

import numpy as np
import pytest
from builders import image, judged, tabled, task_of

from vlgate.asking.items import hashed_order
from vlgate.judging.chance import chance
from vlgate.judging.verdicts import judge, unread
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.run.together import asked_together
from vlgate.types import TIED, Ask, Batch, Case, Compare, Match, Prediction, Task

N = 400
YES_NO, THREE = ("yes", "no"), ("cup", "plate", "bowl")


def case(shape, number):
    """A case as the readers make it: what is true comes first, and the labels of single questions alternate."""
    one, tags = image(f"{number}_0"), {}
    if shape in MAKERS:
        asked, truths = MAKERS[shape](number)
    elif shape == "statements":
        asked, truths = (Match(image=one, text=f"{number}"),), (number % 2 == 0,)
    elif shape == "single":
        asked, truths = (Ask(image=one, question=f"{number}?", choices=YES_NO),), (YES_NO[number % 2],)
    else:
        truths = (True, False, False, False) if shape == "choice" else (True, True, False)
        asked = tuple(Match(image=one, text=f"{number} {index}") for index in range(len(truths)))
        tags = {"set_all": str(number // 4), "pair_all": str(number // 2)} if shape == "choice" else {}
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


COLOURS = ("red", "blue", "green")


def quad(number):
    pairs = itertools.product((image(f"{number}a"), image(f"{number}b")), (f"{number} a over b", f"{number} b over a"))
    return tuple(Match(image=shown, text=text) for shown, text in pairs), (True, False, False, True)


def picked(number, others=1):
    keys = [f"{number}-{index}" for index in range(others + 1)]
    return tuple(Match(image=image(key), text=f"a {number}") for key in keys), (True, *(False,) * others)


def crossed(number, choices=("yes", "no")):
    questions = (f"Is {number} red?", f"Is {number} blue?")
    pairs = itertools.product((image(f"{number}a"), image(f"{number}b")), questions)
    asked = tuple(Ask(image=shown, question=text, choices=choices) for shown, text in pairs)
    return asked, (choices[0], choices[1], choices[1], choices[0])


def twins(number):
    asked = tuple(
        Ask(image=image(f"{number}{side}"), question=f"Which colour, {number}?", choices=COLOURS) for side in "ab"
    )
    return asked, ("red", "blue")


MAKERS = {
    "quad": quad,
    "image_quad": quad,
    "twin_captions": quad,
    "image_choice": picked,
    "question_quad": crossed,
    "twin_questions": twins,
}


def made(shape, n=1, make=None):
    found = make or MAKERS[shape]
    cases = [Case(id=str(index), **dict(zip(("requests", "truths"), found(index), strict=True))) for index in range(n)]
    return Task(id="x/y", capability="compositional", shape=shape, cases=tuple(cases))


def together(shape, n=1, make=None, seed=0):
    [task], _ = asked_together([made(shape, n, make)], seed)
    return task


def replies_of(task, model):
    requests = list(dict.fromkeys(request for case in task.cases for request in case.requests))
    compared = [request for request in requests if isinstance(request, Compare)]
    asked = [request for request in requests if isinstance(request, Ask)]
    answers = [*zip(compared, model.compare(compared), strict=True), *zip(asked, model.answer(asked), strict=True)]
    return {one: Prediction(request=one, answer=None if said == TIED else said) for one, said in answers}


def judged_by(task, model):
    return judge(Batch(task=task, positions=tuple(range(len(task.cases)))), replies_of(task, model))


def with_answers(task, answers):
    """The verdict of the only case, whose requests have these answers in their order."""
    [verdict] = judged(task, [[{"answer": None if answer == TIED else answer} for answer in answers]])
    return verdict


@pytest.mark.parametrize("shape", MAKERS)
def test_right_answers_make_every_metric_1(shape):
    task = together(shape, 5)
    oracle = Oracle()
    oracle.prepare([task])
    for verdict in judged_by(task, oracle):
        wrong = {"prior_rate", "other_rate", "unread_rate", "undecided"}
        assert {value for name, value in verdict.facts.items() if name not in wrong} == {1.0}
        assert verdict.right
        assert set(verdict.facts) <= {*SHAPES[shape].metrics, "read", "undecided"}
        assert "right in both orders" in verdict.why


@pytest.mark.parametrize("shape", MAKERS)
def test_a_model_that_names_a_position_is_never_right(shape):
    """The first choice, the last one, or the image that is shown first, whatever is asked."""
    task = together(shape, 40)

    class Last(Constant):
        def answer(self, questions):
            return [question.choices[-1] for question in questions]

        compare = answer

    for model in (Constant(), Last()):
        verdicts = judged_by(task, model)
        assert not any(verdict.right for verdict in verdicts)
        if shape not in {"question_quad", "twin_questions"}:
            assert not any(verdict.facts.get(name) for verdict in verdicts for name in SHAPES[shape].metrics)


@pytest.mark.parametrize("shape", MAKERS)
def test_a_reply_that_is_unread_or_tied_never_helps(shape):
    """Whatever right reply is replaced, no metric rises but the rates of errors."""
    task = together(shape)
    right = [str(truth) for truth in task.cases[0].truths]
    whole = with_answers(task, right).facts
    for index in range(len(right)):
        for instead in ("I cannot say.", "first and second, yes and no, red and blue", TIED):
            found = with_answers(task, [*right[:index], instead, *right[index + 1 :]])
            assert found.facts["group" if "group" in found.facts else SHAPES[shape].headline] == 0.0
            assert all(
                found.facts[name] <= value
                for name, value in whole.items()
                if name in SHAPES[shape].metrics and not name.endswith("_rate")
            )
            assert len(unread(found)) == (instead != TIED)
            assert (found.facts["read"] < 1.0) == (instead != TIED)
            assert found.facts.get("tied", 0.0) == (instead == TIED)
            assert ("tied" in found.why) == (instead == TIED)
            assert ("unread" in found.why) == (instead != TIED)


@pytest.mark.parametrize("shape", MAKERS)
def test_guessing_reaches_the_chance_level_that_is_shown(shape):
    task = together(shape, 3000)
    verdicts = judged_by(task, Random(seed=3))
    found = chance(shape, "compositional", task.cases)
    assert set(found) == set(verdicts[0].facts) - {"read", "unread_rate", "undecided"}
    for name, level in found.items():
        spread = 4.5 * (max(level * (1 - level), 1e-9) / len(verdicts)) ** 0.5
        assert np.mean([verdict.facts[name] for verdict in verdicts]) == pytest.approx(level, abs=spread), name


def test_the_chance_levels():
    levels = {shape: chance(shape, "compositional", together(shape).cases) for shape in MAKERS}
    assert levels["quad"] == {"text": 1 / 16, "image": 1 / 16, "group": 1 / 256}
    assert levels["twin_captions"]["prior_rate"] == levels["twin_captions"]["acc_normal"] == 1 / 4
    assert levels["image_choice"] == {"top1_image": 1 / 4}
    assert levels["question_quad"] == {"g_acc": 1 / 256, "q_acc": 1 / 16, "i_acc": 1 / 16, "q_image_acc": 1 / 4}
    assert levels["twin_questions"]["c_acc"] == pytest.approx(1 / 81)
    assert levels["twin_questions"]["prior_rate"] == pytest.approx(1 / 9)
    three = together("image_choice", 1, lambda one: picked(one, 3)).cases
    assert chance("image_choice", "foil", three) == {"top1_image": 1 / 16}
    assert chance("question_quad", "foil", together("question_quad", 1, unlimited).cases) == {}


def unlimited(number):
    requests, _ = crossed(number)
    return tuple(Ask(image=request.image, question=request.question) for request in requests), ("a", "b", "b", "a")


def test_questions_without_choices_are_right_if_both_texts_are():
    task = together("question_quad", 1, unlimited)
    assert with_answers(task, ["A", "a", "b", "b", "B", "b", "a", "a"]).facts["g_acc"] == 1.0
    assert with_answers(task, ["A", "c", "b", "b", "B", "b", "a", "a"]).facts["q_image_acc"] == 0.75


@tabled
def test_a_quad(answers, facts, says):
    """The requests: the texts of both images, the images of both texts, each in two orders."""
    words = [("first", "second")[int(one) - 1] for one in answers.replace(" ", "")]
    verdict = with_answers(together("quad"), words)
    assert tuple(verdict.facts[name] for name in ("text", "image", "group")) == facts
    assert says in verdict.why


@pytest.mark.parametrize(
    ("second", "kind"), [("blue", "acc_counterfactual"), ("red", "prior_rate"), ("green", "other_rate")]
)
def test_the_prior_must_be_the_answer_in_both_orders(second, kind):
    task = together("twin_questions")
    names = ("acc_counterfactual", "prior_rate", "other_rate")
    facts = with_answers(task, ["red", "red", second, second]).facts
    assert {name: facts[name] for name in names} == {name: float(name == kind) for name in names}
    facts = with_answers(task, ["red", "red", "red", "blue"]).facts
    assert {name: facts[name] for name in names} == {name: float(name == "other_rate") for name in names}


def test_the_prior_of_captions():
    right = [str(truth) for truth in together("twin_captions").cases[0].truths]
    facts = with_answers(together("twin_captions"), [*right[:2], right[3], right[2], *right[4:]]).facts
    assert (facts["acc_normal"], facts["acc_counterfactual"], facts["prior_rate"]) == (1.0, 0.0, 1.0)
    facts = with_answers(together("twin_captions"), [*right[:2], right[2], right[2], *right[4:]]).facts
    assert (facts["acc_counterfactual"], facts["prior_rate"]) == (0.0, 0.0)


def test_the_true_one_of_several_images_moves_from_each_position_to_another_one():
    task = together("image_choice", 200, lambda one: picked(one, 4))
    places = Counter()
    for case, whole in zip(task.cases, made("image_choice", 200, lambda one: picked(one, 4)).cases, strict=True):
        one, other = case.requests
        assert sorted(shown.key for shown in one.images) == sorted(shown.key for shown in other.images)
        first, second = (asked.choices.index(truth) for asked, truth in zip(case.requests, case.truths, strict=True))
        assert one.images[first] == other.images[second] == whole.requests[0].image
        assert first != second
        places[first] += 1
    assert set(places) == set(range(5))
    assert max(places.values()) < 70
