"""The second reader of questions, on graphs and questions written by hand."""

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
    return SceneGraph(id="1", objects={object_.id: object_ for object_ in objects})


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


@tabled
def test_whether_there_is_one(question, expected, because):
    assert answer(question, (), KITCHEN, default_ontology()) == expected, because


@tabled
def test_both_or_either(question, expected, because):
    assert answer(question, (), KITCHEN, default_ontology()) == expected, because


@tabled
def test_whether_it_is_so(question, expected, because):
    assert answer(question, (), KITCHEN, default_ontology()) == expected, because


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
