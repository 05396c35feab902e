"""Left and right exchanged as the mirrored image needs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import table
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.mirror import flip_words

TABLE = Path(__file__).with_name("mirror.tsv")
SIDES = st.permutations(("left", "right"))


@given(st.sampled_from(table(TABLE, "frames")), SIDES, st.sampled_from((str, str.title, str.upper)))
def test_a_direction_becomes_the_other_one(frame, sides, capitals):
    one, other = map(capitals, sides)
    assert flip_words(frame.format(one)) == frame.format(other)


@given(st.sampled_from(table(TABLE, "both")), SIDES)
def test_both_directions_change_places(frame, sides):
    assert flip_words(frame.format(*sides)) == frame.format(*reversed(sides))


@pytest.mark.parametrize(("text", "expected"), table(TABLE, "flipped"))
def test_what_is_no_direction_stays_and_what_is_not_sure_is_refused(text, expected):
    assert flip_words(text) == expected


WORDS = "left right Left RIGHT the of to man or is in 's - most , ? top".split()


@given(st.lists(st.sampled_from(WORDS), max_size=8), st.sampled_from(("", " ")))
def test_any_text_is_taken_and_only_sides_change(words, between):
    text = between.join(words)
    flipped = flip_words(text)
    if flipped is not None:
        sides = re.compile("left|right", re.IGNORECASE)
        assert sides.sub("*", flipped) == sides.sub("*", text)
