from pathlib import Path

import pytest
from builders import table, tabled

from vlgate.perturb.ontology.wordnet import WordRelations

# (id, part of speech, words, hypernym)
SYNSETS = tuple(table(Path(__file__).with_suffix(".tsv"), "synsets"))
ANTONYMS = {"enter-enter": "exit-leave", "exit-leave": "enter-enter"}


@pytest.fixture(scope="module")
def relations(install_lexicon):
    wn = install_lexicon([(*row, "", "", "") for row in SYNSETS], ANTONYMS)
    return WordRelations(wn.Wordnet("tiny:1"))


@tabled
def test_synonyms_and_hypernyms_say_the_same_and_antonyms_do_not(relations, one, other, same):
    assert relations.same_action(one, other) is same
    assert relations.same_action(other, one) is same


def test_a_kind_of_a_thing_may_be_that_thing(relations):
    assert relations.same_thing("adult male", "person")
    assert relations.same_thing("person", "man")
    assert not relations.same_thing("man", "dog")


def test_a_noun_is_of_the_kind_of_its_usual_sense(relations):
    assert relations.is_kind("computer", "machine", 1)
    assert not relations.is_kind("computer", "person", 1)
    assert relations.is_kind("computer", "person", 2)
    assert not relations.is_kind("unknown", "person", 3)
