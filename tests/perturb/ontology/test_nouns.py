"""The table of nouns: how it hangs together, and that a broken one is refused with its place."""

import pytest
from builders import tabled
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.ontology import Noun, default_ontology
from vlgate.perturb.ontology.nouns import COLUMNS, check_nouns, curated_objects, read_nouns

HEAD = "\t".join(COLUMNS)
NOUNS = default_ontology().nouns
NAMES = st.sampled_from(sorted(NOUNS))


def table(tmp_path, *rows, head=HEAD):
    file = tmp_path / "objects.tsv"
    file.write_text("\n".join(("# a comment", head, *rows)) + "\n", encoding="utf-8")
    return file


def row(name, number="singular", parents="", *, same="", other="", askable="yes"):
    return f"{name}\t{number}\t{parents}\t{same}\t\t{other}\t{askable}"


def test_reads_a_row(tmp_path):
    file = table(
        tmp_path,
        row("animal", other="animals"),
        row("animals", "plural", other="animal"),
        row("dog", parents="animal", other="dogs"),
        row("dogs", "plural", "animals", other="dog"),
        row("part", askable="no"),
    )
    nouns = read_nouns(file)
    assert nouns["dogs"] == Noun(name="dogs", number="plural", parents=("animals",), other="dog")
    assert list(nouns) == ["animal", "animals", "dog", "dogs", "part"]
    assert not nouns["part"].askable


PAIR = (row("cup", other="cups"), row("cups", "plural", other="cup"))


@tabled
def test_a_broken_table_is_refused_with_its_place(tmp_path, rows, line, message):
    with pytest.raises(ValueError, match="objects") as caught:
        read_nouns(table(tmp_path, *rows))
    assert message in str(caught.value)
    assert f"objects.tsv:{line}:" in str(caught.value)


def test_another_heading_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"objects\.tsv:2"):
        read_nouns(table(tmp_path, head="name\tparents"))


@tabled
def test_broken_links_are_refused_with_their_place(tmp_path, file, text, message):
    table(tmp_path, row("cup"), row("mug"))
    for name, head in (
        ("overlaps.tsv", "names\talso\n"),
        ("senses.tsv", "name\tmay_be\n"),
        ("parts.tsv", "whole\tparts\n"),
        ("wholes.tsv", "part\twholes\n"),
    ):
        (tmp_path / name).write_text(head, encoding="utf-8")
    assert set(curated_objects(tmp_path).nouns) == {"cup", "mug"}
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=file) as caught:
        curated_objects(tmp_path)
    assert message in str(caught.value)


def test_nouns_that_were_not_read_are_checked_too():
    with pytest.raises(ValueError, match="name='cat': parent='animal'"):
        check_nouns({"cat": Noun(name="cat", number="singular", parents=("animal",))})


@given(NAMES)
def test_numbers_agree(name):
    noun = NOUNS[name]
    if noun.other:
        other = NOUNS[noun.other]
        assert {noun.number, other.number} == {"singular", "plural"}
        assert {NOUNS[parent].other or parent for parent in noun.parents} == set(other.parents)
    for parent in noun.parents:
        assert (noun.number == "plural") == (NOUNS[parent].number == "plural") or not NOUNS[parent].other


@given(NAMES)
def test_a_parent_is_not_above_another_parent(name):
    above = {parent: default_ontology().hypernyms(parent) for parent in NOUNS[name].parents}
    assert not any(parent in others for parent in above for others in above.values())


@given(NAMES)
def test_every_parent_or_a_name_above_it_can_be_asked_about(name):
    for parent in NOUNS[name].parents:
        assert any(NOUNS[above].askable for above in (parent, *default_ontology().hypernyms(parent)))
