import builders
import pytest

from vlgate.judging.verdicts import unread
from vlgate.types import Ask, Case

IMAGE = builders.image("a.jpg")


def judged(answers, truths=("red", "red"), choices=("red", "blue"), capability="invariance"):
    asks = tuple(Ask(image=IMAGE, question=text, choices=choices) for text in ("First?", "Second?"))
    task = builders.task_of([Case(id="1", requests=asks, truths=truths)], capability=capability, shape="questions")
    [verdict] = builders.judged(task, [[{"answer": answer} for answer in answers]])
    return verdict


@pytest.mark.parametrize("reply", ["green", "red or blue", "I cannot tell.", "it might be red", ""])
def test_an_answer_that_names_no_choice_or_several_is_wrong_and_counted_as_unread(reply):
    verdict = judged((reply, "red"))
    assert verdict.state == "judged"
    assert not verdict.right
    assert verdict.facts == {
        "acc": 0.5,
        "cons": 0.0,
        "c_acc": 0.0,
        "acc_original": 0.0,
        "acc_perturbed": 1.0,
        "read": 0.5,
    }
    assert [prediction.answer for prediction in unread(verdict)] == [reply]
    assert f"{reply!r} names none of 'red', 'blue', or several" in verdict.why


@pytest.mark.parametrize(
    "answers",
    [
        ("holding", "holding"),
        ("holding", ' "Holding". '),
        ("holding", "wearing"),
        ("holding", "red"),
        ("red", "holding"),
        ("red or blue", "red or blue"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("capability", ["invariance", "directional"])
def test_an_unread_answer_is_consistent_with_nothing(answers, capability):
    verdict = judged(answers, truths=("red", "blue"), capability=capability)
    assert verdict.facts["cons"] == 0.0
    assert verdict.facts["read"] == (0.5 if "red" in answers else 0.0)


def test_an_unread_text_is_wrong_even_if_it_is_the_text_of_the_right_answer():
    verdict = judged(("green", "green"), truths=("green", "green"))
    assert (verdict.right, verdict.facts["acc"], verdict.facts["cons"]) == (False, 0.0, 0.0)


def test_an_answer_that_only_one_of_the_two_questions_offers_is_not_consistent_with_itself():
    asks = tuple(Ask(image=IMAGE, question="?", choices=choices) for choices in (("red", "blue"), ("big", "small")))
    case = Case(id="1", requests=asks, truths=("red", "big"))
    task = builders.task_of([case], capability="invariance", shape="questions")
    [verdict] = builders.judged(task, [[{"answer": "Red."}] * 2])
    assert (verdict.facts["acc"], verdict.facts["cons"], verdict.facts["read"]) == (0.5, 0.0, 0.5)


@pytest.mark.parametrize("silence", ["", "  ", '"."'])
@pytest.mark.parametrize("capability", ["invariance", "directional"])
def test_an_empty_answer_without_choices_is_unread(silence, capability):
    verdict = judged((silence, silence), choices=(), capability=capability)
    assert (verdict.facts["read"], verdict.facts["cons"], verdict.right) == (0.0, 0.0, False)
    assert f"{silence!r} is empty" in verdict.why
    assert len(unread(verdict)) == 2


def test_an_answer_without_choices_is_always_read():
    assert judged(("anything", "red"), choices=()).facts["read"] == 1.0


def test_a_tie_between_choices_is_wrong_and_consistent_with_nothing_but_is_not_unread_text():
    for answers in ((None, None), (None, "holding"), (None, "red")):
        for capability in ("invariance", "directional"):
            verdict = judged(answers, capability=capability)
            assert verdict.facts["cons"] == 0.0
            assert verdict.facts["read"] == (0.5 if "holding" in answers else 1.0)
            assert [reply.answer for reply in unread(verdict)] == [text for text in answers if text == "holding"]


def test_a_tie_is_called_a_tie():
    assert judged((None, "Red")).why == "answered a tie and 'red'; right are 'red' and 'red'"
