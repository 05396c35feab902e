"""Operands and choices in another order, and other wordings of a question by the project's own templates."""

import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from builders import table
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.questions.drafts import NounPhrase
from vlgate.perturb.questions.templates import TEMPLATES, ask, fits
from vlgate.perturb.text.conjunct_order import reverse_choices, rewordings, swap_operands
from vlgate.perturb.text.grammar import with_article

TABLE = Path(__file__).with_name("conjunct_order.tsv")
TWO = st.lists(st.sampled_from(("cup", "red ball", "apple", "umbrella")), min_size=2, max_size=2, unique=True)
FRAMES = st.sampled_from(
    (
        "Is there both {} and {} in the picture?",
        "There are both {} and {}.",
        "Is there {} or {} in the picture?",
        "Do you see either {} or {}?",
    )
)


@given(TWO, FRAMES)
def test_swapping_twice_is_the_identity(nouns, frame):
    first, second = map(with_article, nouns)
    swapped = swap_operands(frame.format(first, second))
    assert swapped == frame.format(second, first)
    assert swap_operands(swapped) == frame.format(first, second)


@pytest.mark.parametrize(("text", "expected"), table(TABLE, "operands"))
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


def test_reversed_choices_take_their_articles_along():
    question = "Is it a cup or an apple?"
    assert reverse_choices(question, ("cup", "apple")) == ("Is it an apple or a cup?", ("apple", "cup"))
    question, choices = "Is it sprinkles, a bun, or a peach?", ("sprinkles", "bun", "peach")
    assert reverse_choices(question, choices) == ("Is it a peach, a bun, or sprinkles?", ("peach", "bun", "sprinkles"))


@pytest.mark.parametrize("choices", [(), ("red",), ("red", "green"), ("blue", "red"), ("red", "red")])
def test_no_reversal_where_the_question_does_not_list_the_choices(choices):
    assert reverse_choices("Is the cup red or blue?", choices) is None


SUPPORT = NounPhrase("table", "singular")
CUP = NounPhrase("cup", "singular", ("red",))
COWS = NounPhrase("cows", "plural")
GRASS = NounPhrase("grass", "mass", ("green",))
CUP_ON_TABLE = NounPhrase("cup", "singular", (), "on", SUPPORT, that=True)
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
    noun_phrase = NounPhrase(x.clause.bare if template.relation == "that" else x.plain.bare, x.number)
    others = [
        ask(other, noun_phrase, y, **{**given_, "category": category})
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


@pytest.mark.slow
@given(ANY)
def test_the_nearest_comes_first_and_the_order_is_always_the_same(question):
    _, _, given_, text = question
    found = rewordings(text, given_["choices"])
    shares = [SequenceMatcher(None, text.split(), other.split(), autojunk=False).ratio() for other in found]
    assert shares == sorted(shares, reverse=True)
    assert found == rewordings(text, given_["choices"])


def test_a_negated_question_stays_negated():
    found = rewordings("Is there no red cup in the picture?")
    assert "Do you see no red cup in the photo?" in found
    assert all(re.search(r"\bno\b", other) for other in found)
    plain = rewordings("Is there a red cup in the picture?")
    assert not any(re.search(r"\bno\b|\bnot\b", other) for other in plain)


@pytest.mark.parametrize(("text", "other"), table(TABLE, "wordings"))
def test_wordings(text, other):
    assert other in rewordings(text)


def test_what_may_stand_around_a_related_phrase_only_does_not_stand_behind_one():
    found = rewordings("Is there a man holding the cup?")
    assert "Do you see a man holding the cup anywhere in the picture?" not in found


def test_choices_keep_their_order_and_their_articles():
    found = rewordings("Is the animal a cow or a horse?", ("cow", "horse"))
    assert "Would you call the animal a cow or a horse?" in found
    assert all("a cow or a horse" in other for other in found)
    assert "Would you describe the cup as blue or red?" in rewordings("Is the cup blue or red?", ("red", "blue"))
    assert rewordings("What color is the cup, red, green, or blue?", ("red", "green", "blue")) != ()


@pytest.mark.parametrize("text", table(TABLE, "left_alone"))
def test_ungrammatical_questions_and_those_that_match_no_template_are_left_alone(text):
    offers = text.startswith(("What pose", "Does the person"))
    assert rewordings(text, tuple(text[text.index(", ") + 2 : -1].split(" or ")) if offers else ()) == ()


@pytest.mark.parametrize("place", ["", " in the photo", " anywhere", " anywhere in this picture"])
def test_words_about_the_image_are_not_said_twice(place):
    found = rewordings(f"Is there both a tree and a man{place}?")
    assert "Can both a tree and a man be seen in this image?" in found
    assert all(len(re.findall(r"photo|picture|image", other)) <= 1 for other in found)
