"""Objects, attributes and relations of scene graphs, replaced as in VL-CheckList."""

import numpy as np
import pytest
from builders import tabled
from graphs import graph, thing, whole
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.graphs import attributes, checklist, names, objects, relations
from vlgate.perturb.graphs.absence import Absence, common_names
from vlgate.perturb.graphs.attributes import attribute_foils
from vlgate.perturb.graphs.checklist import Likeness, Words, vocabulary_of
from vlgate.perturb.graphs.frame_graphs import graph_of_frame, graph_of_interactions
from vlgate.perturb.graphs.objects import object_foils
from vlgate.perturb.graphs.relations import relation_foils
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

FARM = graph(thing("1", "horse", (0, 0, 50, 50), on="2"), thing("2", "truck", (0, 25, 100, 75)), image="farm")
ZOO = graph(thing("1", "giraffe", (0, 0, 50, 50), on="2"), thing("2", "boat", (0, 25, 100, 75)), image="zoo")


def _words(*graphs, **more):
    return Words(vocabulary=vocabulary_of(graphs), **more)


def _pairs(found):
    return [(candidate.caption, candidate.foil) for candidate in found.candidates]


def test_an_object_is_replaced_by_one_of_its_class_that_the_collection_has_in_its_place() -> None:
    found = object_foils(FARM, _words(FARM, ZOO))
    assert _pairs(found) == [
        ("a horse on a truck", "a giraffe on a truck"),
        ("a horse on a truck", "a horse on a boat"),
    ]
    assert [candidate.classes for candidate in found.candidates] == [("horse", "giraffe"), ("truck", "boat")]


def test_the_place_and_size_of_the_object_are_tags() -> None:
    tags = [dict(candidate.tags) for candidate in object_foils(FARM, _words(FARM, ZOO)).candidates]
    assert tags[0] == {"role": "subject", "size": "medium", "location": "margin"}
    assert [tag["role"] for tag in tags] == ["subject", "object"]
    unsized = object_foils(graph(*FARM.objects.values(), size=None), _words(FARM, ZOO)).candidates
    assert all("location" not in one.tags for one in unsized)


@pytest.mark.parametrize("shown", ["giraffe", "giraffes"])
def test_what_the_image_may_show_replaces_nothing(shown: str) -> None:
    """A giraffe that is annotated in either number, or a part that it may have."""
    more = graph(*FARM.objects.values(), thing("3", shown, (500, 500, 9, 9)), image="farm")
    assert all(
        candidate.classes != ("horse", "giraffe") for candidate in object_foils(more, _words(FARM, ZOO)).candidates
    )


OFFICE = (
    thing("1", "cup", (0, 0, 50, 50), on="2"),
    thing("2", "desk", (0, 25, 300, 75)),
    thing("3", "monitor", (90, 0, 50, 50), on="2"),
    thing("4", "keyboard", (150, 0, 50, 50), on="2"),
)


def test_what_belongs_where_the_image_was_taken_is_not_surely_absent() -> None:
    absence = Absence(graph(*OFFICE), default_ontology(), _words().where)
    names = ("stapler", "printer", "pen", "woman", "giraffe", "sailboat", "tractor")
    assert [name for name in names if absence.lacks(name)] == ["giraffe", "sailboat", "tractor"]


def test_a_graph_of_many_objects_names_all_persons_and_animals() -> None:
    absence = Absence(whole(*OFFICE), default_ontology(), _words().where)
    assert [name for name in ("woman", "dog", "stapler") if absence.lacks(name)] == ["woman", "dog"]


def test_a_thing_that_tells_where_it_is_decides_the_setting() -> None:
    street = graph(thing("1", "pig", (0, 0, 9, 9), by="2"), thing("2", "street", (0, 5, 99, 99)))
    assert not Absence(street, default_ontology(), _words().where).lacks("horse")


def test_what_often_goes_unmentioned_beside_a_thing_is_not_surely_absent() -> None:
    rails = graph(thing("1", "tree", (0, 0, 9, 9), next_to="2"), thing("2", "train", (0, 5, 99, 99)))
    assert not Absence(rails, default_ontology(), _words().where).lacks("car")


