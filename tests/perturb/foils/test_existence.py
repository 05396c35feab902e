"""Existence and the statements behind it: how-many questions in, captions and foils out."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlgate.perturb.foils.how_many import existence, numeral, selected_existence, statement

MADE = [
    ("How many animals are shown?", "0", "There are no animals shown.", "There are animals shown."),
    ("How many animals are shown?", "3", "There are animals shown.", "There are no animals shown."),
    ("How many animals are shown?", "One.", "There is an animal shown.", "There is no animal shown."),
    ("how many boxes", "1", "There is a box.", "There is no box."),
    ("How many kites in the sky?", "0", "There are no kites in the sky.", "There are kites in the sky."),
    ("How many people can be seen on the bus?", "2", "There are people on the bus.", "There are no people on the bus."),
    ("How many dogs do you see?", "1", "There is a dog.", "There is no dog."),
    ("On the left, how many bikes are there?", "1", "There is a bike on the left.", "There is no bike on the left."),
    ("How many buses are red?", "1", "There is a red bus.", "There is no red bus."),
    (
        "How many bottles have blue caps?",
        "3",
        "There are bottles with blue caps.",
        "There are no bottles with blue caps.",
    ),
    ("How many people are wearing hats?", "1", "There is a person wearing a hat.", "There is no person wearing a hat."),
    (
        "How many people sit on the bed?",
        "1",
        "There is a person who sits on the bed.",
        "There is no person who sits on the bed.",
    ),
    (
        "How many plates is the waiter carrying?",
        "1",
        "The waiter is carrying a plate.",
        "The waiter is carrying no plate.",
    ),
    ("How many windows does the house have?", "0", "The house has no windows.", "The house has windows."),
    (
        "How many floors does the building appear to have?",
        "4",
        "The building appears to have floors.",
        "The building appears to have no floors.",
    ),
    (
        "How many balls is the man trying to hit?",
        "1",
        "The man is trying to hit a ball.",
        "The man is trying to hit no ball.",
    ),
    ("How many men are in suits?", "1", "There is a man in a suit.", "There is no man in a suit."),
    (
        "How many birds are on power lines?",
        "1",
        "There is a bird on a power line.",
        "There is no bird on a power line.",
    ),
    ("How many men are on skis?", "1", "There is a man on skis.", "There is no man on skis."),
    ("How many peoples are there?", "2", "There are people.", "There are no people."),
    ("How many giraffe are there?", "2", "There are giraffes.", "There are no giraffes."),
    ("How many flower pots are there?", "1", "There is a flower pot.", "There is no flower pot."),
    ("How many zebras in photo?", "0", "There are no zebras in the photo.", "There are zebras in the photo."),
    ("How many cups are empty?", "2", "There are empty cups.", "There are no empty cups."),
    ("How many glasses are half full?", "1", "There is a half full glass.", "There is no half full glass."),
    (
        "How many glasses are full of milk?",
        "2",
        "There are glasses full of milk.",
        "There are no glasses full of milk.",
    ),
    ("How many doors are closed?", "1", "There is a closed door.", "There is no closed door."),
    ("How many cats are awake?", "1", "There is a cat awake.", "There is no cat awake."),
    (
        "How many cows are close to the car?",
        "1",
        "There is a cow close to the car.",
        "There is no cow close to the car.",
    ),
    (
        "How many cows in total are in the river?",
        "2",
        "There are cows in the river.",
        "There are no cows in the river.",
    ),
    ("How many cows in all do you see?", "2", "There are cows.", "There are no cows."),
    ("How many cows in all the pens?", "2", "There are cows in all the pens.", "There are no cows in all the pens."),
    ("How many total lamps are there?", "2", "There are lamps.", "There are no lamps."),
]

REFUSED = [
    ("How many dogs are there?", "a few", "the answer is not a numeral"),
    ("What is on the table?", "2", "not a how-many question"),
    ("About how many people are there?", "20", "the question does not begin with how many"),
    ("HOW MANY DOGS ARE THERE?", "2", "all capitals"),
    ("How many <b>dogs</b> are there?", "2", "marks that are not words"),
    ("How many are there?", "2", "no noun is counted"),
    ("How many wear goggles?", "2", "no noun is counted"),
    ("How many times was the ball hit?", "2", "a measure"),
    ("How many more dogs are there?", "2", "a comparison"),
    ("How many of the lights are red?", "2", "a part of a group is counted"),
    ("How many kinds of fruit are there?", "2", "kinds are counted"),
    ("How many people are not standing?", "2", "negated"),
    ("How many people aren't standing?", "2", "negated"),
    ("How many people and dogs are there?", "2", "two nouns are counted"),
    ("How many boys are alike?", "2", "an adjective without its complement"),
    ("How many boats are similar?", "2", "an adjective without its complement"),
    ("How many people are close?", "2", "an adjective without its complement"),
    ("How many glasses half full?", "2", "an adjective behind its noun"),
    ("How many elephants are babies?", "2", "the predicate is a noun"),
    ("How many people can fit on the bench?", "2", "what can be is not what is there"),
    ("How many people are holding umbrellas?", "1", "no wording for one"),
    ("How many furniture are there?", "2", "the plural of the noun is not known"),
    ("How many 🐶 are there?", "2", None),
    ("Wie viele Hunde sind da?", "2", "not a how-many question"),
    ("How many " + "big " * 10_000 + "dogs?", "2", "not a how-many question"),
    ("", "2", "not a how-many question"),
]

WORDS = (
    *(
        "how",
        "many",
        "dogs",
        "of",
        "the",
        "are",
        "is",
        "there",
        "3",
        "do",
        "have",
        "can",
        "you",
        "red",
        "on",
        "wearing",
    ),
    *(",", "'", "é", "犬"),
)


@pytest.mark.parametrize(("question", "answer", "caption", "foil"), MADE)
def test_a_question_becomes_a_caption_and_a_foil(parser, question, answer, caption, foil):
    [parsed] = parser.parse([question])
    [made] = existence(parsed, answer).candidates
    assert (made.caption, made.foil) == (caption, foil)
    zero = numeral(answer) == 0
    assert made.tags == {"provenance": "zero_to_something" if zero else "something_to_zero"}
    assert made.classes == (("0", "more") if zero else ("more", "0"))


@pytest.mark.parametrize(("question", "answer", "reason"), REFUSED)
def test_what_cannot_be_turned_is_refused_with_a_reason(parser, question, answer, reason):
    [parsed] = parser.parse([question])
    found = existence(parsed, answer)
    assert not found.candidates
    assert found.refused == (reason or found.refused[0],)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS), max_size=9))
def test_no_question_raises_and_none_gives_both_a_candidate_and_a_reason(parser, words):
    [parsed] = parser.parse(["How many " + " ".join(words) + "?"])
    for answer in ("0", "1", "2"):
        found = existence(parsed, answer)
        assert bool(found.candidates) != bool(found.refused)
        for made in found.candidates:
            assert made.caption != made.foil
            assert made.caption[0].isupper() or not made.caption[0].isalpha()


def test_a_numeral_is_read_from_digits_and_words_and_nothing_else():
    assert [numeral(text) for text in ("12", " Four. ", "None", "zero!")] == [12, 4, 0, 0]
    assert {numeral(text) for text in ("", "100", "two dogs", "1.5", "-1", "²", "\uff11", "many")} == {None}


def test_a_statement_is_said_of_one_only_if_its_words_allow_it(parser):
    [parsed] = parser.parse(["How many zebras are standing together?"])
    made = statement(parsed, "2")
    assert made.said("exactly 2") == "There are exactly 2 zebras standing together."
    assert made.said("exactly 1", one=True) is None
    assert statement(parsed, "1") == "no wording for one"


def test_a_zero_may_be_singular_so_that_the_number_of_the_noun_tells_nothing(parser):
    [dogs, together] = parser.parse(["How many dogs are there?", "How many dogs are standing together?"])
    [made] = existence(dogs, "0", singular=True).candidates
    assert (made.caption, made.foil) == ("There is no dog.", "There is a dog.")
    [made] = existence(together, "0", singular=True).candidates
    assert made.caption == "There are no dogs standing together."


def test_half_of_the_selected_come_from_zero_and_so_of_each_sentence(parser):
    [dogs, cats] = parser.parse(["How many dogs are there?", "How many cats are there?"])
    answers = [(dogs, "0")] * 9 + [(dogs, "3")] * 4 + [(cats, "2")] * 9
    candidates = [existence(question, answer).candidates[0] for question, answer in answers]
    kept = Counter(candidates[place].caption for place in selected_existence(candidates, seed=0))
    assert kept == {"There are no dogs.": 5, "There are dogs.": 4, "There are cats.": 1}
