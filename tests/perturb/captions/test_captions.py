"""Captions rewritten by their parse: what comes out, and what is refused with which reason."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlgate.perturb.text.conjunct_order import reordered
from vlgate.perturb.text.counts import recounted
from vlgate.perturb.text.exchanging import exchanged, replaced
from vlgate.perturb.text.fitness import unfit
from vlgate.perturb.text.negating import negated
from vlgate.perturb.text.spatial import opposed


@pytest.fixture(scope="session")
def parse(parser):
    """Parse one text."""
    return lambda text: next(parser.parse([text]))


def foils(found):
    return [one.foil for one in found.candidates]


@pytest.mark.parametrize(
    ("caption", "foil"),
    [
        ("A dog on a bench.", "There is no dog on a bench."),
        ("two dogs playing in the snow", "there are no dogs playing in the snow"),
        ("A couple of dogs are sitting on a couch.", "No dogs are sitting on a couch."),
        ("A man is riding a horse.", "No man is riding a horse."),
        ("A man rides a horse.", "No man rides a horse."),
        ("The man is riding a horse.", "The man is not riding a horse."),
        ("The man rides a horse.", "The man does not ride a horse."),
        ("There is a red cup in the picture.", "There is no red cup in the picture."),
        ("There are several cars on the street.", "There are no cars on the street."),
        ("A picture of a dog.", "This is not a picture of a dog."),
        ("A black and white portrait of a man.", "This is not a black and white portrait of a man."),
    ],
)
def test_a_negation_denies_the_whole_caption(parse, caption, foil):
    assert foils(negated(parse(caption))) == [foil]


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A man with no shirt on a beach.", "negated already"),
        ("All the dogs are sitting.", "a word that a negation does not go with"),
        ("A man and a woman sitting on a bench.", "several things are joined"),
        ("Man riding wave on surfboard.", "articles are left out"),
        ("A DOG ON A BENCH IN THE PARK", "in capitals"),
        ("A dog. It sits on a bench.", "not one sentence"),
        ("A red shoes on a table.", "an article does not agree"),
        ("White and orange fur lays on a white blanket.", "a noun that may be the verb"),
        ("Clydesdale horses pulling a wagon", "a verb that may be a noun"),
        ("A kitchen and dining room with a table.", "several things are joined"),
        ("Two people walking down the street one of which is riding a bike.", "a relative clause that lacks its noun"),
        (
            "a large bear landing a large polar bear is in the background preparing to drink from the water",
            "several statements without a conjunction",
        ),
        (
            "A baseball game is going with children playing a runner is about to hit the base.",
            "several statements without a conjunction",
        ),
        (
            "Two plates, one paired up with red wine and one paired with white wine.",
            "a word for single ones of several",
        ),
        ("Four children in a living room with one of the children.", "a word for single ones of several"),
        ("A pair of scissors, tape, and wrapping paper lie on a wooden surface.", "a noun that may be the verb"),
        ("An elegant with a red shawl draped on top of it.", "an adjective without its noun"),
        ("A female statue in a sea of green grass next to plant", "articles are left out"),
        ("This is a chair and an umbrella.", "several things are joined"),
        ("Two signs on the same street pole.", "a word that a negation does not go with"),
    ],
)
def test_what_is_not_sure_to_be_false_is_not_negated(parse, caption, reason):
    assert negated(parse(caption)).refused == (reason,)


@pytest.mark.parametrize(
    ("caption", "new", "shown", "foil"),
    [
        ("Two dogs on a couch.", 4, "Two dogs on a couch.", "Four dogs on a couch."),
        ("Three dogs on a couch.", 2, "Exactly three dogs on a couch.", "Exactly two dogs on a couch."),
        ("Three dogs are sitting on a couch.", 1, "Exactly three dogs are sitting on a couch.", None),
        ("One dog is sitting on a couch.", 3, "One dog is sitting on a couch.", "Three dogs are sitting on a couch."),
    ],
)
def test_a_lower_number_is_exact_and_what_agrees_changes(parse, caption, new, shown, foil):
    [one] = recounted(parse(caption), new).candidates
    assert one.caption == shown
    assert one.foil == (foil or "Exactly one dog is sitting on a couch.")


@pytest.mark.parametrize(
    ("caption", "new", "reason"),
    [
        ("Two dogs with their tongues out.", 1, "other words tell the number, too"),
        ("men two", 3, "the number does not begin a noun phrase"),
        ("A dog on a couch.", 2, "no number before a noun"),
        ("The two dogs sit on a couch.", 3, "the number does not begin a noun phrase"),
        ("A boy who is about two feet tall.", 3, "the number does not begin a noun phrase"),
        ("Two dogs on a couch.", 2, "the number is replaced by itself, or by one that has no word"),
    ],
)
def test_numbers_that_are_not_replaced(parse, caption, new, reason):
    assert recounted(parse(caption), new).refused == (reason,)


def test_a_preposition_of_place_becomes_its_opposite(parse):
    assert foils(opposed(parse("A cat under a table."))) == ["A cat over a table."]
    assert foils(opposed(parse("A bike in front of a house."))) == ["A bike behind a house."]
    found = opposed(parse("A man standing behind a car.")).candidates[0]
    assert (found.foil, found.classes) == ("A man standing in front of a car.", ("behind", "in front of"))


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A woman bending over to kiss a dog.", "no preposition with a thing behind it"),
        ("A man is leaning over a rail.", "the verb says a movement"),
        ("A kite under a cloudy sky.", "a thing without another side"),
        ("A cat looking outside a box.", "the verb says a direction"),
        ("A cat near a box.", "no spatial preposition with an opposite"),
    ],
)
def test_particles_and_directions_have_no_opposite(parse, caption, reason):
    assert opposed(parse(caption)).refused == (reason,)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("A man and a woman are sitting on a bench.", "A woman and a man are sitting on a bench."),
        ("A desk with a keyboard and mouse.", "A desk with a mouse and keyboard."),
        ("is it a man or an owl?", "is it an owl or a man?"),
        ("Is the couple a man and a woman?", "Is the couple a woman and a man?"),
    ],
)
def test_two_joined_things_change_places(parse, text, other):
    assert reordered(parse(text)).texts == (other,)


@pytest.mark.parametrize(
    "text",
    [
        "An old cell phone that doesn't have a touch screen or flip.",
        "A man and his dog on a beach.",
        "A red cup and balls on a table.",
        "A man with a hat and a tie standing.",
        "A cup, a ball and a hat on a table on a porch.",
        "are they wearing swim trunks or wetsuits?",
        "Two white bowls with vegetables, meats and herbs and chopsticks nearby.",
        "A plate with macaroni and cheese.",
        "A table with pepper and salt.",
    ],
)
def test_things_that_are_not_alike_stay(parse, text):
    found = reordered(parse(text))
    assert found.texts == ()
    assert found.refused


def test_things_in_a_relation_are_exchanged(parse):
    assert foils(exchanged(parse("A dog sitting on an elephant."))) == ["An elephant sitting on a dog."]
    assert exchanged(parse("Two cows in a field.")).candidates == ()
    for caption in ("A bench outdoors with an umbrella.", "A dog sitting beside an elephant."):
        assert exchanged(parse(caption)).candidates == ()
    joined = exchanged(parse("A dining and kitchen table on an elephant."))
    assert (joined.candidates, set(joined.refused)) == ((), {"several things are joined"})


def test_a_replaced_noun_keeps_its_number_and_its_article_agrees(parse):
    assert foils(replaced(parse("Two dogs on a couch."), "dogs", "sheep")) == ["Two sheep on a couch."]
    assert foils(replaced(parse("A dog on a couch."), "dog", "owl")) == ["An owl on a couch."]
    assert replaced(parse("A tennis ball on a couch."), "ball", "owl").refused == ("part of a longer name",)


FUNCTIONS = (
    negated,
    opposed,
    exchanged,
    reordered,
    lambda one: recounted(one, 3),
    lambda one: replaced(one, "a", "cat"),
)
STRANGE = (
    *("", "   ", "?", "🐶🐱", "<b>A dog</b> on a mat.", "Ein Hund sitzt auf einer Bank.", "犬がベンチに座っている。"),
    *("A DOG AND A CAT ARE UNDER TWO TABLES.", "dog " * 10_000, "http://a.b/c.jpg", "Running.", "\ud800", "and or and"),
)


@pytest.mark.parametrize("text", STRANGE)
def test_strange_texts_are_refused_with_a_reason(parse, text):
    one = parse(text)
    for function in FUNCTIONS:
        found = function(one)
        assert found.refused
        assert not getattr(found, "candidates", getattr(found, "texts", ()))


WORDS = (
    "a",
    "two",
    "the",
    "dog",
    "dogs",
    "cat",
    "and",
    "or",
    "on",
    "under",
    "is",
    "are",
    "riding",
    "no",
    ",",
    ".",
    "THERE",
)
WORDS += ("there", "of", "men", "with", "one", "behind")


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_no_text_raises_and_each_has_a_candidate_or_a_reason(parse, text):
    one = parse(text)
    for function in FUNCTIONS:
        found = function(one)
        texts = [foil.foil for foil in getattr(found, "candidates", ())] + list(getattr(found, "texts", ()))
        assert texts or found.refused
        assert text not in texts


def test_why_a_text_is_unfit_is_one_of_few_reasons(parse):
    assert unfit(parse("A dog on a bench.")) == ""
    assert unfit(parse("🐶")) == "no words"
    assert unfit(parse("A [dog] on a bench.")) == "markup or symbols"


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A airplane is on the ground.", "an article does not agree"),
        ("A man with an bag.", "an article does not agree"),
        ("There is apples and pears on the table.", "a verb does not agree"),
        ("There are a group of people in a park.", "a verb does not agree"),
        ("A keyboard and a mouse sits on a desk.", "a verb does not agree"),
        ("A stack of books sit on a desk.", "a verb does not agree"),
        ("A keyboard and a mouse sit on a desk.", ""),
        ("A group of people walk on a beach.", ""),
        ("A dog in in the cage.", "a slip of the pen"),
        ("A snowboarder has fallen n the snow.", "a slip of the pen"),
        ("A batter standing a home plate on a baseball field.", "a slip of the pen"),
        ("A train with steam coming from underneath, passes by a building.", "a slip of the pen"),
        ("Two dogs and cat sit on the floor.", "articles are left out"),
        ("A dog is sticking it's head out of a window.", "a slip of the pen"),
        ("A girrafe is next to a telivision.", "a slip of the pen"),
        ("An hour later it's raining on a unicorn.", ""),
        ("There is a group of people next to a double decker bus.", ""),
        ("A radiologist with a pneumothorax sees a wonderful skatepark.", ""),
    ],
)
def test_a_text_with_a_slip_is_unfit_and_a_rare_word_is_none(parse, caption, reason):
    assert unfit(parse(caption)) == reason


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A baseball team crowd together on the field.", "a verb does not agree"),
        ("A dish on a blue plate is red.", "the two may be one kind of thing"),
        ("A man in a shirt and tie is standing up.", "a description that belongs to one of them"),
        ("A woman is having a smoke.", "an act and no object"),
        ("A man is doing a leap on a sidewalk.", "an act and no object"),
        ("A person is flying a biplane in the sky.", "the verb may be true of both in either order"),
        ("The clock tower features a very unusual walkway.", "the verb may be true of both in either order"),
        (
            "A red extra long bus driving down a stone covered walkway.",
            "a description that belongs to one of them",
        ),
        (
            "a large bird catching a gray from in shallow water near grass",
            "a description that belongs to one of them",
        ),
        ("A sheep is standing on a hill together.", "a word tells of several"),
    ],
)
def test_two_things_that_would_not_make_sense_in_each_others_place_stay(parse, caption, reason):
    found = exchanged(parse(caption))
    assert found.candidates == ()
    assert reason in found.refused
