"""What a reader of a sample faulted is no longer made: one test for each class of fault, each on a few graphs."""

from itertools import combinations

import pytest
from builders import tabled

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import Corpus, Generator
from vlgate.perturb.questions.answer_leaks import apart
from vlgate.perturb.questions.arguments import Arguments
from vlgate.perturb.questions.generate import IN_VAIN, New
from vlgate.perturb.questions.templates import TEMPLATES
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

ONTOLOGY = default_ontology()
BOX = Box(x=0, y=0, w=90, h=90)


def image(*things, relations=()):
    """A graph of things such as "gray elephant standing", with (position, relation, position) between them."""
    made = {}
    for index, (name, *attributes) in enumerate(things):
        links = tuple(Relation(name=text, object=str(other)) for at, text, other in relations if at == index)
        made[str(index)] = SceneObject(id=str(index), name=name, box=BOX, attributes=tuple(attributes), relations=links)
    return SceneGraph(id=" ".join(map(str, things)), objects=made, width=900, height=700)


def asked(graphs, test="order-inv", size=120):
    return Generator(Corpus(graphs, ONTOLOGY, least_objects=1)).make(test, size=size, seed=1).pairs


@tabled
def test_colors_that_shade_into_each_other_are_not_offered_together(one, other):
    graphs = [image(("umbrella", color)) for color in (one, other, "blue", "purple")]
    offered = [frozenset(pair.choices[0]) for pair in asked(graphs) if pair.kind == "attribute-choice"]
    assert any({one, "blue"} <= two or {one, "purple"} <= two for two in offered)
    assert not [two for two in offered if {one, other} <= two]


@tabled
def test_a_thing_is_told_apart_by_where_not_all_such_things_are(thing, relation, other, said):
    assert apart(ONTOLOGY, thing, relation, other) is said


@pytest.mark.parametrize(("thing", "said"), [("chair", False), ("bag", True)])
def test_a_phrase_that_identifies_says_something(thing, said):
    """Not "the chair that is on the floor", but "is there a chair on the floor" may be asked."""
    colors = ("red", "green", "blue", "purple")
    graphs = [image((thing, color), ("floor",), ("lamp",), relations=[(0, "on", 1)]) for color in colors]
    kinds = {pair.kind for pair in asked(graphs) if "on the floor" in pair.questions[0]}
    assert ("attribute-choice-related" in kinds) is said


def test_one_garment_is_not_all_the_clothing_beside_a_bus():
    worn = ("shirt", "hat", "jacket", "dress")
    graphs = [
        image((name, color), ("bus",), ("tree",), relations=[(0, "to the left of", 1)])
        for name in worn
        for color in ("red", "blue")
    ]
    texts = [pair.questions[0] for pair in asked(graphs)]
    assert any("the shirt" in text and "to the left of the bus" in text for text in texts)
    assert not [text for text in texts if "clothing" in text and "to the left of" in text]


def test_no_frame_asks_for_looks_or_says_that_an_image_shows_no_cup():
    """Not "what does the furniture look like, a desk or a couch", nor "do you see either no cup or no ball"."""
    assert not [template.text for template in TEMPLATES["object-choice"] if template.text.startswith("What {does}")]
    negated = [template.negated for template in TEMPLATES["conjunction"]]
    assert not [text for text in negated if "see either {x.no}" in text or "shows either {x.no}" in text]
    assert not [text for text in negated if "show either {x.no}" in text]


def test_one_of_two_at_most_is_there_if_either_is_asked_for():
    things = ("cup", "table", "lamp", "chair", "book", "vase")
    graphs = [image(*((name,) for name in some)) for some in combinations(things, 3)]
    pairs = [pair for pair in asked(graphs) if pair.kind == "disjunction" and pair.answers[0] == "yes"]
    assert pairs
    assert all(pair.objects.count(None) == 1 for pair in pairs)


@tabled
def test_nobody_is_denied_where_nobody_can_see_him(one, relation, other, said):
    graphs = [
        image((one, *said_of), (other, color), ("tree",), ("cloud",), relations=[(0, relation, 1)])
        for color in ("red", "blue")
        for said_of in ((), ("large",))
    ]
    graphs += [image((other, color), ("tree",), ("cloud",)) for color in ("red", "blue")]
    pairs = asked(graphs, "negation-dir")
    assert any(pair.kind == "object-related" for pair in pairs) is said


@pytest.mark.parametrize(("name", "there"), [("wall", False), ("leg", False), ("dish", False), ("lamp", True)])
def test_no_trivial_thing_is_one_of_two(name, there):
    graphs = [image((name,), ("chair",), ("book",)), image((name,), ("book",)), image(("chair",), ("couch",))]
    graphs += [image(("lamp",), ("couch",), ("chair",), ("book",))] * 3
    nouns = {
        phrase.noun
        for pair in asked(graphs, "negation-dir", size=200)
        for phrase in (pair.asked[0].x, pair.asked[0].y)
        if pair.kind in {"conjunction", "disjunction"} and phrase is not None
    }
    assert nouns
    assert (name in nouns) is there


@pytest.mark.parametrize(("beside", "offered"), [("bike", False), ("lake", True)])
def test_nothing_swims_where_no_water_is(beside, offered):
    graphs = [image(("dog", doing), (beside,), ("tree",)) for doing in ("walking", "running", "sleeping")]
    graphs += [image(("dog", "swimming"), ("pond",))]
    chosen = [pair.choices[0] for pair in asked(graphs) if pair.kind == "action-choice" and "pond" not in pair.graph.id]
    assert chosen
    assert any("swimming" in two for two in chosen) is offered


@tabled
def test_what_nobody_would_look_for_is_not_denied(name, shown, suits):
    arguments = Arguments(Corpus([image(*((one,) for one in shown))], ONTOLOGY))
    assert arguments.plausible.suits(name, arguments.views[0]) is suits


def test_bare_is_said_of_no_plant():
    corpus = Corpus([image(("plants", "bare", "green"))], ONTOLOGY)
    assert corpus.views[0].things[0].adjectives == ("green",)


def test_a_side_with_nothing_left_is_not_tried_again():
    new, tried = New(), []
    for _ in range(2):
        assert new.draft("attribute-related", [True, False], tried.append) is None
    assert tried == [True] * IN_VAIN + [False] * IN_VAIN
    new.draft("object-related", [True], tried.append)
    assert len(tried) == 3 * IN_VAIN
