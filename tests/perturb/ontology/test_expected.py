"""What is expected of things: every noun has a place, and the tables use known words."""

from pathlib import Path

import pytest
from builders import tabled

from vlgate.perturb.ontology import Noun, default_ontology
from vlgate.perturb.ontology import expectations as module
from vlgate.perturb.ontology.expectations import COLUMNS, FIT, Surroundings, expectations_from
from vlgate.perturb.ontology.tables import rows_of

ONTOLOGY = default_ontology()
FOLDER = Path(module.__file__).parent
TABLES = {name: (FOLDER / name).read_text("utf-8") for name in COLUMNS}
WHERE = Surroundings(settings=ONTOLOGY.settings, usual=ONTOLOGY.expected.usual)
OFFICE = ("desk", "monitor", "keyboard", "man", "wall")
STREET = ("crosswalk", "car", "traffic light", "tree")


def rows(name):
    return list(rows_of(name, TABLES[name], *COLUMNS[name]))


def with_line(name, line):
    return TABLES | {name: f"{TABLES[name]}{line}\n"}


def test_every_noun_that_is_asked_about_has_a_place():
    assert [noun.name for noun in ONTOLOGY.nouns.values() if noun.askable and not ONTOLOGY.settings(noun.name)] == []


def test_the_tables_name_nouns_of_the_ontology():
    named = [name for row in rows("places.tsv") for name in row.names("names")]
    named += [name for row in rows("doers.tsv") for name in row.names("can")]
    named += [
        name for row in rows("company.tsv") for name in (*row.names("names"), *row.names("with")) if name[0] != "@"
    ]
    others = {"lifeless", "odd", "vague", "near", "clash", "unclear"}  # these groups are of attributes and of relations
    named += [name for row in rows("groups.tsv") if row["group"] not in others for name in row.names("names")]
    named += [name for row in rows("rests.tsv") for name in (*row.names("names"), *row.names("on"))]
    named += [name for row in rows("needs.tsv") for name in row.names("with")]
    named += [name for row in rows("values.tsv") if not row["names"].startswith("@") for name in row.names("names")]
    assert sorted({name for name in named if not ONTOLOGY.knows(name)}) == []


def test_what_shades_and_what_needs_something_are_attributes():
    assert {name for group in ONTOLOGY.expected.shades for name in group} <= {*ONTOLOGY.attributes}
    assert {*ONTOLOGY.expected.needs} <= {*ONTOLOGY.attributes}


def test_odd_relations_read_as_relations_of_the_ontology():
    assert ONTOLOGY.expected.odd
    assert ONTOLOGY.expected.odd <= {reading.text for reading in ONTOLOGY.relations.values()}


def test_the_values_are_attributes_of_their_category():
    for row in rows("values.tsv"):
        for value in row.names("values"):
            assert value.startswith("@") or ONTOLOGY.attributes[value].category == row["category"], (row.line, value)


@tabled
def test_a_thing_fits_where_it_is_found(name, image, there):
    assert (WHERE.fit(name, WHERE.of(image)) >= FIT) == there


def test_a_noun_of_a_user_is_found_where_its_class_is_or_anywhere():
    more = ONTOLOGY.extended(
        [Noun(name="zebu", number="singular", parents=("cow",)), Noun(name="gizmo", number="singular")]
    )
    where, office = Surroundings(settings=more.settings), WHERE.of(OFFICE)
    assert where.fit("zebu", office) < FIT
    assert where.fit("gizmo", office) == 1


def test_what_every_image_of_a_setting_shows_is_missed():
    assert WHERE.missed("ceiling", WHERE.of(OFFICE))
    assert not WHERE.missed("printer", WHERE.of(OFFICE))
    assert not WHERE.missed("ceiling", WHERE.of(STREET))


def test_what_is_found_nearly_anywhere_comes_with_something():
    """A shirt might be in a bedroom, and nobody expects it among vegetables."""
    company = ONTOLOGY.expected.beside(ONTOLOGY.named("shirt"))
    assert company is not None
    assert "bed" in company
    assert company.isdisjoint({"onion", "vegetable", "food"})
    assert ONTOLOGY.expected.beside(ONTOLOGY.named("stove")) is None


@tabled
def test_values_suit_things(name, value, suits):
    assert ONTOLOGY.suits(name, value) == suits


@tabled
def test_a_broken_line_is_named(table, line, reason):
    with pytest.raises(ValueError, match=f"{table}:[0-9]+: .*{reason}"):
        expectations_from(with_line(table, line))
