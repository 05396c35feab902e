"""The negation of sentences about existence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.grammar import plural, with_article
from vlgate.perturb.text.rewriting import flip, negate

NOUNS = st.sampled_from(("cup", "red cup", "apple", "orange umbrella", "unicorn", "hour glass"))
FRAMES = st.sampled_from(("There is {}.", "Is there {}?", "there is {} in the picture", "Is there {} on the table?"))


@given(NOUNS, FRAMES)
def test_negating_twice_is_the_identity(noun, frame):
    text = frame.format(with_article(noun))
    negated = negate(text)
    assert negated == frame.format(f"no {noun}")
    assert negate(negated) == text


@given(NOUNS)
def test_plural_sentences_negate_and_return(noun):
    statement, question = f"There are {plural(noun)}.", f"Are there any {plural(noun)}?"
    assert negate(statement) == f"There are no {plural(noun)}."
    assert negate(f"There are some {plural(noun)}.") == negate(statement)
    assert negate(question) == f"Are there no {plural(noun)}?"
    assert negate(negate(statement)) == statement
    assert negate(negate(question)) == question


@pytest.mark.parametrize(
    "text",
    [
        "A red cup.",
        "There is a cup and a ball.",
        "Is there a cup or a ball?",
        "There is a cup, a ball.",
        "There is a lot of snow.",
        "There are plenty of cars.",
        "There are various cars.",
        "THERE IS A BOY.",
        "There is a boy that isn't here.",
        "There is a boy. He runs.",
        "There is no one.",
        "There are exactly three cups.",
        "There are three cups.",
        "There are a few cups.",
        "There is the cup.",
        "Where there is a will.",
        "There is nothing.",
        "There is a",
        "",
    ],
)
def test_no_negation_of_other_sentences(text):
    assert negate(text) is None


@pytest.mark.parametrize(("answer", "expected"), [("yes", "no"), ("no", "yes"), ("red", None)])
def test_answers_flip(answer, expected):
    assert flip(answer) == expected
