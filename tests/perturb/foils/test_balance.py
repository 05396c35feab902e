"""Choosing candidates whose classes are balanced, and exchanged as often one way as the other."""

import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.errors import OptionError
from vlgate.perturb.foils.balance import capped, exchanged, spread
from vlgate.perturb.foils.candidates import Foil

classes = st.lists(st.sampled_from("abcd"), max_size=24)
seeds = st.integers(0, 5)
candidates = st.lists(st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from("abcde"), unique=True)), max_size=14)


@given(classes, st.integers(1, 4), seeds)
def test_a_cap_keeps_as_many_as_it_may_of_each_class(given_classes, cap, seed):
    kept = Counter(given_classes[place] for place in capped(given_classes, cap, seed=seed))
    assert kept == {one: min(count, cap) for one, count in Counter(given_classes).items()}


@given(st.lists(st.lists(st.sampled_from("abc"), unique=True), max_size=20), seeds)
def test_spread_gives_each_candidate_one_of_its_options(options, seed):
    chosen = spread(options, seed=seed)
    assert set(chosen) == {index for index, some in enumerate(options) if some}
    assert all(one in options[place] for place, one in chosen.items())


def test_spread_is_even_if_the_options_allow():
    assert set(Counter(spread([range(4)] * 40, seed=3).values()).values()) == {10}


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="cap=0 must be at least 1"):
        capped("ab", 0, seed=0)


def foils_of(classes, quantifiers="/"):
    return [Foil(caption="", foil="", classes=pair, why="", tags={"quantifiers": quantifiers}) for pair in classes]


CANDIDATES = st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abcde")), max_size=80).map(
    # each source has one class of its own, which only other classes replace
    lambda some: [(source, ("abcde"[source % 5], other)) for source, other in some if "abcde"[source % 5] != other]
)


@given(CANDIDATES, st.integers(0, 5), st.booleans())
def test_each_class_is_as_frequent_in_captions_as_in_foils_and_each_source_is_used_once(some, seed, rings):
    sources = [source for source, _ in some]
    classes = [pair for _, pair in some]
    taken = exchanged(foils_of(classes), sources, seed, rings=rings)
    assert list(taken) == sorted(set(taken))
    assert len({sources[place] for place in taken}) == len(taken)
    assert Counter(classes[place][0] for place in taken) == Counter(classes[place][1] for place in taken)
    assert taken == exchanged(foils_of(classes), sources, seed, rings=rings)


@given(CANDIDATES, st.integers(0, 5))
def test_pairs_are_as_frequent_in_one_direction_as_in_the_other(some, seed):
    classes = [pair for _, pair in some]
    counts = Counter(classes[place] for place in exchanged(foils_of(classes), [source for source, _ in some], seed))
    assert all(counts[one, other] == counts[other, one] for one, other in counts)


def test_all_that_can_be_paired_is_and_rings_are_longer_than_pairs():
    classes = [("on", "under")] * 3 + [("under", "on")] * 2 + [("in", "outside")]
    assert len(exchanged(foils_of(classes), range(6), seed=0)) == 4
    ring = [("ride", "push"), ("push", "pull"), ("pull", "ride"), ("pull", "eat")]
    assert exchanged(foils_of(ring), range(4), seed=0) == ()
    assert exchanged(foils_of(ring), range(4), seed=0, rings=True) == (0, 1, 2)