def test_nouns_of_the_collection_and_common_ones_replace_others_and_no_rare_ones() -> None:
    cats = graph(thing("1", "cat", (0, 0, 50, 50), near="2"), thing("2", "car", (0, 25, 100, 75)))
    replaced = {
        candidate.classes[1]
        for seed in range(9)
        for candidate in object_foils(cats, _words(cats, seed=seed)).candidates
    }
    assert replaced
    assert replaced <= set(common_names(default_ontology()))


def test_who_does_something_to_one_thing_does_it_to_no_other() -> None:
    for relation, made in (("riding", {"bus", "boat"}), ("near", {"boat"})):
        street, more, shore = (
            graph(thing("1", "man", (0, 0, 50, 50), **{relation: "2"}), thing("2", name, (0, 25, 100, 75)), image=name)
            for name in ("bike", "bus", "boat")
        )
        words = _words(street, more, shore, most=9)
        replaced = {
            candidate.classes[1]
            for candidate in object_foils(street, words).candidates
            if candidate.classes[0] == "bike"
        }
        assert replaced == made


def test_the_article_and_number_stay_so_that_one_word_differs() -> None:
    apples, *others = (
        graph(thing("1", "man", (0, 0, 50, 50), eating="2"), thing("2", name, (0, 25, 100, 75)), image=name)
        for name in ("apple", "banana", "avocado", "grapes")
    )
    replaced = {candidate.classes for candidate in object_foils(apples, _words(apples, *others)).candidates}
    assert ("apple", "avocado") in replaced
    assert not {("apple", "banana"), ("apple", "grapes")} & replaced


class _Alike:
    """Words are as alike as the table says; all others are orthogonal."""

    def __init__(self, *alike: str) -> None:
        self.alike, self.calls = alike, 0

    def encode(self, texts):
        self.calls += 1
        return np.array([[1.0, 0.0] if text in self.alike else [0.0, 1.0] for text in texts])


def test_a_word_that_is_too_alike_replaces_nothing() -> None:
    likeness = Likeness(encoder=_Alike("giraffe", "truck"))
    words = _words(FARM, ZOO, likeness=likeness)
    assert ("a horse on a truck", "a giraffe on a truck") in _pairs(object_foils(FARM, words))
    alike = _words(FARM, ZOO, likeness=Likeness(encoder=_Alike()))
    assert _pairs(object_foils(FARM, alike)) == []


def test_each_word_is_encoded_once() -> None:
    encoder = _Alike("giraffe", "bus")
    likeness = Likeness(encoder=encoder)
    likeness.learn(["giraffe", "bus", "horse"])
    assert not likeness.too_alike("giraffe", "horse")
    assert likeness.too_alike("giraffe", "bus")
    assert encoder.calls == 1


def test_an_attribute_is_replaced_by_one_that_excludes_it() -> None:
    sheep = thing("1", "car", (0, 0, 50, 50), attributes=["white"])
    [one] = attribute_foils(whole(sheep), _words(graph(sheep))).candidates
    assert one.caption == "a white car"
    assert one.classes[1] in {"black", "red", "green", "orange", "purple"}
    assert one.tags["kind"] == "color"


def test_an_attribute_must_be_false_of_every_thing_of_the_name() -> None:
    white = thing("1", "car", (0, 0, 50, 50), attributes=["white"])
    for other in (thing("2", "car", (90, 0, 9, 9)), thing("2", "taxi", (90, 0, 9, 9), attributes=["old"])):
        found = attribute_foils(whole(white, other), _words())
        assert "a white car" not in [candidate.caption for candidate in found.candidates]
        assert attributes.MAY_HOLD in found.refused
    colors = [thing(str(n), "car", (90, 0, 9, 9), attributes=[color]) for n, color in enumerate(["black", "red"], 2)]
    foils = attribute_foils(whole(white, *colors), _words()).candidates
    assert {foil.foil for foil in foils}.isdisjoint({"a white car", "a black car", "a red car"})


@tabled
def test_the_kinds_of_attributes(name: str, attribute: str, kind: str, foil: str | None) -> None:
    one_thing = whole(thing("1", name, (0, 0, 50, 50), attributes=[attribute]))
    [one] = attribute_foils(one_thing, _words()).candidates
    assert one.tags["kind"] == kind
    assert foil in {None, one.foil}


