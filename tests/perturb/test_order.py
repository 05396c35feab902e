"""Operands and choices in another order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.conjunct_order import reverse_choices, swap_operands
from vlgate.perturb.text.grammar import with_article

TWO = st.lists(st.sampled_from(("cup", "red ball", "apple", "umbrella")), min_size=2, max_size=2, unique=True)
FRAMES = st.sampled_from(
    (
        "Is there both {} and {} in the picture?",
        "There are both {} and {}.",
        "Is there {} or {} in the picture?",
        "Do you see either {} or {}?",
    ),
)


@given(TWO, FRAMES)
def test_swapping_twice_is_the_identity(nouns, frame):
    first, second = map(with_article, nouns)
    swapped = swap_operands(frame.format(first, second))
    assert swapped == frame.format(second, first)
    assert swap_operands(swapped) == frame.format(first, second)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is the cup red or blue?", "Is the cup blue or red?"),
        ("Is the cup dark red or light blue?", "Is the cup light blue or dark red?"),
        ("Is the cup to the left or to the right?", "Is the cup to the right or to the left?"),
        ("A cup or an apple is in the picture.", "An apple or a cup is in the picture."),
        ("Is it a cup and a ball?", None),
        ("Is there a cup on a table or a ball?", None),
        ("Is there both a cup and a balls?", None),
        ("Is there both a tree anywhere and a man?", None),
        ("Is there both a tree and a man anywhere?", "Is there both a man and a tree anywhere?"),
        ("is it night or day time?", None),
        ("is he alone or with a dog?", None),
        ("An old phone that doesn't have a touch screen or flip.", None),
        ("Is he wearing a red or blue?", None),
        ("Is there a cup, a ball or a hat?", None),
        ("Is there a cup or a ball and a hat?", None),
        ("Is there both a cup and a cup?", None),
        ("Red or blue or green?", None),
        ("Is there a cup?", None),
        ("", None),
    ],
)
def test_operands(text, expected):
    assert swap_operands(text) == expected


@given(st.permutations(("red", "orange", "light blue", "green")), st.integers(2, 4))
def test_reversing_choices_twice_is_the_identity(colours, number):
    choices = tuple(colours[:number])
    question = f"Is the cup {', '.join(choices[:-1])} or {choices[-1]}?"
    reversed_question, reversed_choices = reverse_choices(question, choices)
    assert reversed_choices == choices[::-1]
    assert reversed_question == f"Is the cup {', '.join(choices[:0:-1])} or {choices[0]}?"
    assert reverse_choices(reversed_question, reversed_choices) == (question, choices)


def test_reversed_choices_get_their_articles():
    question = "Is it a cup or an apple?"
    assert reverse_choices(question, ("cup", "apple")) == ("Is it an apple or a cup?", ("apple", "cup"))


def test_reversed_choices_take_their_articles_along():
    question, choices = "Is it sprinkles, a bun, or a peach?", ("sprinkles", "bun", "peach")
    assert reverse_choices(question, choices) == ("Is it a peach, a bun, or sprinkles?", ("peach", "bun", "sprinkles"))


@pytest.mark.parametrize("choices", [(), ("red",), ("red", "green"), ("blue", "red"), ("red", "red")])
def test_no_reversal_where_the_question_does_not_list_the_choices(choices):
    assert reverse_choices("Is the cup red or blue?", choices) is None
