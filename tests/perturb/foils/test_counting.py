"""Counting: which foils the three instruments make of a set of statements."""

from collections import Counter

import pytest

from vlgate.perturb.foils.how_many import adversarial, balanced, countable, counted, small


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


def distributions(foils):
    return Counter(foil.classes[0] for foil in foils.values()), Counter(foil.classes[1] for foil in foils.values())


def test_balanced_foils_have_the_captions_distribution_under_the_cap(statements):
    foils = balanced(statements, seed=1, cap=25)
    captions, others = distributions(foils)
    assert captions == others
    assert max(captions.values()) <= 25
    assert len(captions) == 10
    assert all(foil.classes[0] != foil.classes[1] for foil in foils.values())


def test_small_numbers_stay_between_0_and_3_on_both_sides(statements):
    captions, others = distributions(small(statements, seed=1, cap=40))
    assert captions == others == {"0": 40, "1": 40, "2": 40, "3": 40}


def test_adversarial_captions_are_4_or_more_and_foils_0_to_3_in_equal_numbers(statements):
    captions, others = distributions(adversarial(statements, seed=1))
    assert min(map(int, captions)) == 4
    assert set(others) == {"0", "1", "2", "3"}
    assert max(others.values()) - min(others.values()) <= 1


def test_the_texts_say_the_classes_and_belong_to_their_statement(statements):
    for place, one in balanced(statements, seed=2).items():
        assert one.caption == counted(statements[place], int(one.classes[0]))
        assert one.foil == counted(statements[place], int(one.classes[1]))
        assert statements[place].number == int(one.classes[0])


def test_the_seed_decides(statements):
    assert balanced(statements, seed=1) == balanced(statements, seed=1) != balanced(statements, seed=2)
    assert adversarial(statements, seed=1) == adversarial(statements, seed=1) != adversarial(statements, seed=2)


def test_a_statement_without_a_singular_never_gets_a_foil_of_one(parser):
    [pairs, bus] = parser.parse(["How many zebras are standing together?", "How many wheels are on the bus?"])
    made = [countable(pairs, str(number)) for number in (2, 3, 4, 5)] + [
        countable(bus, str(n)) for n in (1, 1, 2, 2, 3)
    ]
    for seed in range(10):
        foils = balanced(made, seed=seed)
        assert len(foils) >= 6
        assert all(foil.classes[1] != "1" for place, foil in foils.items() if place < 4)


def test_no_statements_give_no_foils():
    assert balanced([], seed=0) == small([], seed=0) == adversarial([], seed=0) == {}
