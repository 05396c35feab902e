"""Verbs in all forms, numbers of nouns, and clauses in both voices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.text.sentences import (
    Predicate,
    Verb,
    active,
    bare_or_a,
    number_of,
    object_of,
    passive,
    read_predicate,
)


@pytest.mark.parametrize(
    ("text", "base", "rest", "is_passive"),
    [
        ("holding", "hold", "", False),
        ("is holding a", "hold", "", False),
        ("wears", "wear", "", False),
        ("wear", "wear", "", False),
        ("sitting on top of", "sit", "on top of", False),
        ("are looking at the", "look", "at", False),
        ("laying on", "lie", "on", False),
        ("has on", "have", "on", False),
        ("watched by", "watch", "", True),
        ("looked at by", "look", "at", True),
        ("passing by", "pass", "by", False),
        ("being held by", "hold", "", True),
    ],
)
def test_a_relation_is_read_as_a_verb_in_its_voice(text: str, base: str, rest: str, *, is_passive: bool) -> None:
    assert read_predicate(text) == Predicate(verb=Verb(base=base, rest=rest), passive=is_passive)


@pytest.mark.parametrize(
    "text", ["on", "next to", "in front of", "near", "", "is", "of", "blorping", "左", "42", "by", "wearing white"]
)
def test_a_relation_without_a_verb_is_refused(text: str) -> None:
    assert read_predicate(text) is None


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("hold", ("holds", "hold", "holding", "held")),
        ("carry", ("carries", "carry", "carrying", "carried")),
        ("lie", ("lies", "lie", "lying", "lain")),
        ("hug", ("hugs", "hug", "hugging", "hugged")),
        ("ski", ("skis", "ski", "skiing", "skied")),
        ("have", ("has", "have", "having", "had")),
        ("text", ("texts", "text", "texting", "texted")),
        ("photograph", ("photographs", "photograph", "photographing", "photographed")),
    ],
)
def test_the_forms_of_a_verb(base: str, forms: tuple[str, ...]) -> None:
    verb = Verb(base=base)
    assert (verb.present("singular"), verb.present("plural"), verb.participle, verb.past_participle) == forms


def test_the_verb_agrees_with_what_stands_before_it() -> None:
    look = Verb(base="look", rest="at")
    assert active("the man", look, "the boys", number="singular") == "the man looks at the boys"
    assert passive("the boys", look, "the man", number="plural") == "the boys are looked at by the man"
    assert active("men", look, "a boy", number="plural", progressive=True) == "men are looking at a boy"


@pytest.mark.parametrize(
    ("noun", "number"),
    [
        ("man", "singular"),
        ("young men", "plural"),
        ("jeans", "plural"),
        ("grass", "mass"),
        ("pair of skis", "singular"),
    ],
)
def test_the_number_of_a_noun(noun: str, number: str) -> None:
    assert number_of(noun) == number


def test_a_noun_of_uncertain_number_has_none() -> None:
    assert number_of("sheep") is None
    assert number_of("glarbnox") is None


def test_only_a_singular_gets_an_article() -> None:
    assert [bare_or_a("apple", "singular"), bare_or_a("apples", "plural")] == ["an apple", "apples"]


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_predicate(text)
    assert found is None or found.verb.present("singular")
    assert number_of(text) in {"singular", "plural", "mass", None}


@pytest.mark.parametrize(
    ("verb", "noun", "said"),
    [
        ("play", "ball", "ball"),
        ("play", "baseball", "baseball"),
        ("play", "wii", "wii"),
        ("play", "guitar", "a guitar"),
        ("play", "game", "a game"),
        ("hold", "ball", "a ball"),
        ("eat", "fruit", "fruit"),
        ("eat", "apple", "an apple"),
        ("hold", "fruit", "a fruit"),
    ],
)
def test_a_game_and_what_is_eaten_take_no_article(verb: str, noun: str, said: str) -> None:
    assert object_of(Verb(base=verb), noun, "singular") == said
