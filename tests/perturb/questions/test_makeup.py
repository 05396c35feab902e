import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.question_tests import BEYOND, TESTS, VISUAL
from vlgate.perturb.questions.shares import MAKEUP, makeup


def test_every_test_has_a_makeup():
    assert set(MAKEUP) == {*TESTS, *BEYOND}


# CARETS, Table 6: binary and multi-choice questions; VISUAL-INV's questions each have five pairs.
PRINTED = {
    "rephrase-inv": (10_000, 9_412),
    "order-inv": (5_000, 9_412),
    "ontological-inv": (13_952, 0),
    "visual-inv": (18_000, 8_272),
    "negation-dir": (10_000, 0),
    "antonym-dir": (5_000, 0),
}


@pytest.mark.parametrize("test", TESTS)
def test_the_papers_numbers(test):
    made = makeup(test)
    choices = sum(number for kind, number in made.items() if "choice" in kind)
    assert (sum(made.values()) - choices, choices) == PRINTED[test]


def test_the_sum_of_all_is_what_the_paper_says():
    """ "over 190,000" counts the five perturbations."""
    sizes = {test: sum(makeup(test).values()) for test in TESTS}
    assert sum(sizes.values()) + (len(VISUAL) - 1) * sizes["visual-inv"] == 194_136


@given(st.sampled_from((*TESTS, *BEYOND)), st.integers(1, 50_000))
def test_a_size_is_shared_out_exactly_and_in_proportion(test, size):
    made = makeup(test, size)
    whole = MAKEUP[test]
    assert list(made) == list(whole)
    assert sum(made.values()) == size
    if size >= len(whole):
        assert min(made.values()) >= 1
    total = sum(whole.values())
    for kind, number in made.items():
        assert abs(number - size * whole[kind] / total) <= len(whole)


@pytest.mark.parametrize("size", [0, -3])
def test_no_size_below_one(size):
    with pytest.raises(ValueError, match=f"size={size}:"):
        makeup("order-inv", size)
