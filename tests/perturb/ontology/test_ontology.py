"""What follows from a name: what is certain, what is possible, what may be there unannotated."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.fixtures.scenes.objects.looks import KINDS
from vlgate.perturb.ontology import Noun, default_ontology

ONTOLOGY = default_ontology()
NAMES = st.sampled_from(sorted(ONTOLOGY.nouns))
GRAPHS = Path(__file__).parents[4] / "shared" / "data" / "scene-graphs"
CARETS = Path(__file__).parents[4] / "shared" / "data" / "carets" / "data" / "questions"


@given(NAMES)
def test_certain_is_possible(name):
    assert name in ONTOLOGY.certain(name)
    assert set(ONTOLOGY.hypernyms(name)) <= ONTOLOGY.certain(name) <= ONTOLOGY.possible(name)
    assert name not in ONTOLOGY.hypernyms(name)


@given(NAMES)
def test_what_is_below_is_possible_and_has_it_above(name):
    below = ONTOLOGY.hyponyms(name)
    assert list(below) == sorted(below)
    assert set(below) <= ONTOLOGY.possible(name)
    assert all(name in ONTOLOGY.hypernyms(other) for other in below)
    assert all(name in ONTOLOGY.hyponyms(other) for other in ONTOLOGY.hypernyms(name))


@given(NAMES)
def test_possible_and_parts_are_closed_upwards_and_in_number(name):
    for names in (ONTOLOGY.possible(name), ONTOLOGY.parts(name)):
        assert all(ONTOLOGY.certain(other) <= names for other in names)
        assert all(ONTOLOGY.nouns[other].other in names for other in names if ONTOLOGY.nouns[other].other)


@given(NAMES)
def test_both_numbers_and_synonyms_mean_the_same_things(name):
    noun = ONTOLOGY.nouns[name]
    for other in (*noun.same, *((noun.other,) if noun.other else ())):
        assert ONTOLOGY.possible(other) == ONTOLOGY.possible(name)
        assert ONTOLOGY.parts(other) == ONTOLOGY.parts(name)


@given(st.sampled_from(ONTOLOGY.objects.overlaps))
def test_overlaps_are_symmetric(overlap):
    assert all(overlap.names | overlap.also <= ONTOLOGY.possible(name) for name in overlap.names)
    assert all(overlap.names <= ONTOLOGY.possible(name) for name in overlap.also)


def test_parts_and_wholes_hold_in_both_directions():
    assert "paw" in ONTOLOGY.parts("dog")
    assert {"dog", "tail"} <= ONTOLOGY.parts("paw")


def test_what_no_question_should_be_about():
    unaskable = "part parts side corner end word top background scene things front air brocolli sandwhich".split()
    assert not any(ONTOLOGY.nouns[name].askable for name in unaskable)
    assert all(ONTOLOGY.nouns[name].askable for name in ("tree", "people", "grass", "broccoli"))


@pytest.mark.parametrize("question", ["hypernyms", "hyponyms", "certain", "possible", "parts"])
def test_an_unknown_name_is_an_error_with_the_nearest(question):
    assert not ONTOLOGY.knows("elefant")
    with pytest.raises(ValueError, match=r"name='elefant'.*'elephant'"):
        getattr(ONTOLOGY, question)("elefant")


def test_an_extended_ontology_knows_more_and_leaves_the_first_alone():
    before = ONTOLOGY.possible("cup")
    more = ONTOLOGY.extended(
        [Noun(name="tumbler", number="singular", parents=("container",)), Noun(name="sippy lid", number="singular")],
        overlaps=[frozenset({"tumbler", "cup"})],
        parts={"tumbler": ["sippy lid"], "cup": ["sippy lid"]},
    )
    assert more.hypernyms("tumbler") == ("container",)
    assert "tumbler" in more.possible("coffee cup")
    assert {"cup", "cups", "coffee cup"} <= more.possible("tumbler")
    assert "sippy lid" in more.parts("tumbler")
    assert {"sippy lid", "handle"} <= more.parts("cup")
    assert more.parts("dog") == ONTOLOGY.parts("dog")
    assert "tumbler" in more.hyponyms("container")
    assert ONTOLOGY.possible("cup") == before
    assert not ONTOLOGY.knows("tumbler")


@pytest.mark.parametrize(
    ("nouns", "links", "message"),
    [
        ([Noun(name="dog", number="singular")], {}, "name='dog'"),
        ([Noun(name="axolotl", number="singular", parents=("amphibian",))], {}, "'amphibian'"),
        ([], {"overlaps": [frozenset({"cup", "tumbler"})]}, "'tumbler'"),
        ([], {"parts": {"cup": ["hndle"]}}, "'handle'"),
    ],
)
def test_an_extension_is_checked(nouns, links, message):
    with pytest.raises(ValueError, match=message):
        ONTOLOGY.extended(nouns, **links)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_drawn_world_is_known(kind):
    noun = ONTOLOGY.nouns[kind]
    assert noun.askable
    assert ONTOLOGY.nouns[noun.other].number == "plural"


@pytest.mark.skipif(not GRAPHS.exists(), reason="no shared scene graphs")
def test_every_gqa_name_is_known():
    folder = GRAPHS / "gqa-vocabulary"
    names = {name for names in json.loads((folder / "GQA_hypernym.json").read_text()).values() for name in names}
    names |= set(json.loads((folder / "meta_info" / "objects.json").read_text()))
    names |= set(json.loads((folder / "meta_info" / "obj2attribute.json").read_text()))
    for file in CARETS.glob("*.json"):
        for question in json.loads(file.read_text()):
            filled = question["assignment"]
            names |= {filled[key] for key in ("obj1", "obj2", "obj-category1") if key in filled}
            names |= set(filled.get("obj-category-options1", ()))
    detector = (GRAPHS / "vg-detector-vocabulary" / "objects_vocab.txt").read_text().replace(",", "\n").splitlines()
    assert len(names) > 1500
    assert not [name for name in sorted(names) if not ONTOLOGY.knows(name)]
    assert not [name for name in detector if not ONTOLOGY.knows(name)]


@pytest.mark.skipif(not GRAPHS.exists(), reason="no shared scene graphs")
def test_most_names_of_visual_genome_are_known():
    names = [
        name.strip().lower()
        for file in sorted(GRAPHS.glob("vg_scene_graphs_*.json"))
        for graph in json.loads(file.read_text())
        for thing in graph["objects"]
        for name in thing["names"]
    ]
    share = sum(map(ONTOLOGY.knows, names)) / len(names)
    print(f"{share:.1%} of {len(names)} objects, {len(set(names))} names")  # noqa: T201  # the figure is asked for
    assert share > 0.9
