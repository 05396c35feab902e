"""The rules for BLA's sets: persons, sizes, voices, features, and what makes a false sentence false."""

from dataclasses import replace

import numpy as np
import pytest
from builders import tabled
from graphs import graph, thing

from vlgate.perturb.foils.candidates import SentenceSet
from vlgate.perturb.graphs import persons, two_persons
from vlgate.perturb.graphs import two_persons as voices
from vlgate.perturb.graphs.persons import SURE, THESIS, BlaTools, excluded, known_person, may_be_one_person, one_of
from vlgate.perturb.graphs.two_persons import active_passive, coordination, relative_clause
from vlgate.perturb.scene_graph import Relation

LEFT, RIGHT = (0, 0, 300, 900), (500, 0, 300, 900)


def _pair(relation, *, one="man", other="child", boxes=(LEFT, RIGHT), **more):
    return graph(thing("1", one, boxes[0], **{relation: "2"}), thing("2", other, boxes[1], **more))


def _said(found):
    return [(*candidate.true, *candidate.false) for candidate in found.candidates]


@pytest.mark.parametrize("relation", ["lifting", "lifts", "is_lifting", "lifting_a", "lift"])
def test_any_form_of_the_verb_makes_the_four_sentences(relation: str) -> None:
    assert _said(active_passive(_pair(relation))) == [
        (
            "the man lifts the child",
            "the child is lifted by the man",
            "the child lifts the man",
            "the man is lifted by the child",
        )
    ]


def test_a_passive_relation_has_its_agent_behind_it() -> None:
    assert _said(active_passive(_pair("chased_by")))[0][0] == "the child chases the man"


def test_plurals_agree_in_both_voices() -> None:
    [four] = _said(active_passive(_pair("chasing", one="men", other="girl")))
    assert four == (
        "the men chase the girl",
        "the girl is chased by the men",
        "the girl chases the men",
        "the men are chased by the girl",
    )


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (_pair("sitting_near"), voices.INTRANSITIVE),
        (_pair("next_to"), voices.NO_VERB),
        (_pair("hugging"), voices.MUTUAL),
        (_pair("watching"), voices.MUTUAL),
        (_pair("lifting", other="dog"), voices.NOT_PERSONS),
        (_pair("lifting", boxes=(LEFT, (500, 0, 99, 99))), voices.SMALL),
        (_pair("lifting", boxes=(LEFT, (0, 0, 300, 850))), voices.ONE_PERSON),
        (_pair("lifting", other="person", boxes=(LEFT, (10, 10, 200, 200))), voices.ONE_PERSON),
        (_pair("lifting", other="man"), voices.ALIKE),
        (_pair("lifting", lifting="1"), voices.BOTH_WAYS),
    ],
)
def test_what_gives_no_active_passive_set_is_counted(scene, reason: str) -> None:
    found = active_passive(scene)
    assert found.candidates == ()
    assert reason in found.refused


def test_a_complete_graph_tells_who_watches_whom() -> None:
    assert active_passive(replace(_pair("watching"), complete=True)).candidates


def test_a_graph_without_a_size_gives_no_set() -> None:
    unsized = graph(*_pair("lifting").objects.values(), size=None)
    for make in (active_passive, coordination, relative_clause):
        assert make(unsized).refused == (voices.NO_SIZE,)


def test_a_child_on_an_arm_lies_in_the_box_of_the_adult() -> None:
    held = _pair("holding", boxes=(LEFT, (50, 200, 150, 200)))
    assert _said(active_passive(held))[0][0] == "the man holds the child"


def test_persons_of_one_name_are_told_apart_by_an_attribute() -> None:
    old = thing("1", "man", LEFT, attributes=["old"], lifting="2")
    young = thing("2", "man", RIGHT, attributes=["young"])
    assert _said(active_passive(graph(old, young)))[0][1] == "the young man is lifted by the old man"


