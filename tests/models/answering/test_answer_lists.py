import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.cross.answer_lists import (
    AnswerList,
    Vocabulary,
    answer_list,
    answers_file,
    best,
    check_answers,
    read_answers,
    refuse,
    restricted,
    vqa_form,
)
from vlgate.types import TIED, Ask, LazyImage

IMAGE = LazyImage(key="p", load=lambda: None)
ANSWERS = ("", "yes", "no", "2", "two", "a lot", "lot", "gray", "left")


def asked(*choices):
    return Ask(image=IMAGE, question="?", choices=choices)


def row(**scores):
    return np.array([[scores.get(answer or "nothing", -9.0) for answer in ANSWERS]])


def choose(answers, scores, *questions):
    answers.check(questions)
    return answers.choose(scores, questions)


@given(st.lists(st.integers(-5, 5), min_size=9, max_size=9), st.sets(st.sampled_from(ANSWERS[1:]), min_size=1))
def test_the_highest_of_the_choices_wins_and_a_tie_is_reported(scores, choices):
    by_answer = dict(zip(ANSWERS, scores, strict=True))
    highest = [choice for choice in choices if by_answer[choice] == max(by_answer[other] for other in choices)]
    question, answers = asked(*sorted(choices)), AnswerList(ANSWERS, "restricted")
    assert choose(answers, np.array([scores], dtype=float), question) == (highest if len(highest) == 1 else [TIED])


@pytest.mark.parametrize(("gray", "reply"), [(0.0, TIED), (2.0, "gray")])
def test_choices_that_are_one_answer_of_the_model_tie(gray, reply):
    answers = AnswerList(ANSWERS, "restricted")
    assert choose(answers, row(yes=1.0, gray=gray), asked("Yes", "gray", "yes.")) == [reply]
    assert answers.note == ""


def test_choices_that_the_model_cannot_give_are_counted_and_never_guessed():
    answers = AnswerList(ANSWERS, "restricted")
    assert answers.note == ""
    with pytest.raises(NoReplyError, match="'maybe'") as caught:
        answers.check([asked("yes", "no"), asked("no", "maybe"), asked()])
    assert caught.value.positions == {1}
    assert "9 answers ('maybe')" in answers.note


def test_open_answers_ignore_the_choices():
    answers = AnswerList(ANSWERS, "open")
    assert choose(answers, row(left=1.0), asked("yes", "maybe")) == ["left"]
    assert choose(AnswerList(ANSWERS, "restricted"), row(left=1.0), asked()) == ["left"]
    assert answers.note == ""
    assert answers.fingerprint != AnswerList(ANSWERS, "restricted").fingerprint
    assert answers.fingerprint == AnswerList(ANSWERS, "open").fingerprint


