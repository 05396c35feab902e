"""Numbers in captions: exact on both sides, and borne out by another caption."""

import pytest
from builders import tabled

from vlgate.perturb.foils.captions.mentions import mentions
from vlgate.perturb.foils.captions.numbers import counted


@pytest.fixture(scope="module")
def found(parser):
    """Return what a caption gives beside others."""

    def made(caption, *others):
        parsed, *rest = parser.parse((caption, *others))
        return counted(parsed, [mentions(one) for one in rest])

    return made


def test_numbers_are_raised_and_lowered_with_exactly_on_both_sides(found):
    foils = found("Two dogs run on the grass.", "There are two dogs.").candidates
    assert {(foil.caption, foil.foil, foil.tags["direction"]) for foil in foils} == {
        ("Exactly two dogs run on the grass.", "Exactly one dog runs on the grass.", "lowered"),
        ("Exactly two dogs run on the grass.", "Exactly three dogs run on the grass.", "raised"),
        ("Exactly two dogs run on the grass.", "Exactly four dogs run on the grass.", "raised"),
    }


def test_one_becomes_several_with_its_verb(found):
    foils = found("There is one cat on the bench.", "One cat sits there.").candidates
    assert [(foil.foil, foil.classes) for foil in foils] == [
        ("There are exactly two cats on the bench.", ("1", "2")),
        ("There are exactly three cats on the bench.", ("1", "3")),
    ]


TOGETHER = ["Two children walk abreast.", "Two children sit side by side.", "Two children are shaking hands."]


@pytest.mark.parametrize("caption", ["Two children use their laptops.", "A bowl filled with two apples", *TOGETHER])
def test_several_do_not_become_one_beside_words_that_need_several(found, caption):
    assert {candidate.classes for candidate in found(caption, "Two children", "Two apples").candidates} == {
        ("2", "3"),
        ("2", "4"),
    }


@pytest.mark.parametrize(
    "caption", ["Two children are riding horses.", "Two children with the backs turned.", "Two children wear helmets"]
)
def test_several_do_not_become_one_with_the_things_of_several(found, caption):
    assert {candidate.classes for candidate in found(caption, "Two children").candidates} == {("2", "3"), ("2", "4")}


@pytest.mark.parametrize(
    "caption",
    ["Two zebras face opposite directions.", "Two zebras, one is big and one is small.", "A cat between two zebras"],
)
def test_a_number_that_other_words_tell_is_left(found, caption):
    assert "other words tell the number, too" in found(caption, "Two zebras").refused


def test_digits_stay_digits(found):
    foils = found("The 5 kites are red", "There are 5 kites.").candidates
    assert {foil.foil for foil in foils} == {f"Exactly {n} kites are red" for n in (3, 4, 6, 7)}


def test_a_couple_bears_out_two(found):
    assert found("Two cows in a field", "A couple of cows").candidates


@tabled
def test_what_is_not_sure_is_refused_with_a_reason(found, caption, others, reason):
    given = found(caption, *others)
    assert not given.candidates
    assert reason in given.refused
