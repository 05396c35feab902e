"""Replacing and exchanging phrases."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vlgate.perturb.text.grammar import capitalised_like, with_article
from vlgate.perturb.text.rewriting import exchange, replace

NOUNS = ("cup", "ball", "apple", "umbrella", "house", "orange fish")
TWO = st.lists(st.sampled_from(NOUNS), min_size=2, max_size=2, unique=True)


def words(text):
    return Counter(re.findall(r"\w+", text.lower()))


@given(TWO, st.sampled_from(("{} to the left of {}.", "{} and {}", "{} sees {}. Good.")))
def test_exchanging_twice_is_the_identity_and_keeps_the_words(nouns, frame):
    first, second = map(with_article, nouns)
    text = capitalised_like("A", frame.format(first, second))
    swapped = exchange(text, first, second)
    assert swapped not in {None, text}
    assert words(swapped) == words(text)
    assert exchange(swapped, first, second) == text
    assert exchange(text, second, first) == swapped


def test_exchanged_adjectives_get_their_articles():
    assert exchange("A red cup and an orange ball.", "orange", "red") == "An orange cup and a red ball."


def test_a_name_keeps_its_capital_away_from_the_start():
    assert exchange("John sees a dog.", "John", "a dog") == "A dog sees John."


@pytest.mark.parametrize(
    ("first", "second"),
    [("cup", "ball"), ("hat", "cup"), ("red cup", "cup on"), ("cup", "cup"), ("a", "mat")],
)
def test_no_exchange_where_a_phrase_is_missing_repeated_or_overlapping(first, second):
    assert exchange("a red cup on a mat", first, second) is None


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("Two cows in a field.", "cows", "field"),
        ("A cup is near balls.", "cup", "balls"),
        ("A cup is near two balls.", "a cup", "two balls"),
    ],
)
def test_no_exchange_of_one_thing_and_several_where_a_word_agrees(text, first, second):
    assert exchange(text, first, second) is None


def test_one_thing_and_several_where_nothing_agrees():
    assert exchange("A cup near some balls", "a cup", "some balls") == "Some balls near a cup"
    assert replace("The cup near the ball", "cup", "hats") == "The hats near the ball"
    assert replace("A cup near the ball", "cup", "hats") is None
    assert replace("The cup is red", "cup", "hats") is None


@given(st.sampled_from(NOUNS), st.sampled_from(NOUNS))
def test_replacing_back_is_the_identity(old, new):
    assume(old != new)
    text = capitalised_like("A", f"{with_article(old)} near the sea.")
    replaced = replace(text, old, new)
    assert replaced is not None
    assert replaced.lower().startswith(with_article(new))
    assert replace(replaced, new, old) == text


@pytest.mark.parametrize(
    ("text", "old", "new"), [("A cup.", "ball", "hat"), ("A cup.", "cup", "Cup"), ("A cup, a cup.", "cup", "hat")]
)
def test_no_replacement_where_it_does_not_apply(text, old, new):
    assert replace(text, old, new) is None