@pytest.mark.parametrize(
    ("name", "attribute", "reason"),
    [
        ("man", "white", attributes.NOT_ASKED),
        ("car", "parked on street", attributes.NO_KIND),
        ("area", "white", names.VAGUE),
        ("gribbleflax", "white", attributes.NOT_BEFORE),
    ],
)
def test_attributes_that_tell_nothing_are_refused(name: str, attribute: str, reason: str) -> None:
    found = attribute_foils(graph(thing("1", name, (0, 0, 50, 50), attributes=[attribute])), _words())
    assert (found.candidates, found.refused) == ((), (reason,))


@tabled
def test_attributes_that_another_person_would_not_name_are_refused(name: str, attribute: str, reason: str) -> None:
    found = attribute_foils(whole(thing("1", name, (0, 0, 50, 50), attributes=[attribute])), _words())
    assert (found.candidates, found.refused) == ((), (reason,))


def test_a_small_graph_does_not_tell_that_there_are_no_other_chairs() -> None:
    chair = thing("1", "chair", (0, 0, 50, 50), attributes=["red"])
    assert attribute_foils(graph(chair), _words()).refused == (attributes.OTHERS,)
    assert attribute_foils(whole(chair), _words()).candidates


@pytest.mark.parametrize(
    ("name", "attribute", "never"), [("counter", "granite", "marble"), ("sweater", "gray", "purple")]
)
def test_what_looks_the_same_replaces_nothing(name: str, attribute: str, never: str) -> None:
    thing_graph = whole(thing("1", name, (0, 0, 50, 50), attributes=[attribute]))
    replaced = {candidate.classes[1] for candidate in attribute_foils(thing_graph, _words(most=99)).candidates}
    assert never not in replaced
    assert replaced


def test_a_preposition_is_replaced_by_one_that_the_boxes_exclude() -> None:
    cup = thing("1", "cup", (0, 0, 50, 50), on="2")
    table = thing("2", "table", (0, 40, 100, 100))
    [one] = relation_foils(graph(cup, table), _words()).candidates
    assert (one.caption, one.tags["kind"]) == ("a cup on a table", "spatial")
    assert one.classes == ("on", "under")


@pytest.mark.parametrize("box", [(80, 90, 50, 50), (80, 20, 50, 118)])
def test_what_reaches_to_the_foot_of_a_thing_may_be_under_it(box) -> None:
    tire = thing("1", "tire", box, on="2")
    found = relation_foils(graph(tire, thing("2", "car", (0, 40, 100, 100))), _words())
    assert (found.candidates, found.refused) == ((), (relations.BOXES,))


def test_boxes_that_show_the_replacement_speak_against_it() -> None:
    """What is annotated as under a table, and stands higher, is probably on it."""
    table = thing("2", "table", (0, 40, 100, 100))
    for top, refused in ((0, (relations.BOXES,)), (100, ())):
        ball = thing("1", "ball", (20, top, 30, 30), under="2")
        found = relation_foils(whole(ball, table), _words())
        assert found.refused == refused
        assert bool(found.candidates) != bool(refused)


@tabled
def test_prepositions_that_say_little_are_not_replaced(subject: str, other: str, reason: str) -> None:
    found = relation_foils(
        graph(thing("1", subject, (0, 0, 50, 50), on="2"), thing("2", other, (0, 40, 100, 100))), _words()
    )
    assert (found.candidates, found.refused) == ((), (reason,))


@tabled
def test_relations_that_nobody_says_or_that_depend_on_the_side_are_not_replaced(
    subject: str, relation: str, other: str, reason: str
) -> None:
    boxes = graph(thing("1", subject, (0, 0, 50, 50), **{relation: "2"}), thing("2", other, (200, 200, 50, 50)))
    found = relation_foils(boxes, _words(sole=True))
    assert (found.candidates, found.refused) == ((), (reason,))


@pytest.mark.parametrize(
    ("one", "wrong"), [("holding", "throwing"), ("throwing", "catching"), ("catching", "throwing")]
)
def test_who_holds_a_thing_may_throw_it(one: str, wrong: str) -> None:
    girl = thing("1", "girl", (0, 0, 50, 50), **{one: "2"})
    found = relation_foils(graph(girl, thing("2", "frisbee", (0, 40, 100, 100))), _words())
    assert wrong not in {candidate.classes[1] for candidate in found.candidates}


