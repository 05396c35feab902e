"""The forms of a user's files: JSON lines, JSON, CSV and TSV give the same cases, or an error that names the place."""

import json
import os
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from builders import json_table
from own_case_lines import EVERY, OTHER, PAIR, QUAD, SET, SHAPES, STATEMENT, TWO_TRUE, table, tasks, without, write

from vlgate.__main__ import main
from vlgate.errors import DataError
from vlgate.sources.data_folders import read_everything
from vlgate.sources.own.cases import shapes
from vlgate.sources.reading.records import noting
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")


def tabled(folder, *rows, name="cases.csv", separator=",", newline="\r\n", encoding="utf-8", head=""):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((head + table(rows, separator, newline)).encode(encoding))


def whole(folder):
    """Everything of all cases but their origin, by task and id."""
    return {
        (task.id, task.shape, case.id): (case.requests, case.truths, case.tags, getattr(case, "named", {}))
        for task in tasks(folder)
        for case in task.cases
    }


TAGGED = PAIR | {
    "id": "tagged",
    "tags": {"side": "left", "objects": 2},
    "box": [1, 2, 3, 4],
    "caption": 'a "b", c\nd; é',
}
ROWS = (*EVERY, TAGGED)


@pytest.fixture
def expected(tmp_path):
    write(tmp_path / "lines", *ROWS)
    return whole(tmp_path / "lines")


def text(name, content):
    return lambda folder: (folder / name).write_text(content)


