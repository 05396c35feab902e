import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import ModelReplyError, NoReplyError
from vlgate.models.cross.answer_lists import Vocabulary, best, refuse, restricted, vqa_form
from vlgate.types import TIED, Ask, LazyImage

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
