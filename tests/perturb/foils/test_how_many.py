"""How-many questions in, captions and foils of existence and counting out."""

from collections import Counter

import pytest
from builders import tabled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlgate.perturb.foils.balance import exchanged
from vlgate.perturb.foils.how_many import (
    adversarial,
    balanced,
    countable,
    counted,
    existence,
    numeral,
    small,
    statement,
)

WORDS = "how many dogs of the are is there 3 do have can you red on wearing , ' é 犬".split()


@tabled
def test_a_question_becomes_a_caption_and_a_foil(parser, question, answer, caption, foil):
    [parsed] = parser.parse([question])
    [made] = existence(parsed, answer).candidates
    assert (made.caption, made.foil) == (caption, foil)
    zero = numeral(answer) == 0
    assert made.tags == {"provenance": "zero_to_something" if zero else "something_to_zero"}
    assert made.classes == (("0", "more") if zero else ("more", "0"))


@tabled
def test_what_cannot_be_turned_is_refused_with_a_reason(parser, question, answer, reason):
    [parsed] = parser.parse([question])
    found = existence(parsed, answer)
    assert not found.candidates
    assert found.refused == (reason or found.refused[0],)


def test_ten_thousand_words_are_refused(parser):
    [parsed] = parser.parse(["How many " + "big " * 10_000 + "dogs?"])
    assert existence(parsed, "2").refused == ("not a how-many question",)


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


@pytest.fixture(scope="module")
def statements(parser):
    """300 statements of 0 to 9, small numbers more often, as people count."""
    numbers = [number for number in range(10) for _ in range(60 - 6 * number)]
    parsed = list(parser.parse(["How many wheels are on the bus?", "How many cows do you see?"]))
    return [countable(parsed[index % 2], str(number)) for index, number in enumerate(numbers)]


def test_a_statement_takes_any_number_with_its_agreement(parser):
    made = [
        countable(one, "2")
        for one in parser.parse(["How many wheels are on the bus?", "How many of the dogs are black?"])
    ]
    assert [counted(one, 0) for one in made] == [
        "There are exactly 0 wheels on the bus.",
        "Exactly 0 of the dogs are black.",
    ]
    assert [counted(one, 1) for one in made] == [
        "There is exactly 1 wheel on the bus.",
        "Exactly 1 of the dogs is black.",
    ]


def test_the_singular_names_one_thing_of_each_and_a_plural_without_one_has_none(parser):
    [suits, people] = [
        countable(one, "2") for one in parser.parse(["How many men are in suits?", "How many peoples are there?"])
    ]
    assert counted(suits, 1) == "There is exactly 1 man in a suit."
    assert counted(people, 1) is None


def test_a_number_that_several_have_each_is_refused(parser):
    [parsed] = parser.parse(["How many tusks do the elephants have?"])
    assert countable(parsed, "2") == "a number that may be meant one by one"


def chosen(made, seed=1):
    """One foil of each statement, as a set is balanced."""
    foils = [(place, foil) for place, some in made.items() for foil in some]
    kept = exchanged([foil for _, foil in foils], [place for place, _ in foils], seed, rings=True)
    return {foils[index][0]: foils[index][1] for index in kept}


def distributions(foils):
    return Counter(foil.classes[0] for foil in foils.values()), Counter(foil.classes[1] for foil in foils.values())


def test_balanced_foils_have_the_captions_distribution_under_the_cap(statements):
    foils = chosen(balanced(statements, seed=1, cap=25))
    captions, others = distributions(foils)
    assert captions == others
    assert max(captions.values()) <= 25
    assert len(captions) == 10
    assert all(foil.classes[0] != foil.classes[1] for foil in foils.values())


def test_small_numbers_stay_between_0_and_3_on_both_sides(statements):
    captions, others = distributions(chosen(small(statements, seed=1, cap=40)))
    assert captions == others == {"0": 40, "1": 40, "2": 40, "3": 40}


def test_adversarial_captions_are_4_or_more_and_foils_0_to_3_in_equal_numbers(statements):
    captions, others = distributions({place: foil for place, [foil] in adversarial(statements, seed=1).items()})
    assert min(map(int, captions)) == 4
    assert set(others) == {"0", "1", "2", "3"}
    assert max(others.values()) - min(others.values()) <= 1


def test_the_texts_say_the_classes_and_belong_to_their_statement(statements):
    for place, one in chosen(balanced(statements, seed=2)).items():
        assert one.caption == counted(statements[place], int(one.classes[0]))
        assert one.foil == counted(statements[place], int(one.classes[1]))
        assert statements[place].number == int(one.classes[0])


def test_the_seed_decides(statements):
    one, again, other = (chosen(balanced(statements, seed=seed), seed) for seed in (1, 1, 2))
    assert one == again != other
    assert adversarial(statements, seed=1) == adversarial(statements, seed=1) != adversarial(statements, seed=2)


def test_a_statement_without_a_singular_never_gets_a_foil_of_one(parser):
    [pairs, bus] = parser.parse(["How many zebras are standing together?", "How many wheels are on the bus?"])
    made = [countable(pairs, str(number)) for number in (2, 3, 4, 5)] + [
        countable(bus, str(n)) for n in (1, 1, 2, 2, 3)
    ]
    for seed in range(10):
        foils = chosen(balanced(made, seed=seed), seed)
        assert len(foils) >= 6
        assert all(foil.classes[1] != "1" for place, foil in foils.items() if place < 4)


def test_no_statements_give_no_foils():
    assert balanced([], seed=0) == small([], seed=0) == adversarial([], seed=0) == {}
