"""Captions and foils of scene graphs that somebody would write, and that the image settles."""

import pytest
from builders import tabled
from graphs import graph, thing, whole

from vlgate.perturb.graphs import attributes, objects, relations
from vlgate.perturb.graphs.attributes import attribute_foils
from vlgate.perturb.graphs.checklist import Words, vocabulary_of
from vlgate.perturb.graphs.objects import object_foils
from vlgate.perturb.graphs.relations import relation_foils


def _two(subject, relation, other, *, image="1", boxes=((0, 0, 50, 50), (0, 40, 100, 100))):
    one = thing("1", subject, boxes[0], **{relation.replace(" ", "_"): "2"})
    return graph(one, thing("2", other, boxes[1]), image=image)


def _words(*graphs, **more):
    return Words(vocabulary=vocabulary_of(graphs), **more)


@tabled
def test_a_noun_that_would_not_stand_there_replaces_none(caption, slip) -> None:
    shown = _two(*caption)
    found = object_foils(shown, _words(shown, _two(*slip, image="2"), most=9)).candidates
    assert slip[0] not in {one.classes[1] for one in found}


def test_a_noun_that_stands_there_replaces_another() -> None:
    shown = _two("giraffe", "near", "tree")
    found = object_foils(shown, _words(shown, _two("cow", "near", "tree", image="2"), most=9)).candidates
    assert ("giraffe", "cow") in {one.classes for one in found}


@tabled
def test_captions_that_nobody_would_write_are_not_used(caption) -> None:
    others = [_two("man", "at", "crosswalk", image="2"), _two("boat", "with", "wheel", image="3")]
    found = object_foils(_two(*caption), _words(_two(*caption), *others, _two("giraffe", "by", "pig", image="4")))
    assert (found.candidates, found.refused) == ((), (objects.UNUSUAL,))


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("enclosure", ["large"], attributes.OPINION),
        ("lamp", ["tall"], attributes.OPINION),
        ("plate", ["clean"], attributes.OPINION),
        ("bear", ["sad"], attributes.OPINION),
        ("car", ["red", "blue"], attributes.MIXED),
        ("chimney", ["white", "brick"], attributes.MIXED),
    ],
)
def test_attributes_that_are_opinions_or_contradict_each_other_are_refused(name, given, reason) -> None:
    found = attribute_foils(whole(thing("1", name, (0, 0, 50, 50), attributes=given)), _words())
    assert found.candidates == ()
    assert reason in found.refused


@pytest.mark.parametrize("name", ["helmet", "suitcase", "balcony", "menu", "dish"])
def test_a_graph_of_few_things_may_lack_others_of_a_name(name: str) -> None:
    one = thing("1", name, (0, 0, 50, 50), attributes=["black"])
    found = attribute_foils(graph(one), _words())
    assert found.candidates == ()
    assert found.refused[0] in {attributes.OTHERS, attributes.MOTLEY}


@pytest.mark.parametrize("name", ["toilet", "laptop", "countertop"])
def test_a_graph_of_few_things_tells_of_what_images_have_one_of(name: str) -> None:
    one = thing("1", name, (0, 0, 50, 50), attributes=["black"])
    assert attribute_foils(graph(one), _words()).candidates


@pytest.mark.parametrize("other", ["street", "cars", "parking meter"])
def test_where_cars_drive_there_are_more_than_the_graph_says(other: str) -> None:
    car = thing("1", "car", (0, 0, 50, 50), attributes=["red"])
    assert attribute_foils(whole(car), _words()).candidates
    assert attribute_foils(whole(car, thing("2", other, (0, 0, 99, 99))), _words()).refused == (attributes.OTHERS,)


@pytest.mark.parametrize(
    ("caption", "never"),
    [
        (("man", "carrying", "backpack"), {"chasing", "kicking", "painting"}),
        (("girl", "wearing", "necklace"), {"burning", "painting", "washing"}),
        (("cat", "sitting on", "chair"), {"kneeling on", "lying on"}),
        (("man", "wearing", "backpack"), {"carrying"}),
        (("man", "carrying", "bag"), {"wearing"}),
        (("man", "cutting", "pizza"), {"eating", "selling"}),
    ],
)
def test_a_verb_is_replaced_by_one_that_the_two_nouns_take(caption, never) -> None:
    found = relation_foils(_two(*caption), _words(most=9)).candidates
    assert never.isdisjoint(one.classes[1].partition(" on ")[0] for one in found)
    assert never.isdisjoint(one.classes[1] for one in found)


def test_what_is_done_to_a_part_of_a_body_is_not_replaced() -> None:
    assert relation_foils(_two("man", "holding", "chin"), _words()).refused == (relations.UNUSUAL,)


def test_relations_that_go_together_do_not_replace_each_other() -> None:
    apart = ((0, 0, 50, 50), (500, 500, 50, 50))
    near = relation_foils(_two("cat", "near", "car", boxes=apart), _words(most=9)).candidates
    assert [one.classes[1] for one in near] == ["on"]
    within = ((20, 100, 20, 30), (0, 40, 100, 100))
    assert relation_foils(_two("cup", "on", "table", boxes=within), _words(most=9)).refused == (relations.BOXES,)


def test_of_words_that_say_the_same_one_replaces_a_relation() -> None:
    found = relation_foils(_two("cup", "on", "table"), _words(most=9)).candidates
    assert [one.classes for one in found] == [("on", "under")]


def test_files_on_a_desk_say_nothing_of_other_files() -> None:
    assert relation_foils(_two("books", "on", "desk"), _words()).refused == (relations.OTHERS,)


@pytest.mark.parametrize(("subject", "other"), [("fork", "plate"), ("cow", "tree"), ("dog", "chair")])
def test_what_comes_in_numbers_may_stand_on_the_other_side_too(subject: str, other: str) -> None:
    shown = _two(subject, "to the left of", other, boxes=((0, 0, 50, 50), (500, 0, 50, 50)))
    assert relation_foils(shown, _words()).refused == (relations.OTHERS,)


@tabled
def test_others_may_do_something_else_at_a_place(subject: str, relation: str, other: str) -> None:
    shown = _two(subject, relation, other)
    assert relation_foils(shown, _words(most=9)).refused == (relations.OTHERS,)
    assert relation_foils(shown, _words(most=9, sole=True)).candidates


def test_a_whole_graph_tells_what_the_one_man_on_the_stairs_does() -> None:
    man = thing("1", "man", (0, 0, 50, 50), sitting_on="2")
    shown = whole(man, thing("2", "stairs", (0, 40, 100, 100)))
    assert relation_foils(shown, _words()).candidates


def test_a_whole_graph_tells_on_which_side_a_dog_is() -> None:
    dog = thing("1", "dog", (0, 0, 50, 50), to_the_left_of="2")
    shown = whole(dog, thing("2", "refrigerator", (500, 0, 50, 50)))
    assert "to the right of" in {candidate.classes[1] for candidate in relation_foils(shown, _words()).candidates}


@tabled
def test_things_that_others_link_have_no_sides(dog: dict[str, str], shirt: dict[str, str], *, is_told: bool) -> None:
    things = thing("1", "dog", (0, 0, 50, 50), **dog), thing("2", "refrigerator", (500, 0, 50, 50))
    found = relation_foils(whole(*things, thing("3", "shirt", (0, 0, 9, 9), **shirt)), _words())
    assert ("to the right of" in {one.classes[1] for one in found.candidates}) is is_told
