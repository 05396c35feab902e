import math
from pathlib import Path

import pytest
from builders import image, judged, table

from vlgate.judging.verdicts import judge
from vlgate.types import Ask, Batch, Case, Match, Prediction, Task

IMAGE = image("a.jpg")
CAPABILITIES = {
    "pair": "foil",
    "quad": "compositional",
    "set": "compositional",
    "active_passive_set": "compositional",
    "questions": "invariance",
}


def task_of(shape, *, capability=None, truths=None, origin="", cases=1):
    size = {"pair": 2, "quad": 4, "set": 4, "active_passive_set": 4, "questions": 2}[shape]
    kind = (
        (lambda words: Ask(image=IMAGE, question=words))
        if shape == "questions"
        else (lambda words: Match(image=IMAGE, text=words))
    )
    made = tuple(
        Case(
            id=f"case-{number}",
            requests=tuple(kind(f"{number}/{index}") for index in range(size)),
            truths=truths or (True, False, False, True)[:size],
            origin=origin,
        )
        for number in range(cases)
    )
    return Task(id="x/y", capability=capability or CAPABILITIES[shape], shape=shape, cases=made)


def judge_one(task, replies, ties="strict"):
    [verdict] = judged(task, [replies], ties=ties)
    assert verdict.case is task.cases[0]
    assert [prediction.request for prediction in verdict.predictions] == list(verdict.case.requests)
    return verdict


def pair(caption, foil, ties="strict", **accepted):
    yes, no = accepted.get("yes"), accepted.get("no")
    replies = [{"score": caption, "accepted": yes}, {"score": foil, "accepted": no}]
    return judge_one(task_of("pair"), replies, ties)


def questions(answers, truths=("yes", "yes"), capability="invariance", ties="strict"):
    task = task_of("questions", capability=capability, truths=truths)
    return judge_one(task, [{"answer": answer} for answer in answers], ties)


@pytest.mark.parametrize(("shapes", "scores", "right", "facts", "why"), table(Path(__file__).with_name("verdicts.tsv")))
def test_scores_are_judged_and_the_sentence_says_them(shapes, scores, right, facts, why):
    expected = {name: float(value) for name, _, value in (fact.partition("=") for fact in facts.split())}
    for shape in shapes.split("|"):
        verdict = judge_one(task_of(shape), [{"score": float(score)} for score in scores.split()])
        assert verdict.state == "judged"
        assert verdict.right is (right == "right")
        assert {name: verdict.facts[name] for name in expected} == expected
        assert verdict.why == why


@pytest.mark.parametrize(
    ("ties", "above", "level", "below"),
    [("strict", True, False, False), ("half", True, False, False), ("credit", True, True, False)],
)
def test_a_tied_pair_is_right_only_if_ties_are_credited(ties, above, level, below):
    assert pair(1.0, 0.0, ties).right is above
    assert pair(0.5, 0.5, ties).right is level
    assert pair(0.0, 1.0, ties).right is below
    assert pair(0.5, 0.5, ties).facts["acc_r"] == {"strict": 0.0, "half": 0.5, "credit": 1.0}[ties]


def test_scores_that_differ_in_the_last_digit_do_not_tie():
    verdict = pair(math.nextafter(0.5, 1.0), 0.5)
    assert verdict.right
    assert verdict.facts == {"acc_r": 1.0, "tied": 0.0}


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("no", [True, False])
def test_a_pair_says_what_the_model_accepts_whatever_the_ranking(yes, no):
    verdict = pair(0.0, 1.0, yes=yes, no=no)
    assert verdict.facts == {"acc_r": 0.0, "acc": (yes + (not no)) / 2, "p_c": yes, "p_f": not no, "tied": 0.0}
    assert not verdict.right


@pytest.mark.parametrize("accepted", [{}, {"yes": True}, {"no": False}])
def test_a_pair_has_no_facts_of_acceptance_unless_the_model_does_for_both_texts(accepted):
    assert set(pair(1.0, 0.0, **accepted).facts) == {"acc_r", "tied"}


