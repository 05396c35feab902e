"""Opposite spatial relations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.rewriting import OPPOSITES, opposite_relation


@given(st.sampled_from(sorted(OPPOSITES)), st.sampled_from(("The cup is {} the ball.", "A cup {} a ball")))
def test_the_opposite_of_the_opposite_is_the_relation(relation, frame):
    text = frame.format(relation)
    assert opposite_relation(text) == frame.format(OPPOSITES[relation])
    assert opposite_relation(opposite_relation(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cup is to the left of the ball.", "The cup is to the right of the ball."),
        ("On the right side of the cup.", "On the left side of the cup."),
        ("Above the cup, a ball.", "Below the cup, a ball."),
        ("IN FRONT OF the cup", "Behind the cup"),
        ("A woman bending over to kiss a dog.", None),
        ("A woman bending over a dog.", None),
        ("A train passing over.", None),
        ("What is left of the cake?", None),
        ("The cup is undercooked, the leftof is not.", None),
        ("A cup above a ball below a hat.", None),
        ("A cup near a ball.", None),
    ],
)
def test_relations(text, expected):
    assert opposite_relation(text) == expected
