from importlib.resources import files
from itertools import product

import pytest
from builders import tabled
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.foils.candidates import Filling
from vlgate.perturb.foils.prepositions import attested, contrasts, prepositions, said_of
from vlgate.perturb.foils.relations import ABSURD, NOT_ATTESTED, SAID, TOO_LONG, filled_relations, gaps, relations
from vlgate.perturb.ontology.tables import rows_of

ALL = contrasts().spatial


@pytest.fixture(scope="module")
def parse(parser):
    return lambda text: next(iter(parser.parse([text])))


def foils_of(found):
    return {foil.classes: foil.foil for foil in found.candidates}


@tabled
def test_a_contradicting_preposition_replaces_the_captions(parse, caption, classes, foil):
    assert foils_of(relations(parse(caption), ALL))[classes] == foil


@tabled
def test_where_a_foil_might_be_true_there_is_none_but_a_reason(parse, caption, reason):
    found = relations(parse(caption), ALL)
    assert found.candidates == ()
    assert reason in found.refused


@tabled
def test_a_foil_may_not_be_true_of_a_thing_beside_the_one_that_is_meant(parse, caption, sure, wrong):
    assert wrong in {one for _, one in foils_of(relations(parse(sure), ALL))}
    assert wrong not in {one for _, one in foils_of(relations(parse(caption), ALL))}


@tabled
def test_what_may_be_said_of_the_same_scene_is_no_foil(parse, caption, wrong):
    assert set(wrong.split("|")).isdisjoint(one for _, one in foils_of(relations(parse(caption), ALL)))


def test_ten_thousand_words_are_refused(parse):
    found = relations(parse("a cat on a table " * 30), ALL)
    assert found.refused == (TOO_LONG,)
    assert relations(parse("a cat on a table " * 2000), ALL).candidates == ()


def test_a_foil_must_be_attested(parse):
    caption = parse("A cat sits on a table.")
    assert {one for _, one in foils_of(relations(caption, {"under", "on"}))} == {"under"}
    assert relations(caption, {"on"}).refused == (NOT_ATTESTED,)


def test_what_another_caption_of_the_image_says_is_no_foil(parse):
    caption, other = parse("A cat sits on a table."), parse("One cat hides beneath the table.")
    found = foils_of(relations(caption, ALL, said_of([caption, other])))
    assert not {"under", "beneath", "below", "underneath"} & {one for _, one in found}
    assert ("on", "next to") in found
    only = relations(caption, {"under"}, said_of([caption, other]))
    assert (only.candidates, only.refused) == ((), (SAID,))


@tabled
def test_what_is_said_of_the_same_thing_by_another_name_or_of_its_surroundings_is_no_foil(parse, caption, other, wrong):
    text, second = parse(caption), parse(other)
    assert wrong in {one for _, one in foils_of(relations(text, ALL, said_of([text])))}
    assert wrong not in {one for _, one in foils_of(relations(text, ALL, said_of([text, second])))}


def test_a_thing_of_which_there_are_several_may_be_beside_another_one(parse):
    caption, other = parse("A person sits on top of a motorcycle."), parse("A man on one of a group of motorcycles.")
    assert ("on top of", "next to") in foils_of(relations(caption, ALL, said_of([caption])))
    assert ("on top of", "next to") not in foils_of(relations(caption, ALL, said_of([caption, other])))


def test_sequences_are_one_preposition_and_particles_are_none(parse):
    found = prepositions(parse("A man sits on top of a car and looks out of the window next to a dog."))
    assert [one.name for one in found] == ["on top of", "out of", "next to"]
    assert "up" not in [preposition.name for preposition in prepositions(parse("A man picks up a ball."))]


def test_attested_sequences_are_counted_and_rare_ones_are_not_taken(parse):
    texts = ["A cat on a mat", "A dog on a mat", "A cup next to a box"]
    assert attested(map(parse, texts), least=1) == {"on": 2, "next to": 1}
    assert dict(attested(map(parse, texts), least=2)) == {"on": 2}


def filling(text, likely):
    return Filling(text=text, log_probability=likely)


def test_the_best_other_attested_filling_of_each_length_is_taken(parse):
    caption = parse("A cat sits on a table.")
    (gap,) = gaps(caption)
    assert (gap.before, gap.after) == ("A cat sits", "a table.")
    fillings = [
        filling("on", -0.1), filling("upon", -0.5), filling("behind", -2.0), filling("under", -3.0),
        filling("on top of", -0.2), filling("in front of", -4.0), filling("eating", -0.3), filling("next to", -9.0),
    ]  # fmt: skip
    found = foils_of(filled_relations(caption, [fillings], ALL))
    assert {one for _, one in found} == {"behind", "next to", "in front of"}
    assert filled_relations(caption, [[filling("on", -0.1)]], ALL).candidates == ()
    with pytest.raises(ValueError, match="for 1 gaps"):
        filled_relations(caption, [], ALL)


def test_the_table_does_not_contradict_itself():
    table = contrasts()
    for row in table.rows:
        assert {*row.captions, *row.foils} <= table.spatial, row
        assert not [pair for pair in product(row.captions, row.foils) if table.compatible(*pair)], row


WORDS = "a the cat table on under next to of in front 🙂 <b> NO standing .".split()


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_every_candidate_differs_from_its_caption_in_the_preposition_only(parse, words):
    caption = parse(" ".join(words))
    for foil in relations(caption, ALL).candidates:
        one, other = foil.classes
        assert foil.caption == caption.text
        assert foil.foil.lower() != foil.caption.lower()
        assert other in foil.foil.lower()
        assert len(foil.foil) - len(foil.caption) == len(other) - len(one)


@tabled
def test_what_nobody_would_say_is_no_foil(parse, caption, absurd):
    assert set(absurd).isdisjoint(candidate.classes[1] for candidate in relations(parse(caption), ALL).candidates)


def test_a_small_thing_goes_where_a_person_does_not(parse):
    found = relations(parse("An apple sitting next to a vase"), ALL)
    assert "in" in {candidate.classes[1] for candidate in found.candidates}
    assert relations(parse("A window in a kitchen"), ALL).refused == (ABSURD,)


def test_the_table_of_graphs_has_no_pair_that_may_be_true_together():
    text = files("vlgate.perturb.graphs").joinpath("relation_swaps.tsv").read_text("utf-8")
    swaps = rows_of("relation_swaps.tsv", text, "relation", "instead", "needs", "subject", "object")
    pairs = [
        (one, other)
        for row in swaps
        for one in row["relation"].split("|")
        for other in row["instead"].split("|")
        if {one, other} <= contrasts().spatial
    ]
    assert len(pairs) > 20
    assert [pair for pair in pairs if contrasts().compatible(*pair)] == []
