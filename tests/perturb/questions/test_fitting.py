"""The words of a question fit its noun, and none of them gives the answer away: one test for each class of fault."""

from random import Random

import pytest
from builders import tabled

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import Corpus, Generator
from vlgate.perturb.questions.answer_leaks import helps
from vlgate.perturb.questions.arguments import Arguments
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

ONTOLOGY = default_ontology()


def image(*things, relations=()):
    """A graph of things such as "gray elephant standing", with (position, relation, position) between them."""
    made = {}
    for index, (name, *attributes) in enumerate(things):
        links = tuple(Relation(name=text, object=str(other)) for at, text, other in relations if at == index)
        box = Box(x=0, y=0, w=90, h=90)
        made[str(index)] = SceneObject(id=str(index), name=name, box=box, attributes=tuple(attributes), relations=links)
    return SceneGraph(id="image", objects=made, width=900, height=700)


@tabled
def test_adjectives_stand_in_their_usual_order(noun, attributes, said):
    arguments = Arguments(Corpus([image((noun, *attributes))], ONTOLOGY))
    assert arguments.phrase(noun, attributes).plain.bare == said


@tabled
def test_a_relation_is_one_that_somebody_would_name(thing, relation, other, said):
    assert helps(ONTOLOGY, thing, relation, other) is said


@tabled
def test_an_opposite_is_asked_about_where_both_are_found(name, attribute, opposite):
    """Not "is the scarf hard", nor "is the dome square", nor "is the street wide" with none beside it."""
    other = ONTOLOGY.antonym(attribute, "table") or ""
    graphs = [image((name, attribute)), image((name, other))]
    made = Generator(Corpus(graphs, ONTOLOGY)).make("antonym-dir", size=4, seed=1).pairs
    assert bool(made) is opposite


COMPARED = [
    ("cup", "large", "small", ("red", "blue")),
    ("bus", "big", "little", ("red", "blue")),
    ("dog", "huge", "tiny", ("sitting", "standing")),
    ("train", "long", "short", ("red", "blue")),
    ("blanket", "thick", "thin", ("red", "blue")),
    ("woman", "fat", "thin", ("sitting", "standing")),
    ("bench", "wide", "narrow", ("red", "blue")),
    ("bowl", "deep", "shallow", ("red", "blue")),
    ("man", "old", "young", ("sitting", "standing")),
]


@pytest.mark.parametrize(("name", "attribute", "opposite", "told"), COMPARED)
def test_a_size_is_asked_beside_another_of_the_kind_only(name, attribute, opposite, told):
    def sizes(*graphs):
        made = Generator(Corpus(graphs, ONTOLOGY)).make("antonym-dir", size=4, seed=1).pairs
        return [pair for pair in made if pair.asked[0].attribute in {attribute, opposite}]

    one, other = (name, attribute, told[0]), (name, opposite, told[1])
    assert sizes(image(one), image(other), image((name, attribute)), image((name, opposite))) == []
    assert sizes(image(one[:2], other[:2])) == []  # nothing tells the two apart
    asked = sizes(image(one, other), image(one), image(other))
    assert asked
    for pair in asked:
        true = attribute if pair.asked[0].x.attributes == told[:1] else opposite
        assert pair.answers[0] == ("yes" if pair.asked[0].attribute == true else "no")


def asked(*graphs, test="order-inv", size=40):
    return Generator(Corpus(graphs, ONTOLOGY, least_objects=1)).make(test, size=size, seed=1).pairs


@tabled
def test_a_color_is_asked_of_what_has_one_of_its_own(thing, color):
    graphs = [image(thing), image(("cup", "red")), image(("cat", "black")), image(("cat", "white"))]
    pairs = [pair for pair in asked(*graphs) if pair.asked[0].x.noun == thing[0]]
    assert any(pair.asked[0].category == "color" for pair in pairs) is color


def test_an_attribute_of_one_choice_only_is_not_said():
    """Not "what sort of gray animal is it, an ostrich or an elephant"."""
    names = ("elephant", "rhino", "giraffe", "ostrich", "cow", "dog")
    graphs = [image((name, "gray"), ("tree",)) for name in names]
    pairs = [pair for pair in asked(*graphs, size=300) if pair.kind == "object-choice-described"]
    elephants = [{*pair.choices[0]} for pair in pairs if pair.answers[0] == "elephant"]
    assert all(offered <= {"elephant", "rhino"} for offered in elephants)
    assert any({"cow", "dog"} <= {*pair.choices[0]} for pair in pairs)


def test_a_size_names_no_choice():
    """Not "is the large animal a giraffe or a duck"."""
    graphs = [image((name, "large", "standing"), ("tree",)) for name in ("giraffe", "duck", "cow", "dog")]
    pairs = [pair for pair in asked(*graphs, size=300) if pair.kind == "object-choice-described"]
    assert pairs
    assert {word for pair in pairs for word in pair.asked[0].x.attributes} == {"standing"}


