"""The second reader of questions, on graphs and questions written by hand."""

from __future__ import annotations

import pytest
from builders import tabled
from evaluator import answer, explain

from vlgate.perturb.ontology import Noun, default_ontology
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject


def graph(*things):
    """Things as (name, attributes, relations to the things by number)."""
    objects = [
        SceneObject(
            id=str(number),
            name=name,
            box=Box(x=0, y=0, w=50, h=50),
            attributes=tuple(attributes.split(", ")) if attributes else (),
            relations=tuple(Relation(name=relation, object=str(other)) for relation, other in relations),
        )
        for number, (name, attributes, *relations) in enumerate(things)
    ]
    return SceneGraph(id="1", objects={one.id: one for one in objects})


KITCHEN = graph(
    ("cup", "red", ("on", 1)),
    ("table", "wood, brown"),
    ("cow", "black, standing", ("to the left of", 1)),
    ("woman", "young, sitting", ("wearing", 4)),
    ("pants", "blue"),
    ("car", "white"),
    ("grass", "green"),
    ("coffee table", "small"),
)


def replies(cases):
    return pytest.mark.parametrize(("question", "expected"), list(cases.items()), ids=list(cases))


@replies(
    {
        "Is there a red cup in the picture?": "yes",
        "Is there no red cup in the picture?": "no",
        "Are there no trees in the picture?": "yes",
        "Is there a brown cow in the picture?": "no",  # the cow is black
        "Is there a blue cup in the picture?": None,  # the cup is red, but tables have cups on them
        "Is there a large cup in the picture?": None,  # nobody says how large it is
        "Is there a mug in the picture?": None,  # the cup may be called one
        "Is there a tire in the picture?": None,  # the car has some
        "Is there a person in this photo?": "yes",
        "Is there a giraffe anywhere in this photo?": "no",
        "Are there any pants to be seen in the image?": "yes",
        "Is there any grass in the image?": "yes",
        "Is there a small coffee table?": "yes",
        "Do you see a red cup on the brown table?": "yes",
        "Is there a cup that is on the table?": "yes",
        "Is there a cup to the right of the cow?": None,
        "Is there a table to the right of the cow?": "yes",  # the cow is to its left
        "Is there a cup on the giraffe?": "no",
        "Is there a giraffe on the table?": "no",
        "Is there a cow on the table?": None,
        "Are you unable to see a person wearing the pants?": "no",
        "Can a giraffe be seen in this picture?": "no",
        "Is it true that this image shows no giraffe?": "yes",
    },
)
def test_whether_there_is_one(question, expected):
    assert answer(question, (), KITCHEN, default_ontology()) == expected


@replies(
    {
        "Is there both a cup and a cow in the picture?": "yes",
        "Is there both a cup and a giraffe in the picture?": "no",
        "Is there both a large cup and a giraffe in the picture?": "no",
        "Is there both a large cup and a cow in the picture?": None,
        "Can you see a cup as well as green grass in the picture?": "yes",
        "Does this photo lack a cup, a giraffe, or both?": "yes",
        "Would you deny that there is both a cup and a cow in this picture?": "no",
        "Is it impossible to see both a cup and a giraffe in the picture?": "yes",
        "Is there a cup or a giraffe in the picture?": "yes",
        "Is there either a large cup or a giraffe in this photo?": None,
        "Does the picture show either a giraffe or a zebra?": "no",
        "Is it false that there is either a giraffe or a cow in this photo?": "no",
        "Do you see neither a giraffe nor a zebra in the picture?": "yes",
        "Can neither a large cup nor a cow be seen in this picture?": "no",
        "Is it untrue that both a cup and a black and white cow are visible in the photo?": None,
    },
)
def test_both_or_either(question, expected):
    assert answer(question, (), KITCHEN, default_ontology()) == expected