@pytest.mark.parametrize(
    ("answers", "truths", "original", "perturbed", "same"),
    [
        (("yes", "yes"), ("yes", "yes"), True, True, True),
        (("no", "no"), ("yes", "yes"), False, False, True),
        (("yes", "no"), ("yes", "yes"), True, False, False),
        (("left", "right"), ("right", "right"), False, True, False),
        (("no", "yes"), ("yes", "no"), False, False, False),
        (("yes", "no"), ("yes", "no"), True, True, False),
    ],
)
@pytest.mark.parametrize("capability", ["invariance", "directional"])
def test_two_answers_are_right_by_their_truths_and_consistent_by_each_other(
    answers, truths, original, perturbed, same, capability
):
    verdict = questions(answers, truths, capability)
    assert verdict.facts == {
        "acc": (original + perturbed) / 2,
        "cons": same if capability == "invariance" else not same,
        "c_acc": original and perturbed,
        "acc_original": original,
        "acc_perturbed": perturbed,
        "read": 1.0,
    }
    assert verdict.right is (original and perturbed)
    assert verdict.why == (f"answered {answers[0]!r} and {answers[1]!r}; right are {truths[0]!r} and {truths[1]!r}")


@pytest.mark.parametrize("said", ["yesterday", "eyes", "yes it is", "no", "y", "", "not yes"])
def test_an_answer_that_only_holds_the_right_one_is_wrong(said):
    verdict = questions((said, "yes"))
    assert not verdict.right
    named = ("acc_original", "acc_perturbed", "cons")
    assert [verdict.facts[name] for name in named] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("ties", ["strict", "half", "credit"])
def test_what_a_tie_of_scores_counts_makes_no_difference_to_answers(ties):
    assert questions(("yes", "no"), ties=ties) == questions(("yes", "no"))


@pytest.mark.parametrize(("skipped", "state"), [(False, "unscored"), (True, "skipped")])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", ["pair", "set", "questions"])
def test_a_case_that_lacks_a_reply_is_not_judged_and_says_why(shape, place, skipped, state):
    replies = [{"score": 1.0, "answer": "yes"}] * (4 if shape == "set" else 2)
    replies[place] = {"problem": "image 'a.jpg': it is broken", "skipped": skipped}
    verdict = judge_one(task_of(shape, origin="existence.json, record 7"), replies)
    assert (verdict.state, verdict.right, dict(verdict.facts)) == (state, False, {})
    assert verdict.why == "existence.json, record 7: image 'a.jpg': it is broken"


@pytest.mark.parametrize("broken", range(4))
def test_a_failure_is_not_hidden_behind_an_image_that_was_left_out_on_purpose(broken):
    replies = [{"problem": "missing", "skipped": True}] * 4
    replies[broken] = {"problem": "broken"}
    verdict = judge_one(task_of("quad"), replies)
    assert verdict.state == "unscored"
    assert verdict.why == "case-0: broken"


def test_only_the_selected_cases_are_judged_in_the_order_of_their_positions():
    task = task_of("pair", cases=4)
    replies = {
        request: Prediction(request=request, score=float(number * (1 - index)))
        for number, case in enumerate(task.cases)
        for index, request in enumerate(case.requests)
    }
    verdicts = judge(Batch(task=task, positions=(3, 0)), replies)
    assert [(verdict.case.id, verdict.right) for verdict in verdicts] == [("case-3", True), ("case-0", False)]


def test_cases_that_share_a_request_share_its_reply():
    image_texts = [Match(image=IMAGE, text=text) for text in ("true", "false", "also false")]
    cases = tuple(Case(id=foil.text, requests=(image_texts[0], foil), truths=(True, False)) for foil in image_texts[1:])
    task = Task(id="x/y", capability="foil", shape="pair", cases=cases)
    scores = dict(zip(image_texts, (0.5, 0.25, 0.75), strict=True))
    replies = {request: Prediction(request=request, score=score) for request, score in scores.items()}
    assert [verdict.right for verdict in judge(Batch(task=task, positions=(0, 1)), replies)] == [True, False]


def test_a_request_without_any_prediction_is_an_error_and_not_a_miss():
    task = task_of("pair")
    with pytest.raises(KeyError):
        judge(Batch(task=task, positions=(0,)), {})


def test_a_reply_without_a_score_is_an_error_and_not_a_miss():
    with pytest.raises(ValueError, match="no score"):
        judge_one(task_of("pair"), [{"score": 1.0}, {"answer": "yes"}])