def test_what_everybody_wears_is_told_apart_by_an_attribute():
    """Not "the man wearing the shirt"."""
    worn = [("wearing", place) for place in (1, 2)]
    graph = image(("man", "standing"), ("shirt", "red"), ("pants",), relations=[(0, *one) for one in worn])
    arguments, chance = Arguments(Corpus([graph], ONTOLOGY)), Random(1)
    one = arguments.named(chance, arguments.views[0], 0)
    said = {found[0].plain.where for _ in range(30) if (found := arguments.related(chance, one))}
    assert said <= {"wearing the red shirt"}
    assert said


def test_two_attributes_of_one_kind_do_not_stand_together():
    corpus = Corpus([image(("cup", "small", "tiny", "red"), ("tree",))], ONTOLOGY)
    assert set(corpus.pairs(corpus.views[0].things[0])) == {("small", "red"), ("tiny", "red")}


def test_persons_on_offer_differ_in_one_respect():
    contrast = ONTOLOGY.expected.contrast
    assert contrast("man", "woman")
    assert contrast("girl", "woman")
    assert contrast("men", "women")
    assert not contrast("woman", "boy")
    graphs = [image((name, "happy"), ("tree",)) for name in ("man", "woman", "boy", "girl")]
    pairs = [pair for pair in asked(*graphs, size=100) if pair.kind == "object-choice-described"]
    assert pairs
    assert not [text for pair in pairs for text in pair.questions if text.startswith("What is")]


@tabled
def test_a_synonym_and_what_comes_along_are_not_denied(annotated, denied, possible):
    corpus = Corpus([image((annotated,), ("cup",))], ONTOLOGY, least_objects=1)
    assert bool(corpus.views[0].might & corpus.bits[denied]) is possible


def test_what_an_attribute_of_any_thing_says_is_there_is_not_denied():
    corpus = Corpus([image(("wall", "brick"), ("cup",))], ONTOLOGY, least_objects=1)
    assert corpus.views[0].might & corpus.bits["brick"]
    assert Corpus([image()], ONTOLOGY).views[0].things == ()


def test_what_tells_no_bottle_apart_is_not_said():
    corpus = Corpus([image(("bottle", "reflected", "green"), ("coat", "heavy"))], ONTOLOGY)
    assert [thing.adjectives for thing in corpus.views[0].things] == [("green",), ()]


@tabled
def test_a_thing_is_where_it_can_be(thing, relation, other, said):
    assert helps(ONTOLOGY, thing, relation, other) is said


@pytest.mark.parametrize(
    ("name", "attributes", "asked_about"),
    [
        ("ladder", ("small", "tall"), set()),
        ("ladder", ("small", "red"), {"small", "red"}),
        ("oven", ("light", "black"), set()),
        ("oven", ("dark",), set()),
        ("oven", ("black",), {"black"}),
        ("shirt", ("open",), set()),
        ("door", ("open",), {"open"}),
    ],
)
def test_attributes_that_clash_or_are_unclear_are_neither_asked_nor_said(name, attributes, asked_about):
    """Not "is the ladder large" of a small tall one, "a light oven", nor "is the shirt closed"."""
    arguments = Arguments(Corpus([image((name, *attributes))], ONTOLOGY))
    thing = arguments.views[0].things[0]
    assert {word for word, _ in arguments.lone(thing)} | {*thing.adjectives} == asked_about


def test_no_color_is_asked_of_food_of_several_colors():
    """Not "is the cabbage white or green"."""
    graphs = [image((name, color)) for name in ("cabbage", "plate") for color in ("white", "green", "red")]
    nouns = {pair.asked[0].x.noun for pair in asked(*graphs, size=100) if pair.asked[0].category == "color"}
    assert nouns == {"plate"}


@tabled
def test_an_action_needs_its_place(shown, action, there):
    arguments = Arguments(Corpus([image(*((name,) for name in shown))], ONTOLOGY))
    assert arguments.there(arguments.views[0], action) is there


def test_the_class_of_one_cake_is_not_asked_for():
    """Not "a baked good"."""
    arguments = Arguments(Corpus([image(("cake",), ("cakes",))], ONTOLOGY))
    assert "baked good" not in arguments.classes("cake")
    assert "baked goods" in arguments.classes("cakes")


@tabled
def test_what_is_absent_comes_with_its_kind(absent, beside, suits):
    company = ONTOLOGY.expected.beside(ONTOLOGY.named(absent))
    assert any(not company.isdisjoint(ONTOLOGY.certain(name)) for name in beside) is suits
