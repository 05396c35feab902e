import math
from dataclasses import replace
from pathlib import Path

import builders
import numpy as np
import pytest
from builders import image, judged, table, tabled
from hypothesis import given
from hypothesis import strategies as st

from vlgate.asking.items import images_of_case
from vlgate.judging.chance import chance
from vlgate.judging.judged import RequestsOf, Verdicts, in_order, joined, replies_of, replies_to, verdicts_of
from vlgate.judging.verdicts import judge, unread
from vlgate.metrics import sentences
from vlgate.sources.reading.source import texts_about
from vlgate.types import TIED, Ask, Batch, Case, Match, Prediction

IMAGE = image("a.jpg")


def task_of(shape, *, capability="invariance", truths=None, choices=(), origin="", cases=1):
    def request(text):
        asks = shape == "questions"
        return Ask(image=IMAGE, question=text, choices=choices) if asks else Match(image=IMAGE, text=text)

    size = 2 if shape in {"pair", "questions"} else 4
    truths = truths or (True, False, False, True)[:size]
    texts = [[f"{number}/{index}" for index in range(size)] for number in range(cases)]
    made = [
        Case(id=f"case-{number}", requests=tuple(map(request, row)), truths=truths, file=origin)
        for number, row in enumerate(texts)
    ]
    return builders.task_of(made, capability=capability, shape=shape)


def judge_one(task, replies, ties="strict"):
    [verdict] = judged(task, [replies], ties=ties)
    assert verdict.case is task.cases[0]
    assert [prediction.request for prediction in verdict.predictions] == list(verdict.case.requests)
    return verdict


def pair(caption, foil, ties="strict", **accepted):
    yes, no = accepted.get("yes"), accepted.get("no")
    replies = [{"score": caption, "accepted": yes}, {"score": foil, "accepted": no}]
    return judge_one(task_of("pair"), replies, ties)


def questions(answers, truths=("yes", "yes"), capability="invariance", choices=()):
    task = task_of("questions", capability=capability, truths=truths, choices=choices)
    return judge_one(task, [{"answer": answer} for answer in answers])


def colours(answers, truths=("red", "red"), **how):
    return questions(answers, truths, **{"choices": ("red", "blue"), **how})


@pytest.mark.parametrize(("shapes", "scores", "right", "facts", "why"), table(Path(__file__).with_name("verdicts.tsv")))
def test_scores_are_judged_and_the_sentence_says_them(shapes, scores, right, facts, why):
    expected = {name: float(value) for name, _, value in (fact.partition("=") for fact in facts.split())}
    for shape in shapes.split("|"):
        verdict = judge_one(task_of(shape), [{"score": float(score)} for score in scores.split()])
        assert verdict.state == "judged"
        assert verdict.right is (right == "right")
        assert {name: verdict.facts[name] for name in expected} == expected
        assert verdict.why == why


@tabled
def test_a_tied_pair_is_right_only_if_ties_are_credited(ties, above, level, below):
    assert pair(math.nextafter(0.5, 1.0), 0.5, ties).right is above
    assert pair(0.5, 0.5, ties).right is level
    assert pair(0.0, 1.0, ties).right is below
    assert pair(0.5, 0.5, ties).facts["acc_r"] == {"strict": 0.0, "half": 0.5, "credit": 1.0}[ties]


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
    task = builders.task_of(cases)
    scores = dict(zip(image_texts, (0.5, 0.25, 0.75), strict=True))
    replies = {request: Prediction(request=request, score=score) for request, score in scores.items()}
    assert [verdict.right for verdict in judge(Batch(task=task, positions=(0, 1)), replies)] == [True, False]


def test_a_request_without_any_prediction_is_an_error_and_not_a_miss():
    with pytest.raises(KeyError):
        judge(Batch(task=task_of("pair"), positions=(0,)), {})


def test_a_reply_without_a_score_is_an_error_and_not_a_miss():
    with pytest.raises(ValueError, match="no score"):
        judge_one(task_of("pair"), [{"score": 1.0}, {"answer": "yes"}])