@replies(
    {
        "Is the cup red?": "yes",
        "Is the cup in the picture not red?": "no",
        "Is the cup blue?": "no",
        "Is the cup clean?": None,
        "Is the table made of wood?": None,  # the coffee table is one too
        "Is the brown table made of wood?": None,  # the coffee table may be brown
        "Is the table to the right of the cow made of wood?": None,
        "Does the cup on the brown table appear not to be red?": "no",
        "Does it look as if the woman is young?": "yes",
        "Is the woman old?": "no",
        "Is the person wearing the pants sitting?": "yes",
        "Are the pants blue?": "yes",
        "Is the giraffe tall?": None,
        "Would you say that the grass is not green?": "no",
    },
)
def test_whether_it_is_so(question, expected):
    assert answer(question, (), KITCHEN, default_ontology()) == expected


@tabled
def test_which_it_is(question, choices, expected):
    assert answer(question, choices, KITCHEN, default_ontology()) == expected


def test_the_opposite_is_no_though_it_is_of_another_category():
    tower = graph(("woman", "tall"), ("hair", "short"))
    assert answer("Is the woman short?", (), tower, default_ontology()) == "no"
    assert answer("Is the hair tall?", (), tower, default_ontology()) is None


def test_what_may_be_called_so_is_not_what_is_meant_for_certain():
    assert answer("Is the mug red?", (), graph(("cup", "red")), default_ontology()) is None
    assert answer("Is the cup red?", (), graph(("cup", "red"), ("mug", "blue")), default_ontology()) is None


def test_nothing_stands_to_itself():
    animals = graph(("dog", "black", ("to the left of", 1)), ("cow", "brown"))
    assert answer("Is the animal to the left of the cow black?", (), animals, default_ontology()) == "yes"


def test_words_that_make_a_name_together_are_read_as_that_name():
    ontology = default_ontology().extended(
        [Noun(name="gizmo", number="singular"), Noun(name="red gizmo", number="singular")]
    )
    assert answer("Is there a red gizmo?", (), graph(("gizmo", "")), ontology) == "no"
    assert answer("Is there a red gizmo?", (), graph(("gizmo", "red")), ontology) == "yes"
    assert answer("Is there a red gizmo?", (), graph(("red gizmo", "")), ontology) == "yes"


def test_an_unknown_name_may_be_what_its_words_say():
    cups = graph(("tall person's cup", ""))
    assert answer("Is there a cup?", (), cups, default_ontology()) is None
    assert answer("Is there a giraffe?", (), cups, default_ontology()) == "no"


def test_what_is_made_of_something_is_known_by_its_name():
    table = graph(("table", "wood"))
    assert answer("Is the table made of wood or plastic?", ("wood", "plastic"), table, default_ontology()) == "wood"
    assert answer("Is the table made of wood?", (), table, default_ontology()) == "yes"


def test_of_two_things_that_may_be_meant_both_must_be_so():
    cups = graph(("cup", "red"), ("cup", "red, large"))
    assert answer("Is the cup red?", (), cups, default_ontology()) == "yes"
    assert answer("Is the cup large?", (), cups, default_ontology()) is None
    assert answer("What color is the cup, red or blue?", ("red", "blue"), cups, default_ontology()) == "red"


def test_a_photo_may_be_one_of_the_things():
    frame = graph(("photo", "", ("on", 1)), ("wall", "white"))
    assert answer("Is there a photo on the wall in this picture?", (), frame, default_ontology()) == "yes"
    framed = graph(("woman", "", ("in", 1)), ("picture frame", ""))
    assert answer("Do you see a woman in the picture frame?", (), framed, default_ontology()) == "yes"


@tabled
def test_what_is_not_understood_has_no_answer(question):
    reply = explain(question, (), KITCHEN, default_ontology())
    assert reply.answer is None
    assert reply.why.startswith("not understood: ")


def test_the_reason_names_what_was_found():
    assert explain("Is there a cup?", (), KITCHEN, default_ontology()).why == "cup: 0"
    assert explain("Is there a giraffe?", (), KITCHEN, default_ontology()).why == "nothing can be giraffe"
