"""Plurals and singulars of nouns."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.fixtures.scenes.objects.looks import KINDS
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.text.grammar import either_number, may_be_plural, plural, regular_plural, regular_singular, singular

NOUNS = default_ontology().nouns
PAIRS = [(noun.name, noun.other) for noun in NOUNS.values() if noun.number == "singular" and noun.other]
ZERO = ("aircraft", "bison", "deer", "fish", "moose", "salmon", "sheep", "shrimp", "tuna")

# Quirk et al. 1985, "A Comprehensive Grammar of the English Language", 5.76 to 5.103; of two usual plurals both.
# "axes" and "bases" have two singulars; the ontology has those of "axe" and "base".
IRREGULAR = """
calf calves|elf elves|half halves|hoof hooves hoofs|knife knives|leaf leaves|life lives|loaf loaves|scarf scarves
|self selves|sheaf sheaves|shelf shelves|thief thieves|wife wives|wolf wolves|wharf wharves wharfs|dwarf dwarfs dwarves
|handkerchief handkerchiefs handkerchieves|roof roofs|proof proofs|belief beliefs|chief chiefs|cliff cliffs|gulf gulfs
|bath baths|mouth mouths|path paths|house houses|truth truths
|foot feet|goose geese|louse lice|man men|mouse mice|tooth teeth|woman women|dormouse dormice|policeman policemen
|gentleman gentlemen|postman postmen|snowman snowmen|human humans|german germans
|child children|ox oxen|brother brothers brethren|person people|penny pennies pence|die dice dies
|fish fish|sheep sheep|deer deer|moose moose|bison bison|aircraft aircraft|salmon salmon
|stimulus stimuli|alumnus alumni|bacillus bacilli|cactus cacti cactuses|fungus fungi|nucleus nuclei
|radius radii radiuses|octopus octopuses|virus viruses|campus campuses|circus circuses|bonus bonuses|genius geniuses
|alga algae|larva larvae|vertebra vertebrae vertebras|antenna antennas antennae|formula formulas formulae
|bacterium bacteria|stratum strata|aquarium aquariums|stadium stadiums|museum museums|medium media mediums
|appendix appendices appendixes|index indexes indices|matrix matrices matrixes|vertex vertices vertexes
|analysis analyses|axis axes|basis bases|crisis crises|oasis oases|thesis theses|iris irises
|criterion criteria|phenomenon phenomena|demon demons|electron electrons
|plateau plateaus plateaux|bureau bureaus bureaux|tableau tableaux tableaus
|potato potatoes|tomato tomatoes|hero heroes|echo echoes|torpedo torpedoes|photo photos|piano pianos
|radio radios|studio studios|kangaroo kangaroos|zoo zoos|mosquito mosquitoes mosquitos|volcano volcanoes volcanos
|quiz quizzes|bus buses busses|gas gases gasses|lens lenses|stomach stomaches stomachs|passerby passersby
"""
FORMS = [forms.split() for forms in IRREGULAR.replace("\n", "").split("|")]
PLURAL_ONLY = (
    *("scissors", "pants", "jeans", "trousers", "shorts", "sunglasses", "goggles", "binoculars", "tweezers"),
    *("pliers", "tongs", "shears", "pajamas", "pyjamas", "tights", "leggings", "overalls", "dungarees"),
    *(
        "slacks",
        "khakis",
        "knickers",
        "breeches",
        "clothes",
        "bellows",
        "briefs",
        "spectacles",
        "headphones",
        "eyeglasses",
    ),
)


@pytest.mark.parametrize(("one", "many"), PAIRS)
def test_the_ontology_has_the_first_word(one, many):
    assert plural(one) == (one if one in ZERO else many)
    assert singular(many) == one
    assert plural(many) is None or one in ZERO


@pytest.mark.parametrize("name", [noun.name for noun in NOUNS.values() if not noun.other and noun.name not in ZERO])
def test_names_of_one_number_have_no_other(name):
    assert plural(name) is None
    assert singular(name) is None


@pytest.mark.parametrize("noun", ZERO)
def test_zero_plurals(noun):
    assert plural(noun) == singular(noun) == noun


def test_there_are_a_hundred_irregular_nouns():
    assert len({one for one, *_ in FORMS}) >= 100


@pytest.mark.parametrize(("one", "many"), [(one, many) for one, *many in FORMS])
def test_irregular_nouns_are_right_or_unknown(one, many):
    assert plural(one) in {*many, None}
    for form in many:
        assert singular(form) in {one, {"axis": "axe", "basis": "base"}.get(one), None}


def test_most_irregular_nouns_are_known():
    assert sum(plural(one) is not None for one, *_ in FORMS) >= 100


@pytest.mark.parametrize("noun", PLURAL_ONLY)
@pytest.mark.parametrize("before", ["", "two ", "blue denim "])
def test_what_has_only_a_plural_has_no_singular(before, noun):
    assert singular(before + noun) is None
    assert plural(before + noun) is None
    assert may_be_plural(noun)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("garden gnome", "garden gnomes"),
        ("red t-shirt", "red t-shirts"),
        ("body of water", "bodies of water"),
        ("Dog", "Dogs"),
        ("Wolf", "Wolves"),
        ("TV", "TVs"),
        ("SUV", "SUVs"),
        ("cookie", "cookies"),
        ("spice", "spices"),
        ("gasket", "gaskets"),
        ("menu", "menus"),
    ],
)
def test_phrases_capitals_and_words_of_the_dictionary(one, many):
    assert plural(one) == many
    assert singular(many) == one


@pytest.mark.parametrize(
    "word",
    [
        "gribbleflax",
        "gribbles",
        "bunch of gribbles",
        "red",
        "light blue",
        "furniture",
        "equipment",
        "information",
        "is",
        "this",
        "",
        " ",
        "x s",
    ],
)
def test_what_is_not_known_is_left_alone(word):
    assert plural(word) is None
    assert singular(word) is None


@pytest.mark.parametrize(
    "word", ["glass", "bus", "lens", "dress", "cactus", "gas", "news", "series", "tennis", "staves", "movies"]
)
def test_no_singular_that_is_not_sure(word):
    assert singular(word) is None


@given(st.text())
def test_any_text_has_an_answer(text):
    for found in (plural(text), singular(text)):
        assert found is None or found


@pytest.mark.parametrize(("one", "many"), PAIRS[::7])
def test_names_to_look_up_by_hold_the_right_one(one, many):
    assert {one, many} <= either_number(one)


@pytest.mark.parametrize(
    ("one", "many"),
    [("day", "days"), ("berry", "berries"), ("church", "churches"), ("glass", "glasses"), ("fez", "fezes")],
)
def test_rules_of_spelling(one, many):
    assert regular_plural(one) == many
    assert regular_singular(many) in {one, "feze"}


@pytest.mark.parametrize("word", ["glass", "cup", "red", "ss", ""])
def test_what_does_not_end_like_a_plural(word):
    assert regular_singular(word) is None
    assert not may_be_plural(word)


@pytest.mark.parametrize("code", ["vlgate.judging.answers", "vlgate.perturb.text.rewriting", "vlgate.perturb.ontology"])
def test_the_dictionary_is_not_read_before_it_is_asked(code):
    code = (
        f"import sys, {code}; from vlgate.perturb.ontology import default_ontology; default_ontology()\n"
        "from vlgate.perturb.text.grammar import plural; assert plural('cup') == 'cups'\n"
        "assert not any('lemminflect' in name for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_dictionary_is_read_without_spacy():
    code = (
        "import sys\n"
        "from vlgate.perturb.text.grammar import plural, singular\n"
        "from vlgate.perturb.text.sentences import read_predicate\n"
        "assert (plural('wombat'), singular('wombats')) == ('wombats', 'wombat')\n"
        "assert read_predicate('was lifting').verb.base == 'lift'\n"
        "assert 'spacy' not in sys.modules\n"
        "import lemminflect; assert lemminflect.getInflection('wombat', 'NNS') == ('wombats',)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_drawn_kind_can_be_counted():
    assert all(singular(plural(kind) or "") == kind for kind in KINDS)
