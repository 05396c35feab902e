"""Numbers replaced by others."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vlgate.perturb.text.grammar import plural
from vlgate.perturb.text.rewriting import NUMBER_WORDS, replace_number

NUMBERS = st.integers(0, len(NUMBER_WORDS) - 1)
FRAMES = st.sampled_from(("There {} exactly {} {}.", "there {} {} {} in the picture", "{} there just {} {} at home?"))


def sentence(frame, number, noun, *, digits=False):
    word = str(number) if digits else NUMBER_WORDS[number]
    verb = "is" if number == 1 else "are"
    noun = noun if number == 1 else plural(noun)
    return frame.format(verb.capitalize() if frame.startswith("{}") else verb, word, noun)


@given(NUMBERS, NUMBERS, st.sampled_from(("cup", "red berry", "fish")), FRAMES, st.booleans())
def test_the_new_sentence_is_as_if_written_for_its_number(old, new, noun, frame, digits):
    assume(old != new)
    text = sentence(frame, old, noun, digits=digits)
    entailed = new < old and "exactly" not in frame and "just" not in frame  # two cups are there if three are
    assert replace_number(text, new) == (None if entailed else sentence(frame, new, noun, digits=digits))


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("Three dogs run.", 4, "Four dogs run."),
        ("A man with 3 dogs.", 12, "A man with 12 dogs."),
        ("There are 3 dogs.", 300, "There are 300 dogs."),
        ("Three dogs run.", 3, None),
        ("Three dogs run.", 2, None),
        ("Exactly three dogs run.", 2, "Exactly two dogs run."),
        ("THREE DOGS RUN.", 4, None),
        ("A clock that shows 10:45.", 50, None),
        ("A two-story house.", 3, None),
        ("A player with number 7 on his shirt.", 9, None),
        ("Three dogs run.", 1, None),
        ("Three dogs run.", 21, None),
        ("Three dogs run.", -1, None),
        ("One of the dogs runs.", 2, None),
        ("There is no one there.", 2, None),
        ("Three dogs and two cats.", 4, None),
        ("There are three dogs and a man.", 1, None),
        ("There is one pair.", 2, "There are two pairs."),
        ("There are exactly two cookies.", 1, "There is exactly one cookie."),
        ("There is one calf in the picture.", 3, "There are three calves in the picture."),
        ("There are only two TVs.", 1, "There is only one TV."),
        ("There are two scissors.", 1, None),
        ("There is one gribbleflax.", 2, None),
        ("There are three here.", 1, None),
        ("Someone has stones.", 2, None),
        ("No number.", 2, None),
    ],
)
def test_numbers(text, new, expected):
    assert replace_number(text, new) == expected
