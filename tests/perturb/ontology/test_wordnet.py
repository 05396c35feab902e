"""Names that a wordnet knows."""

import os
import sys
from pathlib import Path

import pytest
from builders import table

from vlgate.perturb.ontology.attributes import curated_attributes
from vlgate.perturb.ontology.nouns import Closures, Noun
from vlgate.perturb.ontology.ontology import Ontology, default_ontology
from vlgate.perturb.ontology.wordnet import extended_by_wordnet

REAL = Path(__file__).resolve().parents[4] / "shared/data/wordnet/oewn.xml.gz"

# (id, words, hypernym, part, file, definition); the order of a word's synsets here is that of its senses.
SYNSETS = tuple(table(Path(__file__).with_suffix(".tsv"), "synsets"))


def _two(name, **more):
    other = f"{name}s"
    parents = more.pop("parents", ())
    return (
        Noun(name=name, number="singular", parents=parents, other=other, **more),
        Noun(name=other, number="plural", parents=tuple(f"{parent}s" for parent in parents), other=name, **more),
    )


@pytest.fixture(scope="module")
def ontology():
    nouns = (*_two("animal"), *_two("artifact"), *_two("chair", parents=("artifact",)), *_two("snout"))
    # The curated table gives most nouns their sense; here "animal" has one and the others go by their first.
    sensed = {noun.name: noun for noun in (*nouns, *_two("animal", synset="tiny-animal"))}
    return Ontology(objects=Closures(nouns=sensed), words=curated_attributes())


@pytest.fixture(scope="module")
def wn(install_lexicon):
    """The library with the tiny lexicon as its only one, in a folder of its own."""
    return install_lexicon((key, "n", *rest) for key, *rest in SYNSETS)


@pytest.fixture
def extended(wn):  # noqa: ARG001 -- it must be installed
    return lambda ontology, *names: extended_by_wordnet(ontology, names, lexicon="tiny:1")


def test_a_name_comes_with_its_class_number_and_parts(extended, ontology):
    more, unknown = extended(ontology, "tapir")
    assert unknown == ()
    assert more.nouns["tapir"].number == "singular"
    assert more.nouns["tapir"].parents == ("animal",)  # the hoofer between them is not in the ontology
    assert more.nouns["tapirs"].parents == ("animals",)
    assert (more.nouns["tapir"].other, more.nouns["tapirs"].other) == ("tapirs", "tapir")
    assert "snout" in more.parts("tapir")


def test_synonyms_and_the_other_number_come_along_unasked(extended, ontology):
    more, _ = extended(ontology, "tapirs")
    assert [name for name in more.nouns if more.nouns[name].askable and name not in ontology.nouns] == ["tapirs"]
    assert more.certain("tapir") >= {"tapir", "seladang", "malayan tapir", "animal"}
    assert more.nouns["seladangs"].same == ("tapirs", "malayan tapirs")


def test_names_of_one_thing_are_one_thing(extended, ontology):
    more, unknown = extended(ontology, "seladang", "tapirs", "tapir", "seladang")
    assert unknown == ()
    asked = {name for name in more.nouns if more.nouns[name].askable and name not in ontology.nouns}
    assert asked == {"seladang", "tapirs", "tapir"}
    assert "seladang" in more.certain("tapir")


def test_the_nearest_class_is_the_parent(extended, ontology):
    more, _ = extended(ontology, "throne", "crosspatch", "milking stool")
    assert more.nouns["throne"].parents == ("chair",)
    assert more.hypernyms("throne") == ("chair", "artifact")
    assert set(more.nouns["crosspatch"].parents) == {"animal", "artifact"}
    assert more.nouns["milking stool"].parents == ("chair",)


def test_a_word_of_another_sense_is_no_class(extended):
    nouns = (*_two("artifact"), *_two("chair", synset="tiny-professorship", parents=("artifact",)))
    ontology = Ontology(objects=Closures(nouns={noun.name: noun for noun in nouns}), words=curated_attributes())
    more, _ = extended(ontology, "throne")
    assert more.nouns["throne"].parents == ("artifact",)


def test_the_first_visible_sense_is_taken_and_the_others_stay_possible(extended, ontology):
    more, _ = extended(ontology, "mole")
    assert more.nouns["mole"].parents == ("chair",)
    assert not more.nouns["mole"].askable  # "a mole" of a sauce may not be English
    assert "animal" not in more.certain("mole")
    assert "animal" in more.possible("mole")


