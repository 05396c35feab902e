"""Other wordings of a question by the project's own templates."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.questions.drafts import NounPhrase
from vlgate.perturb.questions.templates import TEMPLATES, ask, fits
from vlgate.perturb.text.conjunct_order import rewordings, swap_operands

TABLE = NounPhrase("table", "singular")
CUP = NounPhrase("cup", "singular", ("red",))
COWS = NounPhrase("cows", "plural")
GRASS = NounPhrase("grass", "mass", ("green",))
CUP_ON_TABLE = NounPhrase("cup", "singular", (), "on", TABLE, that=True)
SECONDS = (NounPhrase("apple", "singular"), NounPhrase("dogs", "plural"))
CHOICES = {
    "object-choice": ("a mug", "a glass"),
    "attribute-choice": ("clay", "tin"),
    "action-choice": ("lying", "falling"),
}
CATEGORIES = ("", "color", "material", "pose", "sport")


def questions():
    """(template, its arguments, the text) for all types and phrases of all kinds."""
    for kind, templates in TEMPLATES.items():
        seconds = SECONDS if kind in {"conjunction", "disjunction"} else (None,)
        for x in (CUP, COWS, GRASS, CUP_ON_TABLE):
            for y in seconds:
                for category in CATEGORIES if kind.endswith("-choice") and kind != "object-choice" else ("",):
                    given = {"attribute": "wet" if kind == "attribute" else "", "choices": CHOICES.get(kind, ())}
                    given["category"] = category
                    for template in templates:
                        asks_category = "{category}" in template.text
                        if fits(template, x, y, category=category) and bool(category) >= asks_category:
                            yield template, (x, y), given, ask(template, x, y, **given)


ASKED = list(questions())
ANY = st.sampled_from(ASKED)


@given(ANY)
def test_every_rewording_is_what_another_template_asks_of_the_same(question):
    template, phrases, given_, text = question
    found = rewordings(text, given_["choices"])
    assert text not in found
    assert len(found) == len(set(found))
    # "Is the thing clay or tin?" may ask for a kind, an attribute or an action: its words do not tell.
    types = CHOICES if template.type in CHOICES else [template.type]
    x, y = phrases
    said = NounPhrase(x.clause.bare if template.relation == "that" else x.plain.bare, x.number)
    others = [
        ask(other, said, y, **{**given_, "category": category})
        for kind in types
        for other in TEMPLATES[kind]
        for category in CATEGORIES
        if (other.relation == "none") == (x.other is None) and "{x.where}" not in other.text
        if not other.categories or category in other.categories
    ]
    exchanged = swap_operands(text) if not given_["choices"] else None
    assert set(found) <= {*others, exchanged}


@given(ANY)
def test_a_question_of_every_template_is_read_again(question):
    template, (x, y), given_, text = question
    told = x.number != "plural" or re.search(r"\b(?:are|do)\b", text.lower())  # "the cows" might be one thing's name
    alike = y is None or (x.number == "plural") == (y.number == "plural")  # else the verb would have to agree anew
    if told and alike and not {"{x.kind}", "{x.where}"} & set(re.findall(r"\{[^}]*\}", template.text)):
        assert rewordings(text, given_["choices"]) != ()


@given(ANY)
def test_the_nearest_comes_first_and_the_order_is_always_the_same(question):
    from difflib import SequenceMatcher

    _, _, given_, text = question
    found = rewordings(text, given_["choices"])
    shares = [SequenceMatcher(None, text.split(), other.split(), autojunk=False).ratio() for other in found]
    assert shares == sorted(shares, reverse=True)
    assert found == rewordings(text, given_["choices"])


def test_a_negated_question_stays_negated():
    found = rewordings("Is there no red cup in the picture?")
    assert "Do you see no red cup in the photo?" in found
    assert all(re.search(r"\bno\b|unable", other) for other in found)
    assert not any(
        re.search(r"\bno\b|unable|\bnot\b", other) for other in rewordings("Is there a red cup in the picture?")
    )


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Is there a cup?", "Do you see a cup in the photo?"),
        ("Are there any cows?", "Would you say there are cows in the image?"),
        ("Is there an old bus in the picture?", "Is it true that there is an old bus in this picture?"),
        ("Is there a cup on the table?", "Can you see a cup on the table?"),
        ("Is the table made of wood?", "Does the table appear to be made of wood?"),
        ("Is there both a cup and an apple in the picture?", "Is there both an apple and a cup in the picture?"),
        ("There are both a cup and a ball.", "There are both a ball and a cup."),
    ],
)
def test_wordings(text, other):
    assert other in rewordings(text)


def test_what_may_stand_around_a_related_phrase_only_does_not_stand_behind_one():
    assert "Do you see a man holding the cup anywhere in the picture?" not in rewordings(
        "Is there a man holding the cup?"
    )


def test_choices_keep_their_order_and_their_articles():
    found = rewordings("Is the animal a cow or a horse?", ("cow", "horse"))
    assert "Would you call the animal a cow or a horse?" in found
    assert all("a cow or a horse" in other for other in found)
    assert "Would you describe the cup as blue or red?" in rewordings("Is the cup blue or red?", ("red", "blue"))


def test_known_words_tell_where_a_phrase_ends():
    assert "Does the red cup appear to be large?" in rewordings("Is the red cup large?")


@pytest.mark.parametrize(
    "text",
    [
        "Is there a bare trees?",
        "Is there no people in the photo?",
        "Is there any cup?",
        "What pose is the small polar bear doing, standing or jumping?",
        "Is there both a wood chair and a pink flowers?",
        "Is there a gribbleflax in the photo?",
        "Does the person look like a man, women, or a catcher?",
    ],
)
def test_ungrammatical_questions_and_unknown_words_are_left_alone(text):
    choices = tuple(text[text.index(", ") + 2 : -1].split(" or ")) if ", " in text else ()
    assert rewordings(text, choices) == ()


@pytest.mark.parametrize("place", ["", " in the photo", " anywhere", " anywhere in this picture"])
def test_words_about_the_image_are_not_said_twice(place):
    found = rewordings(f"Is there both a tree and a man{place}?")
    assert "Can both a tree and a man be seen in this image?" in found
    assert all(len(re.findall(r"photo|picture|image", other)) <= 1 for other in found)


def test_a_question_without_capitals_stays_without():
    assert "do you see any trees in the photo?" in rewordings("are there any trees?")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Why is the cup red?",
        "A dog on a bench.",
        "Is there a cup, a ball and a hat?",
        "Is there a cup",
        "there a cup?",
    ],
)
def test_what_matches_no_template_is_left_alone(text):
    assert rewordings(text) == ()


def test_a_question_with_choices_is_not_read_without_them():
    question = "What color is the cup, red, green, or blue?"
    assert rewordings(question, ("red", "green", "blue")) != ()
    assert rewordings(question) == ()
