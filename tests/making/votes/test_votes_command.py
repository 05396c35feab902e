"""``vlgate votes``: from cases to a form or a table, and from votes to the valid cases."""

import json
import re

import pytest
from builders import tabled
from voting import PAIRS, read_items, write_cases

from vlgate.cli import main

FORM = re.compile(r'<script type="application/json" id="form">(.*?)</script>', re.DOTALL)


@pytest.fixture
def votes(tmp_path, capsys):
    folder = write_cases(tmp_path / "set", {"mine/x": PAIRS, "mine/y": PAIRS[:1]})

    def run(*arguments, data=folder):
        status = main(["votes", *map(str, arguments), *(["--data", str(data)] if data else [])])
        return status, *capsys.readouterr()

    return run


def form_of(file):
    return json.loads(FORM.search(file.read_text(encoding="utf-8"))[1])


def test_a_form_is_one_file_and_says_nowhere_which_text_is_the_caption(votes, tmp_path):
    status, _, said = votes("form", "--out", tmp_path / "form.html")
    assert status == 0
    content = form_of(tmp_path / "form.html")
    assert f"5 items, form {content['digest']}" in said
    assert set(content) == {"digest", "part", "images", "items"}
    assert all(set(item) == {"id", "image", "first", "second"} for item in content["items"])
    assert len(content["images"]) == 2
    assert all(source.startswith("data:image/jpeg;base64,") for source in content["images"])
    page = (tmp_path / "form.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2
    assert not re.search(r"https?:|src=|caption|foil", page)


def test_many_items_make_several_forms_that_count_as_one(votes, tmp_path):
    assert votes("form", "--out", tmp_path / "form.html", "--per-form", 2, "--images", "beside")[0] == 0
    forms = [form_of(tmp_path / f"form-{n}.html") for n in (1, 2, 3)]
    assert [len(form["items"]) for form in forms] == [2, 2, 1]
    assert [form["part"] for form in forms] == [1, 2, 3]
    assert len({form["digest"] for form in forms}) == 1
    assert all((tmp_path / source).is_file() for form in forms for source in form["images"])


def test_what_two_of_three_find_valid_is_kept(votes, tmp_path):
    items = read_items(tmp_path / "set")
    assert votes("form", "--out", tmp_path / "form.html")[0] == 0
    form = form_of(tmp_path / "form.html")["digest"]
    for name in ("Ann", "Bob", "Cem"):
        answers = {item.id: "both" if name != "Ann" and item.case.id == "1" else item.right for item in items}
        content = {"vlgate_votes": 1, "form": form, "annotator": name, "votes": answers}
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    given = [tmp_path / f"{name}.json" for name in ("Ann", "Bob", "Cem")]
    status, printed, said = votes("keep", "--votes", *given, "--out", tmp_path / "kept")
    assert status == 0
    assert "| mine/x | 4 | 3 (75.0) | 3 (75.0) |" in printed
    assert "| overall | 5 | 4 (80.0) | 4 (80.0) |" in printed
    assert "mine/x: 3 cases kept, 1 dropped: 1 x both texts are true\n" in printed
    assert "valid.jsonl" in said
    kept = [json.loads(line) for line in (tmp_path / "kept/cases/valid.jsonl").read_text().splitlines()]
    assert [(row["task"], row["id"]) for row in kept] == [
        ("mine/x", "0"),
        ("mine/x", "2"),
        ("mine/x", "3"),
        ("mine/y", "0"),
    ]


@tabled
def test_an_error_is_one_line_with_the_remedy(votes, tmp_path, arguments, said):
    old = tmp_path / "old.json"
    old.write_text('{"vlgate_votes": 1, "form": "old", "annotator": "Ann", "votes": {"1": "first"}}')
    given = [old if argument == "OLD" else argument for argument in arguments]
    status, printed, told = votes(*given, "--out", tmp_path / "out")
    assert (status, printed) == (4, "")
    assert re.search(said, told)
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_image_that_is_nowhere_is_named_before_anything_is_written(votes, tmp_path):
    (tmp_path / "set/2.png").unlink()
    status, _, told = votes("form", "--out", tmp_path / "form.html")
    assert status == 4
    assert "image '2.png': is in no data folder" in told
    assert "all.jsonl, record on line" in told
    assert votes("csv", "--out", tmp_path / "items.csv")[0] == 0


def test_a_file_that_exists_is_kept(votes, tmp_path):
    (tmp_path / "form.html").write_text("mine")
    assert votes("form", "--out", tmp_path / "form.html")[0] == 4
    assert (tmp_path / "form.html").read_text() == "mine"
    assert votes("form", "--out", tmp_path / "no/form.html")[0] == 4
    assert votes("form", "--out", tmp_path / "x.html", data=None)[0] == 4


def test_questions_are_left_out_and_named(votes, tmp_path):
    asked = {"question": "Is it?", "answer": "yes", "perturbed": "Is it not?", "perturbed_answer": "no"}
    row = {"task": "mine/asked", "image": "1.png", "kind": "directional", **asked}
    (tmp_path / "set/cases/more.jsonl").write_text(json.dumps(row) + "\n")
    status, _, said = votes("csv", "--out", tmp_path / "items.csv")
    assert status == 0
    assert "left out: mine/asked, whose questions have no foil\n5 items" in said
    status, _, said = votes("csv", "--out", tmp_path / "more.csv", "--suite", "mine/asked")
    assert status == 4
    assert "which have no foil to vote on" in said