def test_a_compound_is_what_its_last_word_is(extended, ontology):
    more, unknown = extended(ontology, "garden chair", "royal thrones", "stray gribbleflax")
    assert unknown == ("stray gribbleflax",)
    assert more.nouns["garden chair"].parents == ("chair",)
    assert more.nouns["garden chairs"].parents == ("chairs",)
    assert more.nouns["royal thrones"].parents == ("chairs",)
    assert more.nouns["royal throne"].parents == ("chair",)


def test_a_compound_of_an_ambiguous_word_is_possibly_such_a_thing(extended, ontology):
    more, unknown = extended(ontology, "paper snout", "garden mole")
    assert unknown == ()
    assert more.nouns["garden mole"].parents == ()
    assert more.possible("garden mole") >= {"chair", "animal"}
    assert "snout" not in more.certain("paper snout")
    assert "snout" in more.possible("paper snout")


def test_capitals_are_passed_over_in_phrases_only(extended, ontology):
    more, unknown = extended(ontology, "cd player", "us")
    assert unknown == ("us",)
    assert more.nouns["cd player"].parents == ("artifact",)


def test_words_that_are_not_asked_about_are_no_classes(extended):
    nouns = (*_two("artifact"), *_two("chair", askable=False, parents=("artifact",)))
    ontology = Ontology(objects=Closures(nouns={noun.name: noun for noun in nouns}), words=curated_attributes())
    more, unknown = extended(ontology, "throne", "garden chair")
    assert unknown == ("garden chair",)
    assert more.nouns["throne"].parents == ("artifact",)


def test_numbers(extended, ontology):
    more, unknown = extended(ontology, "mud", "pincers", "prisms")
    assert (more.nouns["mud"].number, more.nouns["mud"].other) == ("mass", "")
    assert (more.nouns["pincers"].number, more.nouns["pincers"].other) == ("plural", "")
    assert unknown == ("prisms",)


def test_an_inflected_form_is_not_taken_for_a_singular(extended, ontology):
    _, unknown = extended(ontology, "throneim")
    assert unknown == ("throneim",)


def test_unknown_names_stay_unknown_in_their_order(extended, ontology):
    more, unknown = extended(ontology, "gribbleflax", "idea", "chair", "", "gribbleflax")
    assert unknown == ("gribbleflax", "idea", "")
    assert more.nouns == ontology.nouns


def test_the_given_ontology_is_left_as_it_was_and_the_order_decides_nothing(extended, ontology):
    before = dict(ontology.nouns)
    one, _ = extended(ontology, "tapir", "throne")
    other, _ = extended(ontology, "throne", "tapir")
    assert ontology.nouns == before
    assert one.nouns == other.nouns


def test_a_lexicon_that_is_not_installed(wn, ontology):
    assert [lexicon.specifier() for lexicon in wn.lexicons()] == ["tiny:1"]
    with pytest.raises(ValueError, match=r"lexicon='oewn:2024'.*'tiny:1'.*python -m wn download"):
        extended_by_wordnet(ontology, ["tapir"])


def test_without_the_library(monkeypatch, ontology):
    monkeypatch.setitem(sys.modules, "wn", None)
    with pytest.raises(ValueError, match=r"pip install 'vlgate\[wordnet\]'"):
        extended_by_wordnet(ontology, ["tapir"])


def test_open_english_wordnet_where_it_is_installed(monkeypatch):
    wn = pytest.importorskip("wn")
    folder = Path(os.getenv("WN_DATA_DIR", Path.home() / ".wn_data"))  # the library's own default
    # The library makes a database if there is none, so it is asked only if there is one.
    monkeypatch.setattr(wn.config, "data_directory", folder)
    known = wn.lexicons() if (folder / "wn.db").is_file() else []
    if not (installed := [one.specifier() for one in known if one.id == "oewn"]):
        pytest.skip(f"needs an Open English Wordnet: python -m wn download oewn:2024, or wn.add({str(REAL)!r})")
    names = ["axolotl", "pangolins", "gribbleflax", "theory"]
    more, unknown = extended_by_wordnet(default_ontology(), names, lexicon=installed[0])
    assert unknown == ("gribbleflax", "theory")
    assert "animal" in more.hypernyms("axolotl")
    assert "animals" in more.hypernyms("pangolins")