def test_a_frequent_pair_does_not_crowd_out_a_rare_one():
    classes = [("on", "under"), ("under", "on")] * 50 + [("on", "behind"), ("behind", "on")]
    sources = [index // 1 for index in range(100)] + [0, 100]
    taken = exchanged(foils_of(classes), sources, seed=1)
    assert Counter(classes[place] for place in taken)["behind", "on"] == 1


def test_sources_and_foils_are_as_many():
    with pytest.raises(ValueError, match=r"len\(foils\)=1 and len\(sources\)=0"):
        exchanged(foils_of([("a", "b")]), [], seed=0)


def test_quantifiers_are_part_of_what_is_exchanged():
    foils = foils_of([("dog", "dogs")], "a single/some") + foils_of([("dogs", "dog")], "some/exactly one")
    assert exchanged(foils, range(2), seed=1) == ()


def test_equally_rare_exchanges_take_turns():
    ways = [(one, other) for one in ("some", "a number of") for other in ("a single", "exactly one")]
    foils = [
        foil
        for several, one in ways
        for foil in foils_of([("dogs", "dog")], f"{several}/{one}") + foils_of([("dog", "dogs")], f"{one}/{several}")
    ]
    sources = [f"{foil.classes[0]} {number}" for number in range(40) for foil in foils]
    taken = exchanged(foils * 40, sources, seed=3)
    counts = Counter((foils * 40)[index].tags["quantifiers"] for index in taken)
    assert len(taken) == 80
    assert len(counts) == 8
    assert max(counts.values()) <= 16


@pytest.mark.parametrize("seed", range(5))
def test_half_of_the_captions_are_the_likelier_text(seed):
    random = Random(seed)
    classes = [random.choice([("on", "under"), ("under", "on")]) for _ in range(400)]
    leads = [random.gauss(0.4, 1) for _ in classes]  # two in three captions are likelier
    taken = exchanged(foils_of(classes), range(400), seed, leads)
    assert len(taken) >= 220
    assert 0.48 <= sum(leads[index] > 0 for index in taken) / len(taken) <= 0.52


def test_pairs_of_words_are_about_as_often_true_as_false():
    foils = []
    for number in range(1200):  # "on a table" is true in nine of ten, "on a chair" in one of ten
        thing = "table" if number % 2 else "chair"
        one, other = ("on", "under") if (number % 20 < 18) == (thing == "table") else ("under", "on")
        texts = [f"a cup {name} the{number % 2} {thing}" for name in (one, other)]
        foils.append(Foil(caption=texts[0], foil=texts[1], classes=(one, other), why=""))
    taken = exchanged(foils, range(1200), 1)
    true = Counter(foils[index].classes[0] for index in taken if "table" in foils[index].caption)
    assert len(taken) >= 200
    assert abs(true["on"] - true["under"]) <= 0.1 * sum(true.values()) + 2


def put_in(own, options, seed):
    """The class that each candidate's foil gets, of those that it may get, by its position."""
    ways = [(index, (one, other)) for index, one in enumerate(own) for other in options[index] if other != one]
    taken = exchanged(foils_of([pair for _, pair in ways]), [index for index, _ in ways], seed, rings=True)
    return {ways[place][0]: ways[place][1][1] for place in taken}


@settings(max_examples=100)
@given(candidates, seeds)
def test_foils_have_the_distribution_of_their_captions(given_candidates, seed):
    own, options = [one for one, _ in given_candidates], [some for _, some in given_candidates]
    chosen = put_in(own, options, seed)
    assert Counter(own[place] for place in chosen) == Counter(chosen.values())
    assert all(one in options[place] and one != own[place] for place, one in chosen.items())
    assert chosen == put_in(own, options, seed)


@settings(max_examples=50)
@given(st.lists(st.sampled_from("abcd"), max_size=30), seeds)
def test_nothing_is_dropped_if_every_class_is_open_and_none_has_more_than_half(own, seed):
    chosen = put_in(own, [list("abcd")] * len(own), seed)
    if not own or max(Counter(own).values()) <= len(own) / 2:
        assert len(chosen) == len(own)


def test_a_chain_of_exchanges_is_found():
    # a may only become b, b only c, c only a: a greedy choice of b for the second "c" would leave none for "a".
    assert put_in("abc", ["b", "c", "ab"], 0) == {0: "b", 1: "c", 2: "a"}


def test_the_choice_is_random_and_the_seed_decides():
    own, options = "aaabbbccc", ["abc"] * 9
    assert len({tuple(put_in(own, options, seed).items()) for seed in range(8)}) > 4


def test_without_highspy_a_set_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(OptionError, match="needs highspy, which is not installed; pip install highspy"):
        exchanged(foils_of([("a", "b"), ("b", "a")]), range(2), 0)