def test_a_third_man_makes_the_man_ambiguous() -> None:
    third = graph(*_pair("lifting").objects.values(), thing("3", "guy", (850, 0, 100, 300)))
    assert active_passive(third).refused == (voices.ALIKE,)
    assert len(active_passive(third, THESIS).candidates) == 1


def _two(*, first=("man", "white"), second=("woman", "red"), **more):
    """Two persons in shirts; the first holds a racket, the second rides a bike."""
    return graph(
        thing("p", first[0], LEFT, wearing="a", holding="b"),
        thing("q", second[0], RIGHT, wearing="c", riding="d"),
        thing("a", "shirt", (50, 100, 100, 200), attributes=[first[1]]),
        thing("b", "racket", (100, 300, 50, 50)),
        thing("c", "shirt", (550, 100, 100, 200), attributes=[second[1]]),
        thing("d", "bike", (500, 500, 300, 400)),
        **more,
    )


def test_two_features_of_two_persons_are_told_and_exchanged() -> None:
    first = coordination(_two()).candidates[0]
    assert first.true == (
        "the man holds a racket and wears a white shirt",
        "the woman wears a red shirt and rides a bike",
    )
    assert first.false == (
        "the man holds a racket and wears a red shirt",
        "the woman wears a white shirt and rides a bike",
    )


def test_relative_clauses_tell_the_same() -> None:
    first = relative_clause(_two()).candidates[0]
    assert first.true[0] == "the man who holds a racket wears a white shirt"
    assert first.false[1] == "the woman who wears a white shirt rides a bike"


def test_at_most_three_sets_are_made_of_an_image() -> None:
    assert len(coordination(_two()).candidates) == 3
    assert len(coordination(_two(), replace(SURE, most_sets=1)).candidates) == 1


def test_true_and_false_sentences_have_the_same_words() -> None:
    for candidate in (*coordination(_two()).candidates, *relative_clause(_two()).candidates):
        assert sorted(" ".join(candidate.true).split()) == sorted(" ".join(candidate.false).split())


def test_a_feature_that_the_other_person_may_have_is_not_exchanged() -> None:
    """Two shirts of one color, and a racket that touches both."""
    alike = _two(first=("man", "blue"), second=("woman", "blue"))
    things = {
        **alike.objects,
        "e": thing("e", "racket", (550, 300, 50, 50)),
        "f": thing("f", "bike", (0, 500, 300, 400)),
    }
    found = coordination(graph(*things.values()))
    assert found.candidates == ()
    assert {two_persons.NOT_UNIQUE, two_persons.UNSURE} & set(found.refused)


@tabled
def test_what_is_no_feature_is_counted(relation: str, name: str, box, reason: str) -> None:
    one = graph(thing("1", "man", LEFT, **{relation: "2"}), thing("2", name, box))
    assert coordination(one).refused[0] == reason


def _features(*things):
    facts = graph(thing("p", "man", LEFT, **things[0]), *things[1:])
    found = persons.features_of(facts.objects["p"], facts, (1000, 1000), SURE, BlaTools())
    return [one.said("singular") for one in found if isinstance(one, persons.Feature)]


@tabled
def test_what_people_have_on_and_are_on(relation: str, name: str, feature: str | None) -> None:
    found = _features({relation: "x"}, thing("x", name, (50, 100, 100, 200)))
    assert found == ([] if feature is None else [feature])


@tabled
def test_what_is_said_of_a_thing_and_its_owner(name: str, relation: str, feature: str | None) -> None:
    found = _features({}, thing("x", name, (50, 100, 100, 200), **{relation: "p"}))
    assert found == ([] if feature is None else [feature])


def test_what_somebody_has_by_a_relation_at_either_end_is_not_denied() -> None:
    """The woman's hat is on her, and the man sits on the chair that he is on."""
    man = thing("1", "man", LEFT, on="3", holding="4")
    woman = thing("2", "woman", RIGHT, **{"in": "5", "riding": "6"})
    things = (
        thing("3", "chair", (0, 500, 300, 300)),
        thing("4", "racket", (100, 300, 50, 50)),
        thing("5", "dress", (550, 100, 100, 200)),
        thing("6", "horse", (550, 10, 99, 99)),
        thing("7", "hat", (550, 50, 99, 99), attributes=["red"], on="2"),
    )
    for candidate in coordination(graph(man, woman, *things)).candidates:
        assert set(candidate.true[0].removeprefix("the man ").split(" and ")) == {"holds a racket", "is on a chair"}
        assert not any("woman" in text and text.count("wears") == 2 for text in candidate.false)
    assert coordination(graph(man, woman, *things)).candidates


