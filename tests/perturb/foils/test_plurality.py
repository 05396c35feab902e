"""Plurality: number, verbs and pronouns change together, and what is not sure is refused."""

import pytest
from builders import tabled

from vlgate.perturb.foils.captions.mentions import mentions
from vlgate.perturb.foils.captions.numbers import ONE, SEVERAL, plurals
from vlgate.perturb.text.parsed import Parsed


@pytest.fixture(scope="module")
def foils(parser):
    """Return a caption's foils: {(quantifiers): (caption, foil)} of the noun ``noun``; ``others`` are captions too."""

    def made(caption, noun, *others, doubtful=False):
        parsed, *rest = parser.parse((caption, *others))
        found = plurals(parsed, [mentions(one) for one in rest], doubtful=doubtful)
        return {
            tuple(foil.tags["quantifiers"].split("/")): (foil.caption, foil.foil)
            for foil in found.candidates
            if foil.classes[0] == noun
        }

    return made


def test_a_singular_becomes_plural_with_each_pair_of_quantifiers(foils):
    found = foils("A giraffe stands under a bridge.", "giraffe", "The giraffe is outside.")
    assert set(found) == {(one, several) for one in ONE for several in SEVERAL}
    assert found["exactly one", "a number of"] == (
        "Exactly one giraffe stands under a bridge.",
        "A number of giraffes stand under a bridge.",
    )


@tabled
def test_single_stands_before_no_noun_of_which_it_names_a_sort(foils, caption, noun):
    found = foils(caption, noun, f"The {noun}", doubtful=True)
    assert {one for pair in found for one in pair} == {"exactly one", "some", "a number of"}
    assert "a single" in {one for pair in foils("A large bed.", "bed", doubtful=True) for one in pair}


def test_a_plural_becomes_singular_and_its_numeral_goes(foils):
    found = foils("There are two big elephants near the gate.", "elephants")
    assert set(found) == {(several, one) for several in SEVERAL for one in ONE}
    assert found["some", "a single"] == (
        "There are some big elephants near the gate.",
        "There is a single big elephant near the gate.",
    )


@tabled
def test_what_each_of_several_has_and_what_may_be_a_verb_give_no_foil(foils, caption, noun):
    assert foils("Two plates with sandwiches and two cups that contain tea.", "plates")
    assert not foils(caption, noun)


@pytest.mark.parametrize("verb", ["rides", "is riding", "mounts", "sails", "paddles"])
def test_one_rides_one_thing(foils, verb):
    assert foils("A man holds a canoe.", "canoe", "There is a canoe outside.")
    assert not foils(f"A man {verb} a canoe.", "canoe", "There is a canoe outside.")


@tabled
def test_other_words_that_tell_the_number_give_no_foil(foils, caption, noun):
    assert not foils(caption, noun, *[f"There is a {noun}."] * (noun == "monitor"))


@tabled
def test_verbs_and_pronouns_agree_with_a_plural(foils, caption, noun, foil):
    assert foils(caption, noun, f"The {noun} is seen.", doubtful=True)["exactly one", "some"][1] == foil


@tabled
def test_verbs_and_pronouns_agree_with_a_singular(foils, caption, noun, foil):
    assert foils(caption, noun)["some", "a single"][1] == foil


@tabled
def test_no_noun_changes_that_a_pronoun_may_mean_beside_another_one(foils, caption, noun, other):
    assert foils(caption, noun, other) == {}


@tabled
def test_a_pronoun_of_one_noun_alone_agrees_with_it(foils, caption, noun, foil):
    found = foils(caption, noun, f"The {noun}.")
    assert foil in {false for _, false in found.values()}


def test_a_verb_that_belongs_to_another_noun_stays(foils):
    assert foils("A man watches the dogs that run.", "man", "A man.")["a single", "some"][1] == (
        "Some men watch the dogs that run."
    )


@tabled
def test_what_is_not_sure_is_refused_with_a_reason(parser, caption, reason):
    assert reason in plurals(next(parser.parse([caption]))).refused


@tabled
def test_other_captions_decide_whether_there_is_one(parser, caption, others, reason):
    parsed, *rest = parser.parse((caption, *others))
    found = plurals(parsed, [mentions(one) for one in rest])
    assert (reason in found.refused) if reason else found.candidates


def test_doubtful_candidates_carry_their_doubt(parser):
    parsed = next(parser.parse(["Two dogs next to each other"]))
    assert {
        candidate.tags["doubt"]
        for candidate in plurals(parsed, doubtful=True).candidates
        if candidate.classes[0] == "dogs"
    } == {"the caption says that several are together"}
    sure = next(parser.parse(["Two dogs run."]))
    assert {candidate.tags["doubt"] for candidate in plurals(sure, doubtful=True).candidates} == {"none"}
    assert all("doubt" not in candidate.tags for candidate in plurals(sure).candidates)


def test_long_texts_and_texts_without_nouns_are_refused(parser):
    long = next(parser.parse(["A dog sees a cat. " * 20]))
    assert plurals(long).refused == ("the caption has more than 80 tokens",)
    assert plurals(Parsed(text="", tokens=())).refused == ("no noun phrase",)
