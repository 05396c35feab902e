"""Left and right exchanged as the mirrored image needs it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.mirror import flip_words

FRAMES = (
    "Is the cup to the {} of the plate?",
    "the cup is {} of the plate",
    "The cup on the {}.",
    "Is there a man on the far {}?",
    "the {} side",
    "the {}most cup",
    "the {}-most cup",
    "top {} corner",
    "in the upper-{} corner",
    "his {} hand",
    "{} hand",
    "the man's {} foot",
    "a {} turn",
    "a {}-handed batter",
    "the bus turning {}",
    "turn {} at the corner",
    "the man facing {}",
    "Is the boy looking {}?",
    "to the {}",
    "the {} car",
    "{}",
    "the cup just {} of the plate",
    "the building on the bottom {}",
    "the person on the {} side of the picture",
    "the {}hand lane",
    "the {}ward arrow",
    "on the {} the man stands",
    "the {}-facing cow",
    "Is the man on the {} in front of a bus?",
    "{} side of the road",
    "the person at {}",
    "Would you say that the cup to the {} of the plate is red?",
    "bracelet ON {} wrist",
    "is the player batting {} handed",
    "a man pointing {} finger",
    "the plane has {} engine",
)
BOTH = (
    "Is the cup {} or {} of the plate?",
    "Is the dog to the {} or to the {} of the man?",
    "from {} to {}",
    "Which side is the cup on, {} or {}?",
    "Is the cow facing to the {} or {}?",
)


@given(st.sampled_from(FRAMES), st.permutations(("left", "right")), st.sampled_from((str, str.title, str.upper)))
def test_a_direction_becomes_the_other_one(frame, sides, capitals):
    one, other = map(capitals, sides)
    assert flip_words(frame.format(one)) == frame.format(other)


@given(st.sampled_from(BOTH), st.permutations(("left", "right")))
def test_both_directions_change_places(frame, sides):
    assert flip_words(frame.format(*sides)) == frame.format(*reversed(sides))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Is there a cup?",
        "the man left the room",
        "a woman who left her bag",
        "leftovers on the plate",
        "left-overs in a box",
        "a plate with left over pizza",
        "Is there food left over?",
        "the door was left open",
        "How many slices are left?",
        "he has left",
        "the train that left",
        "the dog left behind",
        "what is left of the pizza",
        "What's left?",
        "all that is left of the cake",
        "How many bears left the river?",
        "Is it all right?",
        "the dog sits right now",
        "right next to the cup",
        "the man is right behind the bus",
        "the person right in front of the bus",
        "looking right at the camera",
        "a right angle",
        "right-angled shelves",
        "Is this right?",
        "the right answer",
        "There is a cup, right?",
        "Is the cup right side up?",
        "bright copyright upright lights",
        "the human rights march",
        "the east side of the house, west of the tree",
    ],
)
def test_what_is_no_direction_stays(text):
    assert flip_words(text) == text


def test_each_word_is_judged_for_itself():
    assert flip_words("the man on the left left the room right now") == "the man on the right left the room right now"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("turning clockwise", "turning counterclockwise"),
        ("Counterclockwise", "Clockwise"),
        ("counter-clockwise to the left", "clockwise to the right"),
        ("ANTICLOCKWISE", "CLOCKWISE"),
    ],
)
def test_the_sense_of_a_turn(text, expected):
    assert flip_words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What letter is on the left?",
        "the word STOP on the right",
        "the STOP sign to the left",
        "What number is on the right jersey?",
        "What time does the clock on the left show?",
        "Is it 10:30?",
        "what is written on the left sign?",
        'the "exit" to the left',
        "a sign that says left",
        "Is there a license plate on the left?",
        "the name on the shirt",
    ],
)
def test_nothing_is_to_be_read_in_a_mirror(text):
    assert flip_words(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "the right one",
        "Is there any pizza left?",
        "two cups left",
        "their right to protest",
        "a bowl left on the table",
    ],
)
def test_none_where_the_meaning_is_not_sure(text):
    assert flip_words(text) is None


@pytest.mark.parametrize(
    "text", ["a number of cups", "a man reading a book", "a SUV to the left", "the dogs' tails and the cats' toys"]
)
def test_what_only_looks_like_something_to_be_read(text):
    assert flip_words(text) == text.replace("left", "right")


SIDES = ("left", "right", "Left", "RIGHT")
WORDS = (*SIDES, "the", "of", "to", "man", "or", "is", "in", "'s", "-", "most", ",", "?", "top")


@given(st.lists(st.sampled_from(WORDS), max_size=8), st.sampled_from(("", " ")))
def test_any_text_is_taken_and_only_sides_change(words, between):
    text = between.join(words)
    flipped = flip_words(text)
    if flipped is not None:
        sides = re.compile("left|right", re.IGNORECASE)
        assert sides.sub("*", flipped) == sides.sub("*", text)
