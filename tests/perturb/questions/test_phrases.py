"""A thing in all the forms in which a question names it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.questions.drafts import NUMBERS, NounPhrase

TABLE = NounPhrase("table", "singular", ("wooden",))
WORDS = st.sampled_from(("cup", "apple", "hour hand", "trees", "grass"))


def test_a_singular_phrase():
    cup = NounPhrase("cup", "singular", ("old", "red"), "on", TABLE, that=True)
    assert cup.plain.bare == "old red cup on the wooden table"
    assert cup.plain.any == cup.plain.a == "an old red cup on the wooden table"
    assert cup.plain.the == "the old red cup on the wooden table"
    assert cup.plain.no == "no old red cup on the wooden table"
    assert cup.plain.kind == "old red cup"
    assert cup.plain.where == "on the wooden table"
    assert cup.clause.any == cup.clause.a == "an old red cup that is on the wooden table"
    assert cup.clause.kind == "old red cup"


@pytest.mark.parametrize(("number", "verb"), [("plural", "are"), ("mass", "is")])
def test_phrases_without_an_article(number, verb):
    stuff = NounPhrase("trees", number, ("tall",), "behind", TABLE)
    assert stuff.plain.any == "any tall trees behind the wooden table"
    assert stuff.plain.a == "tall trees behind the wooden table"
    assert stuff.clause.the == f"the tall trees that {verb} behind the wooden table"


def test_without_a_relation_there_is_no_clause():
    assert TABLE.clause == TABLE.plain
    assert TABLE.plain.where == ""


@given(WORDS, st.sampled_from(NUMBERS), st.lists(st.sampled_from(("red", "old")), max_size=2))
def test_equal_by_value(noun, number, attributes):
    one, other = (NounPhrase(noun, number, tuple(attributes)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != NounPhrase(noun, number, (*attributes, "small"))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("", "singular"), "noun"),
        (("cup", "dual"), "number"),
        (("cup", "singular", (), "on"), "relation"),
        (("cup", "singular", (), "", TABLE), "relation"),
    ],
)
def test_what_is_no_phrase(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}="):
        NounPhrase(*arguments)