@pytest.mark.parametrize(("name", "text"), [
    ("list.json", json.dumps(["", "yes", "no"])),
    ("all_ans.json", json.dumps([{"ans": "", "dsets": []}, {"ans": "yes", "dsets": ["vg"]}, {"ans": "no"}])),
    ("ans2label.json", json.dumps({"no": 2, "": 0, "yes": 1})),
    ("label2ans.json", json.dumps({"2": "no", "0": "", "1": "yes"})), ("answers_vqa.txt", "\nyes\nno\n"),
])  # fmt: skip
def test_answers_in_all_the_forms_that_they_are_released_in(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_answers(tmp_path / name) == ("", "yes", "no")


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_line_feed_ends_an_answer(tmp_path, odd):
    (tmp_path / "answers.txt").write_text(f"a{odd}lot\r\nno\n", encoding="utf-8", newline="")
    assert read_answers(tmp_path / "answers.txt") == (f"a{odd}lot", "no")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", "strings"), ('{"yes": 1, "no": 1}', "0 to 1"), ('{"yes": 1, "no": 2}', "0 to 1"),
        ('{"a": "b"}', "invalid literal"), ("7", "int"), ("{", "JSONDecodeError"), ('[{"answer": "x"}]', "'ans'"),
        ('{"yes": Infinity}', "OverflowError"), ("[" * 100_000, "RecursionError"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_list_of_answers(tmp_path, text, why):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ModelLoadError, match=rf"a\.json .*{why}.*; expected a JSON list"):
        read_answers(tmp_path / "a.json")


def test_the_names_of_a_configuration_count_if_they_are_not_placeholders(tmp_path):
    real = {1: "no", 0: "yes"}
    assert answer_list(None, real, 2, mode="", where="there").answers == ("yes", "no")
    for named, count in (
        ({0: "LABEL_0", 1: "LABEL_1"}, 2),
        ({0: "yes", 1: "LABEL_1"}, 2),
        (real, 3),
        ({1: "a", 2: "b"}, 2),
    ):
        with pytest.raises(ModelLoadError, match="answers=FILE: there"):
            answer_list(None, named, count, mode="", where="there")
    (tmp_path / "a.json").write_text('["red"]')
    with pytest.raises(ModelLoadError, match=r"a\.json .*1 answers.* 2;"):
        answer_list(tmp_path / "a.json", real, 2, mode="", where="there")


def test_the_file_of_answers_is_found(tmp_path):
    beside = tmp_path / "weights"
    beside.mkdir()
    names = ("first.json", "second.json")
    assert answers_file("", tmp_path, beside, names) is None
    (beside / "second.json").touch()
    assert answers_file("", tmp_path, beside, names) == beside / "second.json"
    (tmp_path / "mine.json").touch()
    assert answers_file("mine.json", tmp_path, beside, names) == tmp_path / "mine.json"
    with pytest.raises(ModelLoadError, match=r"no file .*none\.json"):
        answers_file("none.json", tmp_path, beside, names)


def test_a_named_list_is_read_before_anything_is_loaded(tmp_path):
    check_answers("", tmp_path)
    (tmp_path / "mine.json").write_text('["red"')
    with pytest.raises(ModelLoadError, match=r"mine\.json cannot be read"):
        check_answers("mine.json", tmp_path)


LABELS = ("yes", "no", "2", "the beatles", "on left", "man", "a", "t-shirt", "10:30", "no", "left handed")


@pytest.mark.parametrize(
    ("choice", "label"),
    [
        ("yes", "yes"), (" Yes.", "yes"), ("Two", "2"), ("two", "2"), ("2", "2"), ("The Beatles", "the beatles"),
        ("beatles", "the beatles"), ("on the left", "on left"), ("a man", "man"), ("A Man", "man"), ("a", "a"),
        ("T-Shirt", "t-shirt"), ("10:30", "10:30"), ("left-handed", "left handed"), ("t shirt", "t-shirt"),
    ],
)  # fmt: skip
def test_a_choice_is_found_as_it_is_written_or_as_vqa_writes_it(choice, label):
    assert LABELS[Vocabulary(LABELS).place(choice)] == label


@pytest.mark.parametrize("choice", ["men", "woman", "twelve", "", "the", "an", "right", "yes no", "manly", "1030"])
def test_a_choice_that_only_resembles_a_label_is_unknown(choice):
    assert Vocabulary(LABELS).place(choice) is None
    assert Vocabulary(LABELS).unknown(["yes", choice]) == [choice]


def test_an_exact_label_comes_before_one_of_the_same_form():
    assert Vocabulary(("the man", "man")).place("man") == 1
    assert Vocabulary(("the man", "man")).place("a man") == 1
    assert Vocabulary(("the man", "two")).place("man") == 0
    assert Vocabulary(("no", "yes", "no")).place("no") == 0


@given(st.text() | st.text("aet h'two2:.- T"))
def test_the_form_of_a_form_is_itself(text):
    assert vqa_form(vqa_form(text)) == vqa_form(text)


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.5, -3.0]), min_size=1, max_size=4), min_size=1, max_size=6))
def test_the_best_choice_is_the_one_above_all_others_or_none(scores):
    choices = [[f"c{n}" for n in range(len(row))] for row in scores]
    expected = [f"c{row.index(max(row))}" if row.count(max(row)) == 1 else TIED for row in scores]
    assert best(choices, [np.array(row) for row in scores]) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_an_error(bad):
    with pytest.raises(ModelReplyError, match="not finite"):
        best([("a", "b"), ("c", "d")], [np.array([0.0, 1.0]), np.array([0.0, bad])])


def test_questions_are_refused_one_reason_at_a_time():
    refuse({})
    with pytest.raises(NoReplyError, match="first") as caught:
        refuse({3: "the first", 1: "the second", 7: "the first"})
    assert caught.value.positions == {3, 7}


def test_only_questions_with_choices_are_restricted():
    image = LazyImage(key="p", load=lambda: None)
    held, free = Ask(image=image, question="?", choices=("a",)), Ask(image=image, question="?")
    assert [restricted(question, mode) for mode in ("restricted", "open") for question in (held, free)] == [
        True, False, False, False,
    ]  # fmt: skip
