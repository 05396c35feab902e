import math

import pytest
from builders import image, judged

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
            requests=tuple(kind(f"{number}/{place}") for place in range(size)),
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


def quad(*scores, ties="strict"):
    return judge_one(task_of("quad"), [{"score": score} for score in scores], ties)


def questions(answers, truths=("yes", "yes"), capability="invariance", ties="strict"):
    task = task_of("questions", capability=capability, truths=truths)
    return judge_one(task, [{"answer": answer} for answer in answers], ties)


@pytest.mark.parametrize(
    ("caption", "foil", "facts", "word"),
    [
        (0.75, 0.25, {"acc_r": 1.0, "tied": 0.0}, "above"),
        (0.25, 0.75, {"acc_r": 0.0, "tied": 0.0}, "below"),
        (0.5, 0.5, {"acc_r": 0.0, "tied": 1.0}, "level with"),
    ],
)
def test_a_pair_is_ranked_by_its_scores_and_the_sentence_says_them(caption, foil, facts, word):
    verdict = pair(caption, foil)
    assert verdict.state == "judged"
    assert verdict.facts == facts
    assert verdict.why == f"the caption scores {caption:g}, {word} the foil's {foil:g}"


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
    assert verdict.facts == {
        "acc_r": 0.0,
        "acc": (yes + (not no)) / 2,
        "p_c": yes,
        "p_f": not no,
        "tied": 0.0,
    }
    assert not verdict.right


@pytest.mark.parametrize("accepted", [{}, {"yes": True}, {"no": False}])
def test_a_pair_has_no_facts_of_acceptance_unless_the_model_does_for_both_texts(accepted):
    assert set(pair(1.0, 0.0, **accepted).facts) == {"acc_r", "tied"}


@pytest.mark.parametrize(
    ("scores", "text", "image", "held"),
    [
        ((3.0, 1.0, 1.0, 3.0), True, True, 4),
        ((3.0, 1.0, 4.0, 5.0), True, False, 3),
        ((9.0, 0.0, 3.0, 2.0), False, True, 3),
        ((0.9, 0.1, 0.9, 0.1), False, False, 1),
        ((1.0, 3.0, 3.0, 1.0), False, False, 0),
        ((0.3, 0.3, 0.3, 0.3), False, False, 0),
    ],
)
def test_a_quad_has_a_text_an_image_and_a_group_score(scores, text, image, held):
    verdict = quad(*scores)
    assert {name: verdict.facts[name] for name in ("text", "image", "group")} == {
        "text": text,
        "image": image,
        "group": text and image,
    }
    assert verdict.right is (text and image)
    a, b, c, d = (f"{score:g}" for score in scores)
    assert verdict.why == f"{held} of 4 comparisons hold (image 0: {a}, {b}; image 1: {c}, {d})"


def judged_set(*scores, ties="strict", shape="set"):
    return judge_one(task_of(shape, truths=(True, True, False, False)), [{"score": score} for score in scores], ties)


@pytest.mark.parametrize("shape", ["set", "active_passive_set"])
@pytest.mark.parametrize(
    ("scores", "right", "error", "tied", "held"),
    [
        ((4.0, 3.0, 2.0, 1.0), True, False, False, 4),
        ((3.0, 3.0, 1.0, 1.0), True, False, False, 4),
        ((4.0, 1.0, 2.0, 3.0), False, False, False, 2),
        ((1.0, 2.0, 3.0, 4.0), False, True, False, 0),
        ((4.0, 2.0, 2.0, 1.0), False, False, True, 3),
        ((2.0, 1.0, 4.0, 2.0), False, False, True, 0),
        ((0.3, 0.3, 0.3, 0.3), False, False, True, 0),
    ],
)
def test_a_set_is_right_with_both_true_sentences_on_top_and_an_error_with_both_false(
    shape, scores, right, error, tied, held
):
    verdict = judged_set(*scores, shape=shape)
    named = ("set_acc", "set_error", "tied")
    assert {name: verdict.facts[name] for name in named} == dict(zip(named, (right, error, tied), strict=True))
    assert verdict.right is right
    a, b, c, d = (f"{score:g}" for score in scores)
    expected = f"{held} of 4 comparisons of a true with a false sentence hold (true: {a}, {b}; false: {c}, {d})"
    assert verdict.why == expected


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
        request: Prediction(request=request, score=float(number * (1 - place)))
        for number, case in enumerate(task.cases)
        for place, request in enumerate(case.requests)
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
