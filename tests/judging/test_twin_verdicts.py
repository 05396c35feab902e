"""Twins: a wrong answer about the counterfactual image is the prior, another one, or unread."""

import pytest
from builders import image, judged, task_of

from vlgate.judging.chance import chance
from vlgate.types import TIED, Ask, Case, Match

NORMAL, COUNTERFACTUAL = map(image, "ab")
CHOICES = ("three", "four", "five")


def question(choices=CHOICES):
    asked = tuple(Ask(image=image, question="How many legs?", choices=choices) for image in (NORMAL, COUNTERFACTUAL))
    return Case(id="1", requests=asked, truths=("four", "five"))


def answered(first, second, choices=CHOICES):
    task = task_of([question(choices)], capability="directional", shape="twin_questions")
    [verdict] = judged(task, [[{"answer": None if said == TIED else said} for said in (first, second)]])
    return verdict


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        ("five", "acc_counterfactual"),
        ("It has five legs.", "acc_counterfactual"),
        ("Four.", "prior_rate"),
        ("three", "other_rate"),
        (TIED, "other_rate"),
        ("four or five", "unread_rate"),
        ("many", "unread_rate"),
    ],
)
def test_each_reply_is_one_of_four(second, kind):
    verdict = answered("four", second)
    names = ("acc_counterfactual", "prior_rate", "other_rate", "unread_rate")
    assert {name: verdict.facts[name] for name in names} == {name: float(name == kind) for name in names}
    assert verdict.right == (kind == "acc_counterfactual")
    assert ("the answer of the normal image" in verdict.why) == (kind == "prior_rate")


def test_without_choices_the_texts_are_compared():
    assert answered("4", "Four", choices=()).facts["prior_rate"] == 1.0
    assert answered("four", "six", choices=()).facts["other_rate"] == 1.0


def test_both_answers_must_be_right():
    verdict = answered("five", "five")
    assert (verdict.right, verdict.facts["acc"], verdict.facts["acc_normal"]) == (False, 0.5, 0.0)


@pytest.mark.parametrize(("usual", "own", "prior"), [(0.9, 0.1, True), (0.1, 0.9, False), (0.5, 0.5, False)])
def test_captions(usual, own, prior):
    pairs = tuple(Match(image=image, text=text) for image in (NORMAL, COUNTERFACTUAL) for text in ("4", "5"))
    case = Case(id="1", requests=pairs, truths=(True, False, False, True))
    task = task_of([case], shape="twin_captions")
    [verdict] = judged(task, [[{"score": score} for score in (0.8, 0.2, usual, own)]])
    assert verdict.facts["prior_rate"] == prior
    assert verdict.facts["acc_counterfactual"] == (own > usual)
    assert ("the caption of the normal one better" in verdict.why) == prior


def test_chance_of_drawing_the_choices_at_random():
    found = chance("twin_questions", "directional", [question(), question(("four", "five"))])
    assert found["acc_counterfactual"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["prior_rate"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["other_rate"] == pytest.approx((1 / 3 + 0) / 2)
    assert found["c_acc"] == pytest.approx((1 / 9 + 1 / 4) / 2)
    assert chance("twin_questions", "directional", [question(())]) == {}