FORMS = {
    "list": text("cases.json", json.dumps(ROWS, indent=2)),
    "object": text("cases.json", json.dumps({row["id"]: without(row, "id") for row in ROWS})),
    "object with ids": text("cases.json", json.dumps({str(n): row for n, row in enumerate(ROWS)}, indent=1)),
    "list named jsonl": text("cases.jsonl", "\ufeff\n" + json.dumps(ROWS, indent=2)),
    "inside": text("cases/mine.json", json.dumps(ROWS)),
    "lines named json": lambda folder: write(folder, *ROWS, name="cases.json"),
    "ndjson": lambda folder: write(folder, *ROWS, name="cases.ndjson"),
    "csv": lambda folder: tabled(folder, *ROWS),
    "csv inside": lambda folder: tabled(folder, *ROWS, name="cases/mine.csv"),
    "csv of unix": lambda folder: tabled(folder, *ROWS, newline="\n"),
    "csv with a mark": lambda folder: tabled(folder, *ROWS, encoding="utf-8-sig"),
    "csv of semicolons": lambda folder: tabled(folder, *ROWS, separator=";"),
    "csv of tabs": lambda folder: tabled(folder, *ROWS, separator="\t"),
    "csv of excel": lambda folder: tabled(folder, *ROWS, separator=";", head="sep=;\r\n"),
    "tsv": lambda folder: tabled(folder, *ROWS, name="cases.tsv", separator="\t"),
    "tsv inside": lambda folder: tabled(folder, *ROWS, name="cases/a.tsv", separator="\t"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_cases(tmp_path, expected, form):
    folder = tmp_path / "other"
    (folder / "cases").mkdir(parents=True)
    FORMS[form](folder)
    assert whole(folder) == expected
    assert dict(shapes([folder])) == SHAPES


def test_files_of_several_forms_are_read_together(tmp_path):
    (tmp_path / "cases.json").write_text(json.dumps(PAIR, indent=2).replace("\n", " "))  # one record alone is a line
    assert [key[2] for key in whole(tmp_path)] == ["p"]
    write(tmp_path, PAIR)
    tabled(tmp_path, PAIR | {"id": "p2"})
    (tmp_path / "cases.json").write_text(json.dumps([PAIR | {"id": "p3"}]))
    assert sorted(key[2] for key in whole(tmp_path)) == ["p", "p2", "p3"]
    (tmp_path / "cases.json").write_text(json.dumps([PAIR]))
    with pytest.raises(DataError, match=r"cases\.json, record 0: id 'p' is already used .*jsonl, record on line 1"):
        tasks(tmp_path)


@pytest.mark.parametrize(
    ("written", "truth"), json_table(TABLES, "the_truth_of_a_statement_as_a_spreadsheet_writes_it")
)
def test_the_truth_of_a_statement_as_a_spreadsheet_writes_it(tmp_path, written, truth):
    tabled(tmp_path, STATEMENT | {"is_true": written})
    assert [case[1] for case in whole(tmp_path).values()] == [(truth,)]


def test_texts_in_cells_stay_as_they_are_and_tags_may_be_columns(tmp_path):
    tabled(tmp_path, PAIR | {"id": " 007 ", "caption": "3", "foil": '["a"]', "image": " photos/1.jpg "})
    [((_, _, identity), (requests, *_))] = whole(tmp_path).items()
    assert (identity, [request.text for request in requests]) == ("007", ["3", '["a"]'])
    assert requests[0].image.key == "photos/1.jpg"
    tabled(tmp_path, PAIR | {"tags.side": "left", "tags.room": "kitchen"}, PAIR | {"id": "p2", "tags.side": "right"})
    assert [case[2] for case in whole(tmp_path).values()] == [{"side": "left", "room": "kitchen"}, {"side": "right"}]


def test_the_line_of_a_row_counts_the_lines_within_texts(tmp_path):
    tabled(tmp_path, PAIR | {"caption": "one\ntwo\nthree"}, {}, without(PAIR, "id"), without(PAIR, "id", "foil"))
    with pytest.raises(DataError, match=r"cases\.csv, record on line 7: expected the fields of one kind"):
        tasks(tmp_path)
    tabled(tmp_path, PAIR | {"caption": "one\ntwo\nthree"}, {}, without(PAIR, "id"))
    assert [key[2] for key in whole(tmp_path)] == ["p", "cases on line 6"]


TABLED = [(*row, "cases.csv", newline) for row in json_table(TABLES, "in_a_table") for newline in ("\n", "\r\n")]
IN_JSON = [(text, [*says, "; write a line "], "cases.json", "\n") for text, says in json_table(TABLES, "in_json")]


@pytest.mark.parametrize(("text", "says", "name", "newline"), [*TABLED, *IN_JSON])
def test_an_error_names_the_line_or_record(tmp_path, text, says, name, newline):
    (tmp_path / name).write_text(text.replace("\n", newline), newline="")
    with pytest.raises(DataError) as caught:
        tasks(tmp_path)
    for part in (str(tmp_path / name), *says):
        assert part in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_a_table_that_is_not_utf8(tmp_path, encoding):
    tabled(tmp_path, PAIR | {"caption": "café"}, encoding=encoding)
    with pytest.raises(DataError, match=r"csv: line \d, column \d+ is not UTF-8; save the table as CSV in UTF-8"):
        tasks(tmp_path)
    (tmp_path / "cases.csv").rename(tmp_path / "cases.jsonl")
    with pytest.raises(DataError, match=r"jsonl: line \d, column \d+ is not UTF-8; save the file in UTF-8$"):
        tasks(tmp_path)


@pytest.mark.parametrize("name", ["cases.xlsx", "cases/a.xlsx", "cases.yaml", "cases/a.yml", "cases.parquet"])
def test_a_form_that_is_not_read_is_not_passed_over(tmp_path, name):
    write(tmp_path, PAIR)
    (tmp_path / "cases").mkdir()
    form = "jsonl" if ".y" in name else "csv"
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(DataError, match=rf"{name}: is not read; save it as cases\.{form}, or rename it"):
        tasks(tmp_path)


def test_other_files_beside_the_cases_are_left_alone(tmp_path):
    write(tmp_path, PAIR, name="cases/a.jsonl")
    (tmp_path / "cases" / "images").mkdir()
    for name in ("cases/README.md", "cases/1.png", "cases/images/1.png", "notes.csv", "casesx.csv", "cases.md"):
        (tmp_path / name).write_text("x")
    assert len(whole(tmp_path)) == 1


@pytest.mark.parametrize("name", ["b.jsonl", "b.csv", "list.json"])
def test_cases_deeper_in_the_folder_are_not_passed_over(tmp_path, name):
    write(tmp_path, PAIR, name="cases/a.jsonl")
    write(tmp_path, PAIR, name=f"cases/sub/{name}")
    with pytest.raises(DataError, match=rf"cases/sub/{name}: is not read; put it into \S*/cases itself"):
        tasks(tmp_path)


@pytest.mark.parametrize("name", [
    "cases.jsonl", "cases.csv", "cases/x.jsonl", "cases/x.csv", "set/cases/x.jsonl", "cases/b.jsonl",
    "valse/data/existence.json", "sugarcrepe/data/add_att.parquet", "scene-graphs/a.json", "vg/scene_graphs.json",
])  # fmt: skip
@pytest.mark.parametrize("of", ["file", "folder", "loop"])
def test_a_link_that_leads_to_no_file_is_an_error(tmp_path, capsys, name, of):
    write(tmp_path, PAIR, name="cases/a.jsonl" if of != "folder" or "cases" not in name else "cases.ndjson")
    (tmp_path / "set").mkdir()
    (tmp_path / "set/bias.json").write_text("{}")
    link = tmp_path / name
    link = link.parent if of == "folder" and link.parent != tmp_path else link
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(link if of == "loop" else tmp_path / ".git/annex/objects/gone")
    assert main(["check", "--data", str(tmp_path)]) != 0
    says = f"{link}: is a link that leads to no file; fetch what the link leads to (git annex get, dvc pull), or remove"
    assert (f"{link}: cannot be read (" if of == "loop" else says) in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", ["cases", "set/cases", "valse", "sugarcrepe", "scene-graphs"])
def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, capsys, name):
    write(tmp_path, PAIR)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/bias.json").write_text("{}")
    (tmp_path / name).mkdir(mode=0)
    if os.access(tmp_path / name, os.R_OK):
        pytest.skip("root may list every folder")
    assert main(["check", "--data", str(tmp_path)]) != 0
    assert re.search(
        rf"{tmp_path}/{name}\S*: cannot be (listed|read) \(Permission denied\)", "".join(capsys.readouterr())
    )


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize(("name", "content"), [
    ("a.json", "[]"), ("a.json", " {\n}\n"), ("a.jsonl", "[ ]"), ("a.jsonl", "\ufeff[]"), ("a.csv", "task,image\n"),
    ("a.csv", "sep=;\ntask;image\n;\n\n"), ("a.tsv", "task\timage"),
])  # fmt: skip
def test_a_file_without_a_case_is_an_error(tmp_path, name, content, noted):
    write(tmp_path, PAIR)
    (tmp_path / "cases").mkdir()
    text(f"cases/{name}", content)(tmp_path)
    with pytest.raises(DataError, match=rf"cases/{name}: holds no case; "), noting() if noted else nullcontext():
        tasks(tmp_path)


@pytest.mark.parametrize("names", [("task", "image", "caption", "foil"), ("image", "caption", "foil", "task")])
@pytest.mark.parametrize("end", ['a"', 'a",b'])
@pytest.mark.parametrize("rows", [1, 2, 30])
def test_a_quotation_mark_that_swallows_rows_is_an_error(tmp_path, names, end, rows):
    cells = {"task": "mine/a", "image": "1.jpg", "caption": "a", "foil": "b"}
    whole = [[cells[name] for name in names] for _ in range(rows + 1)]
    column = names.index("foil" if end == 'a"' else "caption")
    whole[0][column] = '"' + whole[0][column]
    whole[-1][column:] = [end] if end == 'a"' else [end, *whole[-1][column + 2 :]]
    lines = "\n".join(map(",".join, [names, *whole]))
    (tmp_path / "cases.csv").write_text(f"{lines}\n")
    with pytest.raises(DataError, match=r"cases\.csv, record on line 2: the text in .* close the quotation mark"):
        tasks(tmp_path)


def test_texts_of_several_lines_with_separators_and_slashes_are_no_rows(tmp_path):
    caption = "a, b, or c\nyes/no\nand/or a; b, c, d, e"
    tabled(tmp_path, PAIR | {"caption": caption})
    assert [case[0][0].text for case in whole(tmp_path).values()] == [caption]


def test_every_error_of_every_form_is_listed(tmp_path):
    tabled(tmp_path, PAIR | {"foil": "a left of b"}, without(OTHER, "kind"), QUAD | {"images": "x"})
    (tmp_path / "cases.json").write_text(json.dumps([SET | {"true": "a"}, TWO_TRUE, 3]))
    found = read_everything(ReadOptions(folders=(tmp_path,), seed=0, wanted=lambda task: task.startswith("mine/")))
    lines = " ".join(found.errors)
    for part in (*(f"csv, record on line {line}" for line in (2, 3, 4)), "json, record 0", "json, record 2"):
        assert part in lines
    assert [task.id for task in found.tasks] == ["mine/two"]


def test_a_file_is_read_whole_again_after_an_error(tmp_path):
    write(tmp_path, PAIR, PAIR | {"id": "same", "foil": PAIR["caption"]}, PAIR | {"id": "last"})
    for _ in range(2):
        with pytest.raises(DataError, match=r"on line 2: .*no model can be right"):
            tasks(tmp_path)
    write(tmp_path, PAIR, PAIR | {"id": "last"})
    assert whole(tmp_path) == whole(tmp_path)
    assert len(whole(tmp_path)) == 2


def test_tags_of_different_types_stay_apart(tmp_path):
    rows = [PAIR | {"id": str(place), "tags": {"n": value}} for place, value in enumerate((1, True, "1", 1.0, "true"))]
    write(tmp_path, *rows)
    assert [case.tags["n"] for task in tasks(tmp_path) for case in task.cases] == ["1", "true", "1", "1.0", "true"]


def test_a_line_that_repeats_a_key_is_an_error_with_colons_in_its_texts_or_without(tmp_path):
    for caption in ("a left of b", "12:30 on a clock: noon"):
        line = json.dumps(PAIR | {"caption": caption, "tags": {"side": "left"}})
        write(tmp_path, PAIR, line.replace('"side": "left"', '"side": "left", "side": "right"'))
        with pytest.raises(DataError, match="repeats the key 'side' of the same object"):
            tasks(tmp_path)