class _Encoder:
    """Features with the same last word are equal, all others orthogonal."""

    def encode(self, texts):
        last = sorted({text.split()[-1] for text in texts})
        return np.eye(len(last))[[last.index(text.split()[-1]) for text in texts]]


class _Vectors:
    """All words are equal."""

    def similarity(self, one: str, other: str) -> float:
        return float(bool(one and other))


def test_alike_features_of_two_persons_tell_nobody_apart() -> None:
    found = coordination(_two(), THESIS, BlaTools(encoder=_Encoder()))
    assert (found.candidates, found.refused) == ((), (two_persons.NOT_UNIQUE,))


def test_alike_features_of_one_person_are_one() -> None:
    assert two_persons.FEW in coordination(_two(), THESIS, BlaTools(vectors=_Vectors())).refused


class _Grammar:
    """Scores by the words of the texts."""

    def __init__(self, **scores: float) -> None:
        self.scores = scores

    def acceptability(self, texts):
        return np.array([self.scores[text.split()[0]] for text in texts])


def _set(*words):
    return SentenceSet(true=(words[0], words[1]), false=(words[2], words[3]), why="")


def test_the_best_set_of_an_image_is_kept_and_ungrammatical_ones_are_dropped() -> None:
    a, b = _set("ok", "ok", "good", "ok"), _set("good", "good", "good", "good")
    broken = _set("good", "good", "good", "bad")
    grammar = _Grammar(ok=0.7, good=0.9, bad=0.69)
    assert one_of([a, broken, b], grammar) == b
    assert one_of([broken], grammar) is None
    assert one_of([a, b]) == a
    assert one_of([]) is None


@tabled
def test_persons(name: str, *, is_person: bool) -> None:
    assert known_person(name) is is_person


@tabled
def test_who_may_be_called_what(one: str, other: str, *, may_be: bool) -> None:
    assert may_be_one_person(one, other) is may_be_one_person(other, one) is may_be


def test_garments_that_the_other_may_wear_unannotated_make_no_false_sentence() -> None:
    man = thing("1", "man", (0, 0, 300, 900), wearing="3 4")
    woman = thing("2", "woman", (500, 0, 300, 900), wearing="5 6")
    worn = [
        thing(str(3 + n), name, (50 * n, 100, 50, 50)) for n, name in enumerate(("shirt", "hat", "scarf", "gloves"))
    ]
    found = coordination(graph(man, woman, *worn))
    assert (found.candidates, found.refused) == ((), (two_persons.UNSURE,))


@tabled
def test_what_the_other_surely_does_not_have(relation: str, name: str, others, *, complete: bool, apart: bool) -> None:
    def shown(number, words, box):
        color = words.split()[:-1] if words.startswith(("white", "gray", "red", "black")) else []
        return thing(number, words.removeprefix("".join(color)).lstrip(), box, attributes=color)

    man = thing("1", "man", LEFT, **{relation.replace(" ", "_"): "a"})
    linked = tuple(Relation(name=link, object=f"b{n}") for n, (link, _) in enumerate(others))
    woman = replace(thing("2", "woman", RIGHT), relations=linked)
    things = [shown(f"b{n}", words, (900, 10, 50, 50)) for n, (_, words) in enumerate(others)]
    facts = replace(graph(man, woman, shown("a", name, (50, 100, 100, 200)), *things), complete=complete)
    [feature] = persons.features_of(man, facts, (1000, 1000), SURE, BlaTools())
    assert excluded(feature, woman, facts, BlaTools().ontology) is apart
