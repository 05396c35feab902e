import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.answer_lists import AnswerList, answer_list, answers_file, read_answers
from vlgate.types import Ask, Picture

PICTURE = Picture(key="p", load=lambda: None)
ANSWERS = ("", "yes", "no", "2", "two", "a lot", "lot", "gray", "left")


def asked(*choices):
    return Ask(picture=PICTURE, question="?", choices=choices)


def row(**scores):
    return np.array([[scores.get(answer or "nothing", -9.0) for answer in ANSWERS]])


def choose(answers, scores, *questions):
    answers.check(questions)
    return answers.choose(scores, questions)


@given(st.lists(st.integers(-5, 5), min_size=9, max_size=9), st.sets(st.sampled_from(ANSWERS[1:]), min_size=1))
def test_the_highest_of_the_choices_wins_and_a_tie_is_no_reply(scores, choices):
    by_answer = dict(zip(ANSWERS, scores, strict=True))
    highest = [choice for choice in choices if by_answer[choice] == max(by_answer[other] for other in choices)]
    question, answers = asked(*sorted(choices)), AnswerList(ANSWERS, "restricted")
    if len(highest) == 1:
        assert choose(answers, np.array([scores], dtype=float), question) == highest
    else:
        with pytest.raises(NoReplyError):
            choose(answers, np.array([scores], dtype=float), question)


@pytest.mark.parametrize(
    ("choice", "answer"),
    [("Yes.", "yes"), ("two", "two"), ("Two", "two"), ("a lot", "a lot"), ("the left", "left"), ("a no", "no")],
)
def test_a_choice_is_known_by_its_words(choice, answer):
    for sign, wins in ((1, choice), (-1, "gray")):
        found = choose(AnswerList(ANSWERS, "restricted"), sign * row(gray=0.0, **{answer: 1.0}), asked("gray", choice))
        assert found == [wins]


def test_a_number_is_known_as_a_word_where_the_list_has_digits():
    answers = AnswerList(("1", "2"), "restricted")
    assert choose(answers, np.array([[0.0, 1.0]]), asked("one", "two")) == ["two"]


def test_what_the_model_cannot_say_is_counted_and_never_guessed():
    answers = AnswerList(ANSWERS, "restricted")
    assert answers.note == ""
    with pytest.raises(NoReplyError, match="'maybe' is none of the answers") as caught:
        answers.check([asked("yes", "no"), asked("no", "maybe"), asked()])
    assert caught.value.positions == {1}
    with pytest.raises(NoReplyError, match="'Yes' and 'yes' as one answer"):
        answers.check([asked("Yes", "yes")])
    assert "1 choices are none of the model's 9 answers ('maybe')" in answers.note


def test_open_answers_take_no_notice_of_choices():
    answers = AnswerList(ANSWERS, "open")
    assert choose(answers, row(left=1.0), asked("yes", "maybe")) == ["left"]
    assert choose(AnswerList(ANSWERS, "restricted"), row(left=1.0), asked()) == ["left"]
    assert answers.note == ""
    assert answers.fingerprint != AnswerList(ANSWERS, "restricted").fingerprint
    assert answers.fingerprint == AnswerList(ANSWERS, "open").fingerprint


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_no_number(bad):
    with pytest.raises(ModelReplyError, match="not finite"):
        choose(AnswerList(ANSWERS, "restricted"), row(yes=bad), asked("no", "left"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", json.dumps(["", "yes", "no"])),
        ("all_ans.json", json.dumps([{"ans": "", "dsets": []}, {"ans": "yes", "dsets": ["vg"]}, {"ans": "no"}])),
        ("ans2label.json", json.dumps({"no": 2, "": 0, "yes": 1})),
        ("label2ans.json", json.dumps({"2": "no", "0": "", "1": "yes"})),
        ("answers_vqa.txt", "\nyes\nno\n"),
    ],
)
def test_answers_in_all_the_forms_that_they_are_released_in(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_answers(tmp_path / name) == ("", "yes", "no")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", "no string"), ('{"yes": 1, "no": 1}', "not 0 to 1"), ('{"yes": 1, "no": 2}', "not 0 to 1"),
        ('{"a": "b"}', "invalid literal"), ("7", "a int"), ("{", "JSONDecodeError"), ('[{"answer": "x"}]', "'ans'"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_answers(tmp_path, text, why):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ModelLoadError, match=why) as caught:
        read_answers(tmp_path / "a.json")
    assert "expected a JSON list of strings" in str(caught.value)


def test_the_names_of_a_configuration_count_where_they_are_names(tmp_path):
    real = {1: "no", 0: "yes"}
    assert answer_list(None, real, 2, mode="", where="there").answers == ("yes", "no")
    for named, count in (({0: "LABEL_0", 1: "LABEL_1"}, 2), (real, 3)):
        with pytest.raises(ModelLoadError, match="does not say which; give answers=FILE: there"):
            answer_list(None, named, count, mode="", where="there")
    (tmp_path / "a.json").write_text('["red"]')
    with pytest.raises(ModelLoadError, match="1 answers for a model that has 2"):
        answer_list(tmp_path / "a.json", real, 2, mode="", where="there")


def test_where_the_answers_lie(tmp_path):
    beside = tmp_path / "weights"
    beside.mkdir()
    names = ("first.json", "second.json")
    assert answers_file("", tmp_path, beside, names) is None
    (beside / "second.json").touch()
    assert answers_file("", tmp_path, beside, names) == beside / "second.json"
    (tmp_path / "mine.json").touch()
    assert answers_file("mine.json", tmp_path, beside, names) == tmp_path / "mine.json"
    with pytest.raises(ModelLoadError, match=r"there is no file .*none\.json"):
        answers_file("none.json", tmp_path, beside, names)