def test_a_verb_is_replaced_by_one_with_the_same_words_behind_it() -> None:
    man = thing("1", "man", (0, 0, 50, 50), sitting_on="2")
    [one] = relation_foils(graph(man, thing("2", "bench", (0, 40, 100, 100))), _words()).candidates
    assert one.foil in {f"a man {verb} on a bench" for verb in ("kneeling", "standing", "lying", "jumping")}
    assert one.tags["kind"] == "action"
    still = relation_foils(
        graph(thing("1", "cup", (0, 0, 9, 9), sitting_on="2"), thing("2", "bench", (0, 0, 9, 9))), _words()
    )
    assert (still.candidates, still.refused) == ((), (relations.INANIMATE,))


def test_another_pair_of_the_names_must_exclude_the_replacement_too() -> None:
    cup, table = thing("1", "cup", (0, 0, 50, 50), on="2"), thing("2", "table", (0, 40, 100, 100))
    beside = thing("3", "cup", (0, 60, 10, 10))
    found = relation_foils(graph(cup, table, beside), _words())
    assert (found.candidates, found.refused) == ((), (relations.MAY_HOLD,))
    far = thing("3", "cup", (500, 60, 10, 10))
    assert [candidate.classes[1] for candidate in relation_foils(graph(cup, table, far), _words()).candidates] == [
        "under"
    ]


def test_what_is_straight_below_another_may_be_under_it_without_touching() -> None:
    cup, table = thing("1", "cup", (0, 0, 50, 50), on="2"), thing("2", "table", (0, 40, 100, 100))
    made = {}
    for name, left in (("below", 20), ("aside", 500)):
        other = thing("3", "cup", (left, 300, 50, 50))
        found = relation_foils(graph(cup, table, other), _words(most=8))
        made[name] = {candidate.classes[1] for candidate in found.candidates}
    assert made == {"below": set(), "aside": {"under"}}


def test_no_foil_is_a_caption_of_the_image_and_none_is_made_twice() -> None:
    foils = object_foils(FARM, _words(FARM, ZOO)).candidates
    again = checklist.checked([[foil] for foil in (*foils, *foils)], ["a giraffe on a truck"])
    assert _pairs(again) == [("a horse on a truck", "a horse on a boat")]
    assert again.refused == (checklist.POSITIVE,) * 2


def test_the_same_seed_gives_the_same_foils() -> None:
    many = [
        graph(thing("1", name, (0, 0, 50, 50), on="2"), thing("2", "boat", (0, 25, 100, 75)), image=name)
        for name in ("giraffe", "dog", "rhino", "lion", "giraffe", "cat")
    ]
    made = {seed: _pairs(object_foils(FARM, _words(FARM, *many, seed=seed))) for seed in range(8)}
    assert made[3] == _pairs(object_foils(FARM, _words(FARM, *many, seed=3)))
    assert len({str(pairs) for pairs in made.values()}) > 1


def test_interactions_and_frames_become_graphs_of_which_foils_are_made() -> None:
    hake = graph_of_interactions("1.jpg", [((0, 0, 50, 90), "ride", "horse", (0, 40, 90, 99))], (640, 480))
    [one] = relation_foils(hake, _words(hake)).candidates
    assert one.caption == "a person riding a horse"
    box = Box(x=0, y=0, w=50, h=50)
    roles = {"agent": "woman", "item": "tomato", "tool": "knife", "place": "kitchen"}
    cutting = graph_of_frame(
        "cutting_1.jpg", "the AGENT cuts the ITEM with a TOOL at a PLACE", roles, dict.fromkeys(roles, box)
    )
    sawing = graph_of_frame(
        "cutting_2.jpg",
        "the AGENT cuts the ITEM with a TOOL at a PLACE",
        {"agent": "man", "item": "potato", "tool": "saw"},
        dict.fromkeys(roles, box),
    )
    pairs = _pairs(object_foils(cutting, _words(cutting, sawing, sole=True)))
    assert ("a woman cutting a tomato", "a woman cutting a potato") in pairs
    assert ("a woman cutting a tomato", "a man cutting a tomato") in pairs