@pytest.mark.parametrize("reply", ["green", "red or blue", "I cannot tell.", "it might be red", ""])
def test_an_answer_that_names_no_choice_or_several_is_wrong_and_counted_as_unread(reply):
    verdict = colours((reply, "red"))
    assert verdict.state == "judged"
    assert not verdict.right
    expected = {"acc": 0.5, "cons": 0.0, "c_acc": 0.0, "acc_original": 0.0, "acc_perturbed": 1.0, "read": 0.5}
    assert verdict.facts == expected
    assert [prediction.answer for prediction in unread(verdict)] == [reply]
    assert f"{reply!r} names none of 'red', 'blue', or several" in verdict.why


@pytest.mark.parametrize(
    "answers",
    [("holding", ' "Holding". '), ("holding", "wearing"), ("red", "holding"), ("red or blue", "red or blue"), ("", "")],
)
@pytest.mark.parametrize("capability", ["invariance", "directional"])
def test_an_unread_answer_is_consistent_with_nothing(answers, capability):
    verdict = colours(answers, truths=("red", "blue"), capability=capability)
    assert verdict.facts["cons"] == 0.0
    assert verdict.facts["read"] == (0.5 if "red" in answers else 0.0)


def test_an_unread_text_is_wrong_even_if_it_is_the_text_of_the_right_answer():
    verdict = colours(("green", "green"), truths=("green", "green"))
    assert (verdict.right, verdict.facts["acc"], verdict.facts["cons"]) == (False, 0.0, 0.0)


def test_an_answer_that_only_one_of_the_two_questions_offers_is_not_consistent_with_itself():
    asks = tuple(Ask(image=IMAGE, question="?", choices=choices) for choices in (("red", "blue"), ("big", "small")))
    case = Case(id="1", requests=asks, truths=("red", "big"))
    task = builders.task_of([case], capability="invariance", shape="questions")
    [verdict] = judged(task, [[{"answer": "Red."}] * 2])
    assert (verdict.facts["acc"], verdict.facts["cons"], verdict.facts["read"]) == (0.5, 0.0, 0.5)


@pytest.mark.parametrize("silence", ["", "  ", '"."'])
@pytest.mark.parametrize("capability", ["invariance", "directional"])
def test_an_empty_answer_without_choices_is_unread(silence, capability):
    verdict = colours((silence, silence), choices=(), capability=capability)
    assert (verdict.facts["read"], verdict.facts["cons"], verdict.right) == (0.0, 0.0, False)
    assert f"{silence!r} is empty" in verdict.why
    assert len(unread(verdict)) == 2


def test_a_tie_between_choices_is_wrong_and_consistent_with_nothing_but_is_not_unread_text():
    for answers in ((None, None), (None, "holding"), (None, "red")):
        for capability in ("invariance", "directional"):
            verdict = colours(answers, capability=capability)
            assert verdict.facts["cons"] == 0.0
            assert verdict.facts["read"] == (0.5 if "holding" in answers else 1.0)
            assert [reply.answer for reply in unread(verdict)] == [text for text in answers if text == "holding"]
    assert verdict.why == "answered a tie and 'red'; right are 'red' and 'red'"


NORMAL, COUNTERFACTUAL = map(image, "ab")
LEGS = ("three", "four", "five")


def twins(choices=LEGS):
    asked = tuple(Ask(image=image, question="How many legs?", choices=choices) for image in (NORMAL, COUNTERFACTUAL))
    return Case(id="1", requests=asked, truths=("four", "five"))


def twin_answers(first, second, choices=LEGS):
    task = builders.task_of([twins(choices)], capability="directional", shape="twin_questions")
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
def test_each_reply_to_the_second_twin_is_one_of_four(second, kind):
    verdict = twin_answers("four", second)
    names = ("acc_counterfactual", "prior_rate", "other_rate", "unread_rate")
    assert {name: verdict.facts[name] for name in names} == {name: float(name == kind) for name in names}
    assert verdict.right == (kind == "acc_counterfactual")
    assert ("the answer of the normal image" in verdict.why) == (kind == "prior_rate")


def test_without_choices_the_texts_of_twins_are_compared():
    assert twin_answers("4", "Four", choices=()).facts["prior_rate"] == 1.0
    assert twin_answers("four", "six", choices=()).facts["other_rate"] == 1.0


