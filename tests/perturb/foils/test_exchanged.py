"""The choice of foils: at most one a caption, and p for q as often as q for p."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.foils.balance import exchange, exchanged
from vlgate.perturb.foils.candidates import Foil

WORDS = st.sampled_from("pqrs")
FOILS = st.builds(lambda one, two: Foil(caption="", foil="", classes=(one, two), why=""), WORDS, WORDS).filter(
    lambda foil: foil.classes[0] != foil.classes[1]
)


@given(st.lists(st.lists(FOILS, max_size=4), max_size=12), st.integers(0, 3))
def test_each_exchange_is_as_frequent_as_its_reverse(groups, seed):
    chosen = exchanged(groups, seed=seed)
    counts = Counter(exchange(foil) for _, foil in chosen)
    assert all(counts[pair] == counts[pair[::-1]] for pair in counts)
    assert len({place for place, _ in chosen}) == len(chosen)
    assert all(foil in groups[place] for place, foil in chosen)
    assert chosen == exchanged(groups, seed=seed)


def test_as_many_are_chosen_as_the_rarer_direction_has():
    there, back = (Foil(caption="", foil="", classes=pair, why="") for pair in (("p", "q"), ("q", "p")))
    assert len(exchanged([[there], [there], [there], [back], [back]], seed=1)) == 4


def test_quantifiers_are_part_of_what_is_exchanged():
    one = Foil(caption="", foil="", classes=("dog", "dogs"), why="", tags={"quantifiers": "a single/some"})
    two = Foil(caption="", foil="", classes=("dogs", "dog"), why="", tags={"quantifiers": "some/exactly one"})
    assert exchanged([[one], [two]], seed=1) == ()
