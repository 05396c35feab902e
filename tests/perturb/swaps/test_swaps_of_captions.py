"""Swaps between the captions of two images, with a real parser: what is found, and what only looks like one."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.perturb.foils.swap_facts import Has, Relates, Vocabulary, caption_scenes
from vlgate.perturb.foils.swap_mining import BOTH_TRUE, NO_CONTRADICTION, SAME_FACTS, SAME_IMAGE, mine
from vlgate.perturb.ontology.ontology import default_ontology

VOCABULARY = Vocabulary(default_ontology())


@pytest.fixture
def found(parser):
    """Mine (image, caption) pairs; return the captions of each pair, the candidates and the reasons."""

    def find(*captions):
        images, texts = zip(*captions, strict=True)
        result = mine(caption_scenes(zip(images, parser.parse(texts), strict=True), VOCABULARY), VOCABULARY)
        return [swap.captions for swap in result.candidates], result.candidates, Counter(result.refused)

    return find


@pytest.fixture
def facts(parser):
    """The facts of one caption."""

    def read(caption):
        [scene] = caption_scenes([("1", next(iter(parser.parse([caption]))))], VOCABULARY)
        return scene

    return read


def test_two_things_that_change_places_are_found_inside_longer_captions(found):
    captions, [swap], _ = found(("1", "A small dog sits behind a cat."), ("2", "A cat behind a dog in the park."))
    assert captions == [("a dog behind a cat", "a cat behind a dog")]
    assert swap.images == ("1", "2")
    assert swap.tags == {"collapsed_tag": "Object", "tag": "Noun", "num_main_preds": "1", "origin": "part"}
    assert swap.why == "The first image has a dog behind a cat, the second has a cat behind a dog."


def test_whole_captions_are_taken_as_they_are(found):
    captions, [swap], _ = found(("1", "A red bus behind a blue car."), ("2", "A blue bus behind a red car."))
    assert captions == [("A red bus behind a blue car.", "A blue bus behind a red car.")]
    assert swap.tags == {
        "collapsed_tag": "Relation",
        "tag": "Adjective-Color",
        "num_main_preds": "1",
        "origin": "caption",
    }


def test_numbers_and_actions_change_places(found):
    captions, swaps, _ = found(
        ("1", "Two women stand beside one giraffe."),
        ("2", "One woman and two giraffes."),
        ("3", "There is a man sitting and a woman standing."),
        ("4", "There is a woman sitting and a man standing in a park."),
    )
    assert sorted(captions) == [
        ("a man sitting and a woman standing", "a man standing and a woman sitting"),
        ("one giraffe and two women", "two giraffes and one woman"),
    ]
    assert {swap.tags["tag"] for swap in swaps} == {"Determiner-Numeral", "Verb-Intransitive"}


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("a bathroom with a mirror and a sink", "a bathroom with a sink and a mirror", SAME_FACTS),
        ("A cat and a dog.", "A dog and a cat.", SAME_FACTS),
        ("In the park a man runs.", "A man runs in the park.", NO_CONTRADICTION),
        ("A dog next to a cat.", "A cat next to a dog.", SAME_FACTS),
        ("A large city bus driving down a street.", "A large bus driving down a city street.", NO_CONTRADICTION),
        ("A dog and a large cat.", "A large dog and a cat.", NO_CONTRADICTION),
    ],
)
def test_another_order_that_may_mean_the_same_is_refused_with_its_reason(found, one, other, why):
    captions, _, refused = found(("1", one), ("2", other))
    assert captions == []
    assert refused == {why: 1}


def test_captions_that_hold_of_both_images_are_refused(found):
    turned = [("2", "A cat behind a dog."), ("2", "A dog behind a cat.")]
    captions, _, refused = found(("1", "A dog behind a cat."), *turned)
    assert captions == []
    assert refused[BOTH_TRUE] >= 1
    assert found(*turned)[2][SAME_IMAGE] >= 1


@pytest.mark.parametrize(
    "more",
    ["Two dogs in a park.", "A dog with another next to it.", "A group of dogs.", "A dog looks at a toy dog."],
)
def test_where_there_may_be_several_nothing_is_said_of_one(found, more):
    one, other = ("1", "A dog behind a cat."), ("2", "A cat behind a dog.")
    assert found(one, other)[0]
    assert found(one, other, ("2", more))[0] == []


def test_two_numbers_must_be_said_in_one_caption_and_captions_of_one_image_must_agree(found):
    one, other = ("1", "Two women beside one giraffe."), [("2", "One woman."), ("2", "There are two giraffes.")]
    assert found(one, *other)[0] == []
    # People who face each other are both in front.
    assert found(("1", "A man in front of a woman in a bus."), ("2", "A woman in front of a man."))[0] == []
    assert found(("1", "A man in front of a bus in a city."), ("2", "A bus in front of a man."))[0]
    pair = [("1", "A black dog and a white cat."), ("2", "A white dog and a black cat.")]
    assert found(*pair)[0]
    assert found(*pair, ("2", "A black dog."))[0] == []


def test_each_image_is_in_one_pair_with_the_same_captions(found):
    many = [(f"a{n}", "A dog behind a cat.") for n in range(3)] + [(f"b{n}", "A cat behind a dog.") for n in range(2)]
    _, swaps, _ = found(*many)
    assert [swap.images for swap in swaps] == [("a0", "b0"), ("a1", "b1")]


@pytest.mark.parametrize(
    ("kind", "caption", "expected"),
    [
        (Relates, "A man rides down a road on a bike.", set()),
        (Relates, "A man riding a horse.", {Relates("man", "riding", "horse")}),
        (Relates, "A cat on top of a laptop.", {Relates("cat", "on top of", "laptop")}),
        (Relates, "A cat sits in a sink.", {Relates("cat", "in", "sink"), Relates("cat", "sitting in", "sink")}),
        (Relates, "A stuffed dog behind a cat.", set()),
        (Relates, "A picture of a dog behind a cat.", set()),
        (Relates, "A dog is not behind a cat.", set()),
        (Relates, "A dog and a boy behind a car.", set()),
        (Has, "A black and white dog.", {("dog", "black"), ("dog", "white"), ("dog", "one")}),
        (Has, "The bus is red.", {("bus", "red")}),
        (Has, "A light blue car.", {("car", "one")}),
        (Has, "Three red apples.", {("apple", "three")}),
        (Has, "No dogs.", set()),
    ],
)
def test_only_what_the_parse_says_plainly_is_a_fact(facts, kind, caption, expected):
    assert {fact for fact in facts(caption).facts if isinstance(fact, kind)} == expected


def test_texts_that_are_no_captions_give_nothing_and_no_error(found):
    shouted = ("EIN HUND HINTER EINER KATZE", "A DOG BEHIND A CAT.")
    for text in ("", "   ", "!!!", "🎈🐕", *shouted, "<b>A dog</b> behind", "dog " * 10_000):
        assert found(("1", text), ("2", text), ("3", "A dog"))[0] == []


@settings(max_examples=30)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_no_text_is_an_error(parser, texts):
    captions = ((str(n), parsed) for n, parsed in enumerate(parser.parse(texts)))
    mine(caption_scenes(captions, VOCABULARY), VOCABULARY)
