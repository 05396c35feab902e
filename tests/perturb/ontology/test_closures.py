"""Facts of the curated ontology that wrong senses would break: what things are, may be called, and have."""

from builders import tabled

from vlgate.perturb.ontology import default_ontology

ONTOLOGY = default_ontology()


@tabled
def test_what_every_thing_of_a_name_is(name, above):
    assert set(above.split("|")) <= set(ONTOLOGY.hypernyms(name))


@tabled
def test_the_nearest_comes_first(name, above):
    assert ONTOLOGY.hypernyms(name) == above


@tabled
def test_names_of_several_senses(name, not_certain, possible):
    assert not_certain not in ONTOLOGY.certain(name)
    assert possible in ONTOLOGY.possible(name)


@tabled
def test_names_of_the_same_things(names):
    for name in names.split():
        assert set(names.split()) <= ONTOLOGY.possible(name)


@tabled
def test_what_stays_false(name, false):
    known = ONTOLOGY.possible(name) | ONTOLOGY.parts(name)
    assert not known & set(false.split(" "))


@tabled
def test_what_may_be_there_unannotated(name, parts):
    assert set(parts.split()) <= ONTOLOGY.parts(name)
