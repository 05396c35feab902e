"""Articles, plurals, and writing one phrase over another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.grammar import article, capitalised_like, only_span, put, with_article


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("cup", "a"),
        ("apple", "an"),
        ("orange cup", "an"),
        ("umbrella", "an"),
        ("hour", "an"),
        ("herb", "an"),
        ("oneway sign", "a"),
        ("house", "a"),
        ("unicorn", "a"),
        ("unimportant man", "an"),
        ("used car", "a"),
        ("European", "a"),
        ("one-way street", "a"),
        ("onesie", "a"),
        ("unicycle", "a"),
        ("uninflated ball", "an"),
        ("UFO", "a"),
        ("USB stick", "a"),
        ("US flag", "a"),
        ("usher", "an"),
        ("ukulele", "a"),
        ("urinal", "a"),
        ("urn", "an"),
        ("SUV", "an"),
        ("suv", "an"),
        ("RV", "an"),
        ("TV", "a"),
        ("X-ray", "an"),
        ("xbox controller", "an"),
        ("xylophone", "a"),
        ("F-16", "an"),
        ("fan", "a"),
        ("LCD screen", "an"),
        ("led light", "an"),
        ("ledge", "a"),
        ("STOP sign", "a"),
        ("8-ball", "an"),
        ("Apple", "an"),
    ],
)
def test_article_follows_the_sound(phrase, expected):
    assert article(phrase) == expected
    assert with_article(phrase) == f"{expected} {phrase}"


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("A cup.", "cup", (2, 5)),
        ("A CUP.", "cup", (2, 5)),
        ("A cupboard.", "cup", None),
        ("A teacup.", "cup", None),
        ("A cup and a cup.", "cup", None),
        ("A cup.", "", None),
        ("a (b) c", "(b)", (2, 5)),
    ],
)
def test_only_span_wants_one_occurrence_of_whole_words(text, phrase, expected):
    assert only_span(text, phrase) == expected


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("A cup.", "cup", "apple", "An apple."),
        ("An apple.", "apple", "cup", "A cup."),
        ("Cups fly.", "cups", "apples", "Apples fly."),
        ("It is red. Cups fly.", "cups", "apples", "It is red. Apples fly."),
        ("cups fly", "cups", "apples", "apples fly"),
        ("See Rome.", "Rome", "it", "See it."),
        ("The cup.", "cup", "apple", "The apple."),
        ("Pa cup.", "cup", "apple", "Pa apple."),
    ],
)
def test_put_keeps_capitals_and_mends_articles(text, old, new, expected):
    assert put(text, only_span(text, old), new) == expected


@given(st.text(), st.text())
def test_capitalised_like_changes_the_first_letter_only(model, phrase):
    assert capitalised_like(model, phrase).endswith(phrase[1:])
    assert capitalised_like(model.lower(), phrase) == phrase or model.lower()[:1].isupper()