_NAMES = st.sampled_from(
    ["cup", "man", "", "CUP", "<b>cup</b>", "杯子", "🐄", "cup " * 300, "horses", "white", "a"]
) | st.text(max_size=9)
_THINGS = st.builds(
    SceneObject,
    id=st.sampled_from("123"),
    name=_NAMES,
    box=st.just(Box(x=1, y=1, w=9, h=9)),
    attributes=st.lists(_NAMES, max_size=2).map(tuple),
    relations=st.lists(
        st.builds(Relation, name=_NAMES | st.sampled_from(["on", "riding"]), object=st.sampled_from("1234")), max_size=3
    ).map(tuple),
)


@pytest.mark.slow
@given(st.lists(_THINGS, max_size=3))
def test_any_graph_gives_foils_or_reasons(things: list[SceneObject]) -> None:
    odd = SceneGraph(id="odd", objects={one.id: one for one in things})
    words = _words(odd, FARM)
    for make in (object_foils, attribute_foils, relation_foils):
        found = make(odd, words)
        assert all(candidate.caption != candidate.foil for candidate in found.candidates)


def test_an_empty_graph_gives_nothing() -> None:
    assert object_foils(graph(), _words()) == objects.Perturbed()


@pytest.mark.parametrize(
    ("side", "color", "foils"),
    [
        (300, "white", {"a small brown dog", "a large white dog"}),
        (110, "white", set()),  # about as large
        (300, "brown", set()),  # nothing tells the two apart
        (300, "tan", set()),  # what one person calls brown
    ],
)
def test_a_size_is_said_beside_another_thing_of_the_name(side, color, foils) -> None:
    large = thing("1", "dog", (0, 0, side, side), attributes=["large", "brown"])
    small = thing("2", "dog", (500, 0, 100, 100), attributes=["small", color])
    words = _words()
    made = attribute_foils(whole(large, small), words)
    assert {one.foil for one in made.candidates if one.tags["kind"] == "size"} == foils
    assert not [one for one in attribute_foils(whole(large), words).candidates if one.tags["kind"] == "size"]
    assert not [one for one in attribute_foils(graph(large, small), words).candidates if one.tags["kind"] == "size"]
    little = thing("2", "dog", (500, 0, 100, 100), attributes=["little", color])
    made = attribute_foils(whole(large, little), words).candidates
    assert {one.foil for one in made if one.foil == "a small brown dog"} == foils - {"a large white dog"}


@tabled
def test_what_may_hold_as_well_or_nobody_says_replaces_no_relation(subject, relation, other, never) -> None:
    boxes = {
        "below": ((0, 500, 300, 300), (100, 300, 50, 100)),
        "to_the_right_of": ((500, 0, 300, 300), (0, 0, 50, 50)),
    }
    one, two = boxes.get(relation, ((0, 0, 200, 300), (50, 150, 300, 300)))
    facts = whole(thing("1", subject, one, **{relation: "2"}), thing("2", other, two))
    made = relation_foils(facts, _words(facts, most=9))
    assert not [one for one in made.candidates if f" {never} " in one.foil]


def test_who_wears_a_coat_does_not_carry_it() -> None:
    facts = whole(thing("1", "man", (0, 0, 200, 300), wearing="2"), thing("2", "coat", (50, 100, 100, 100)))
    foils = {one.foil for one in relation_foils(facts, _words(facts, most=9)).candidates}
    assert "a man carrying a coat" in foils


@tabled
def test_boxes_say_on_which_side_one_of_two_single_things_is(one: str, other: str, boxes, foils) -> None:
    things = thing("1", one, boxes[0]), thing("2", other, boxes[1])
    made = relation_foils(whole(*things), _words())
    assert tuple(candidate.foil for candidate in made.candidates) == foils
    linked = thing("1", one, boxes[0], touching="2"), things[1]
    assert relation_foils(whole(*linked), _words()).candidates == ()


@tabled
def test_the_one_person_of_a_graph_does_one_thing(box, more, *, made: bool) -> None:
    man = thing("1", "man", box, attributes=["standing"])
    others = [thing(f"other {n}", name, (900, 900, 9, 9)) for n, name in enumerate((*more, *["floor"] * 8))]
    found = attribute_foils(graph(man, *others), _words(most=9)).candidates
    assert ("a sitting man" in {one.foil for one in found}) is made
    assert not attribute_foils(graph(man, *others[:3]), _words()).candidates
