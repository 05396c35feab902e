"""Votes that are read back, and votes that are refused."""

import csv
import json
from html import unescape

import pytest
from builders import tabled
from voting import PAIRS, read_items, write_cases

from vlgate.errors import DataError
from vlgate.making.votes.form import COLUMNS, digest, write_rows
from vlgate.making.votes.outcome import read_votes
from vlgate.report.exports.rows import text_of_cell


@pytest.fixture
def items(tmp_path):
    return read_items(write_cases(tmp_path / "set", {"mine/x": PAIRS}))


@pytest.fixture
def voted(tmp_path, items):
    def write(name, votes=None, annotator="Ann", **changed):
        votes = {item.id: "first" for item in items} if votes is None else votes
        content = {"vlgate_votes": 1, "form": digest(items), "part": 1, "annotator": annotator, "votes": votes}
        file = tmp_path / name
        file.write_text(json.dumps({**content, **changed}))
        return file

    return write


@pytest.fixture
def table(tmp_path, items):
    """Write votes as a platform gives them: cells by column, joined to those of the first item."""

    def write(*rows, prefix="Input."):
        file = tmp_path / "results.csv"
        basic = {f"{prefix}form": digest(items), f"{prefix}item": items[0].id}
        names = ("WorkerId", "Answer.answer") if prefix else ("annotator", "answer")
        with file.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, [*basic, *names, "AssignmentStatus", "note"])
            writer.writeheader()
            for number, row in enumerate(rows):
                writer.writerow(
                    {**basic, names[0]: f"W{number}", names[1]: "both", "AssignmentStatus": "Approved"} | row
                )
        return file

    return write


def test_votes_of_several_annotators_and_platforms_are_joined(items, voted, table):
    files = [voted("a.json"), voted("b.json", annotator="Bob"), table({}, {"Answer.answer": "cannot_tell"})]
    found = read_votes(files, items).by_item
    assert found[items[0].id] == {"Ann": "first", "Bob": "first", "W0": "both", "W1": "cannot_tell"}
    assert found[items[1].id] == {"Ann": "first", "Bob": "first"}


def test_a_file_with_plain_columns_is_read_and_a_cell_may_have_lines(items, table):
    file = table({"note": 'two\nlines, "quoted"'}, {"answer": "neither"}, prefix="")
    assert read_votes([file], items).by_item[items[0].id] == {"W0": "both", "W1": "neither"}


def test_rejected_assignments_are_left_out_and_counted(items, table):
    votes = read_votes([table({}, {"AssignmentStatus": "Rejected", "Answer.answer": ""})], items)
    assert votes.by_item[items[0].id] == {"W0": "both"}
    assert votes.left_out == {"vote of a rejected assignment": 1}


@tabled
def test_a_vote_that_does_not_fit_names_the_file_the_record_and_the_remedy(items, voted, changed, said):
    if isinstance(changed.get("votes"), dict):
        changed = {"votes": {key.replace("ITEM", items[0].id): value for key, value in changed["votes"].items()}}
    with pytest.raises(DataError, match=rf"bad\.json.*{said}"):
        read_votes([voted("bad.json", **changed)], items)


def test_a_second_vote_of_one_annotator_is_refused(items, voted, table):
    first = voted("a.json", votes={items[1].id: "first"})
    with pytest.raises(DataError, match=r"b\.json, record .*'Ann' has voted .*a\.json, record .*keep one"):
        read_votes([first, voted("b.json", votes={items[1].id: "second"})], items)
    with pytest.raises(DataError, match=r"results\.csv, record on line 3: .*\(it, record on line 2\)"):
        read_votes([table({}, {"WorkerId": "W0"})], items)


@tabled
def test_a_broken_table_is_an_error_that_names_the_line(items, tmp_path, text, said):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=rf"bad\.csv.*{said}"):
        read_votes([file], items)


def test_the_table_for_crowdsourcing_has_a_row_for_each_item(items, tmp_path):
    write_rows(items, tmp_path / "items.csv", "https://example.org/set/")
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["item"], row["first"], row["second"]) for row in rows] == [(item.id, *item.texts) for item in items]
    assert {row["image"] for row in rows} == {"https://example.org/set/1.png", "https://example.org/set/2.png"}
    assert {row["form"] for row in rows} == {digest(items)}
    [row] = [row for row in rows if "script" in row["first"]]
    assert "<script" not in row["first_html"] + row["second_html"]
    assert "&lt;script&gt;" in row["first_html"]


@pytest.mark.parametrize(
    "begins", ["=cmd|'/c calc'!A1 ", "+1 ", "-1 ", "@SUM(A1) ", "\t=1 ", "\r=1 ", "'=1 ", "'tis ", "a cup "]
)
def test_no_cell_for_crowdsourcing_is_a_formula_and_each_gives_its_text(tmp_path, begins):
    row = {"image": "1.png", "caption": f"{begins}a dog", "foil": f"{begins}a cat"}
    found = read_items(write_cases(tmp_path / "set", {"mine/x": [row]}))
    write_rows(found, tmp_path / "items.csv")
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as stream:
        [row] = csv.DictReader(stream)
    assert not [cell for cell in row.values() if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}]
    assert (text_of_cell(row["first"]), text_of_cell(row["second"])) == found[0].texts
    assert unescape(row["first_html"]).replace("<b>", "").replace("</b>", "") == found[0].texts[0]


def test_the_names_of_columns_are_quoted_as_one_short_plain_line(items, tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text(f"\x1b]0;PWN\x07,{'x' * 60_000},\u202e\n1,2,3\n")
    with pytest.raises(DataError) as caught:
        read_votes([file], items)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000