@pytest.mark.parametrize(("usual", "own", "prior"), [(0.9, 0.1, True), (0.1, 0.9, False), (0.5, 0.5, False)])
def test_the_captions_of_twins(usual, own, prior):
    pairs = tuple(Match(image=image, text=text) for image in (NORMAL, COUNTERFACTUAL) for text in ("4", "5"))
    case = Case(id="1", requests=pairs, truths=(True, False, False, True))
    task = builders.task_of([case], shape="twin_captions")
    [verdict] = judged(task, [[{"score": score} for score in (0.8, 0.2, usual, own)]])
    assert verdict.facts["prior_rate"] == prior
    assert verdict.facts["acc_counterfactual"] == (own > usual)
    assert ("the caption of the normal one better" in verdict.why) == prior


def test_the_chance_of_twins_is_that_of_drawing_their_choices():
    found = chance("twin_questions", "directional", [twins(), twins(("four", "five"))])
    assert found["acc_counterfactual"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["prior_rate"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["other_rate"] == pytest.approx((1 / 3 + 0) / 2)
    assert found["c_acc"] == pytest.approx((1 / 9 + 1 / 4) / 2)
    assert chance("twin_questions", "directional", [twins(())]) == {}


REQUESTS = [Match(image=IMAGE, text=f"text {number}") for number in range(6)]
PREDICTION = st.builds(
    dict,
    score=st.none() | st.floats(allow_nan=False),
    answer=st.none() | st.text(max_size=3),
    accepted=st.none() | st.booleans(),
    cut=st.booleans(),
) | st.builds(dict, problem=st.text(max_size=3), skipped=st.booleans())
PREDICTIONS = st.lists(PREDICTION, min_size=6, max_size=6).map(
    lambda said: [Prediction(request=request, **one) for request, one in zip(REQUESTS, said, strict=True)]
)


def scored(*positions, reverse=False):
    scores = [float(index % 3) * (-1 if reverse else 1) for index in range(6)]
    said = {request: Prediction(request=request, score=score) for request, score in zip(REQUESTS, scores, strict=True)}
    pairs = [tuple(REQUESTS[row : row + 2]) for row in (0, 2, 4)]
    cases = [Case(id=f"case-{row}", requests=pair, truths=(True, False)) for row, pair in enumerate(pairs)]
    return judge(Batch(task=builders.task_of(cases), positions=positions), said)


@given(PREDICTIONS)
def test_predictions_come_out_of_the_columns_as_they_went_in(said):
    columns = replies_of(said)
    assert dict(columns) == {one.request: one for one in said}
    assert [columns.take([5, 0]).at(place) for place in (0, 1)] == [said[5], said[0]]
    assert [joined([columns, columns]).at(index) for index in range(12)] == said * 2


def test_equal_requests_have_one_reply_which_is_the_first():
    predictions = {request: Prediction(request=request, score=1.0) for request in REQUESTS}
    replies = replies_to([*REQUESTS[:2], REQUESTS[0]], predictions)
    assert len(replies.requests) == 3
    assert len(replies) == len(list(replies)) == len(replies.once().requests) == 2
    assert list(replies.once()) == REQUESTS[:2]


def test_a_score_that_is_not_a_number_is_an_error():
    with pytest.raises(ValueError, match="NaN"):
        replies_of([Prediction(request=REQUESTS[0], score=np.nan)])


def test_verdicts_are_a_sequence():
    verdicts = scored(0, 1, 2)
    assert isinstance(verdicts, Verdicts)
    assert [verdict.case.id for verdict in verdicts] == ["case-0", "case-1", "case-2"]
    assert verdicts[-1] == verdicts[2] != verdicts[0]
    assert verdicts[1:] == (verdicts[1], verdicts[2])
    with pytest.raises(IndexError):
        verdicts[3]


def test_verdicts_that_someone_made_keep_their_sentences():
    told = [replace(one, why=f"because {one.case.id}") for one in scored(0, 1, 2)]
    again = verdicts_of(told)
    assert again == told
    assert again.whys() == [again.why(row) for row in range(3)] == [f"because case-{row}" for row in range(3)]
    both = in_order([again.take([2]), scored(0)], [2, 0])
    assert [one.why for one in both] == [scored(0)[0].why, "because case-2"]


def test_parts_are_joined_in_the_order_of_the_cases_and_the_later_one_counts():
    whole = in_order([scored(2, 0), scored(1), scored(0, reverse=True)], [2, 0, 1, 0])
    assert [one.case.id for one in whole] == ["case-0", "case-1", "case-2"]
    assert whole[0] == scored(0, reverse=True)[0] != scored(0)[0]
    assert whole.whys() == [one.why for one in whole]
    assert len(in_order([], [])) == 0


@pytest.mark.parametrize(
    ("why", "scores", "sentence"),
    [
        (sentences.pair, (0.815, 0.8150000000000001), "the caption scores 0.815, by 1e-16 below the foil's 0.815"),
        (sentences.pair, (0.815, 0.4), "the caption scores 0.815, above the foil's 0.4"),
        (sentences.pair, (0.71234, 0.71229), "the caption scores 0.71234, above the foil's 0.71229"),
        (sentences.pair, (0.5, 0.5), "the caption scores 0.5, level with the foil's 0.5"),
        (sentences.pair, (1234.4, -1e-05), "the caption scores 1230, above the foil's -1e-05"),
        (sentences.pair, (0.8145, 0.8144999999999999), "the caption scores 0.8145, by 1e-16 above the foil's 0.8145"),
        (
            sentences.choice,
            (1230.0, 1230.5, 0.8144999999999999, 0.8145000000000001),
            "the true candidate scores 1230, by 0.5 below the best of 3 false ones with 1230",
        ),
        (
            sentences.choice,
            (0.8150000000000001, 0.1, 0.815),
            "the true candidate scores 0.815, by 1e-16 above the best of 2 false ones with 0.815",
        ),
        (
            sentences.two_true,
            (0.8150000000000001, 0.815, 0.815),
            "1 of 2 true captions score above the false one (0.815, 0.815; false: 0.815)",
        ),
    ],
)
def test_scores_that_differ_by_rounding_alone_have_three_digits_and_their_order(why, scores, sentence):
    assert why(sentences.CaseReplies(scores)) == sentence


TEXTS = st.lists(st.text(st.characters(exclude_characters="\0")), min_size=1, max_size=4)


@given(TEXTS, TEXTS)
def test_texts_about_an_image_are_the_requests_that_a_tuple_of_them_holds(texts, others):
    asked, plain = texts_about(IMAGE, texts), tuple(Match(image=IMAGE, text=text) for text in texts)
    assert (len(asked), hash(asked), repr(asked)) == (len(plain), hash(plain), repr(plain))
    assert [asked[place] for place in range(-len(texts), len(texts))] == [*plain, *plain]
    assert (asked[1:], tuple(reversed(asked))) == (plain[1:], plain[::-1])
    with pytest.raises(IndexError):
        asked[len(texts)]
    assert (asked == texts_about(IMAGE, others)) == (texts == others)
    assert asked != texts_about(replace(IMAGE, key="another"), texts)
    assert texts_about(IMAGE, [*texts, "a\0b"]) == (*plain, Match(image=IMAGE, text="a\0b"))
    case = Case(id="1", requests=asked, truths=(True,) * len(texts))
    assert images_of_case(case) == images_of_case(replace(case, requests=plain)) == (IMAGE,)
    assert case == replace(case, requests=plain)


@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=5), st.slices(20))
def test_the_requests_of_cases_are_those_of_each_case_in_turn(rows, part):
    about = [texts_about(IMAGE, texts) if kept else tuple(texts_about(IMAGE, texts)) for texts, kept in rows]
    asked = RequestsOf([Case(id="1", requests=some, truths=(True,) * len(some)) for some in about])
    plain = [request for some in about for request in some]
    assert (len(asked), asked[part]) == (len(plain), plain[part])
    assert [*asked] == [asked[place] for place in range(len(plain))] == plain
    assert [*asked.hashes] == [*map(hash, plain)]
