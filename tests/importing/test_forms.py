"""What the files of harnesses hold: the fields of each form, files without replies, and files that are broken."""

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest
from builders import json_table, tabled
from harnesses import FORMS, llava, lmms_eval, write_lines

from vlgate.errors import OptionError
from vlgate.making.importing.prompts import listed_options
from vlgate.making.importing.replies import recordings

ITEM = {"id": 7, "image": "1.jpg", "question": "Is it red?", "truth": "yes", "category": "mine", "reply": "Yes, red.\n"}
QUESTION = "Is it red?"


def read(*files, reply=""):
    return [record for recording in recordings(files, reply) for record in recording.records]


def workbook(file, *rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(file)


def lines(folder, *rows):
    return read(*write_lines(folder / "rows.jsonl", rows))


@pytest.mark.parametrize("form", FORMS)
def test_each_form_keeps_the_reply_as_it_was_recorded(form, tmp_path):
    if form == "vlmevalkit_xlsx":
        pytest.importorskip("openpyxl")
    item = {**ITEM, "reply": "<think>no?</think> Yes; caf\u00e9 \u2014 \u201cred\u201d\t" if form != "mme" else "Yes"}
    [record] = read(*FORMS[form](tmp_path, [item]))
    assert record.reply == item["reply"]
    assert record.truth.lower() == ("" if form == "llava" else "yes")
    assert record.problem == ""


REFUSED = [
    *json_table(Path(__file__).with_suffix(".tsv"), "refused"),
    ("x.json", "[" * 99999, "is nested too deeply"),
    ("x.csv", "question,prediction\né,a\n".encode("latin-1"), "is not UTF-8; write the file again, as UTF-8"),
]


@pytest.mark.parametrize(("name", "content", "said"), REFUSED)
def test_a_file_without_replies_or_that_is_broken_says_what_it_is_and_what_to_do(name, content, said, tmp_path):
    if name == "x.xlsx":
        pytest.importorskip("openpyxl")
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(OptionError, match=re.compile(said, re.DOTALL)) as error:
        read(file)
    assert str(error.value).startswith((str(file), f"{name}, line"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", ["xlsx", "parquet"])
def test_a_repeated_column_of_a_binary_table_is_refused(suffix, tmp_path):
    file, names, cells = tmp_path / f"x.{suffix}", ["question", "prediction", "prediction"], ["Is it?", "Yes", "No"]
    if suffix == "xlsx":
        workbook(file, names, cells)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table([[cell] for cell in cells], names=names), file)
    with pytest.raises(OptionError, match="has the column 'prediction' twice; rename one of them"):
        read(file)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_with_a_quoted_header_is_split_by_its_mark(mark, tmp_path):
    cells = [f'"{name}"' for name in ("image", "question", "prediction")]
    text = f"{mark.join(cells)}\n1.jpg{mark}Is it red?{mark}Yes\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    [record] = read(tmp_path / "x.csv")
    assert (record.images, record.prompts, record.reply) == (("1.jpg",), (QUESTION,), "Yes")


def test_a_row_that_is_cut_off_has_no_reply_and_fields_of_one_name_may_agree_or_be_empty(tmp_path):
    rows = [{"Prediction": "Yes", "prediction": "Yes"}, {"Prediction": None, "prediction": "No"}]
    assert [line.reply for line in lines(tmp_path, *({"question": QUESTION, **row} for row in rows))] == ["Yes", "No"]
    (tmp_path / "x.csv").write_text("image,question,prediction\n1.jpg,Is it?,Yes\n1.jpg,Is it\n", encoding="utf-8")
    assert [(one.reply, one.problem) for one in read(tmp_path / "x.csv")] == [("Yes", ""), ("", "it has no reply")]


def test_a_line_of_mme_with_a_tab_too_many_or_too_few_costs_itself_only(tmp_path):
    good = "1.jpg\tIs it red?\tYes\t{}\n".format
    text = good("Yes") + good("No,\tit is not") + "It is\nblue.\n" + "1.jpg\tIs it red?\tYes\n" + good("No.\nNever")
    (tmp_path / "x.txt").write_text(text, encoding="utf-8")
    records = read(tmp_path / "x.txt")
    why = "its line has {} cells, expected 4: image, question, truth, prediction"
    assert [(record.reply, record.problem) for record in records] == [
        ("Yes", ""),
        ("", why.format(5)),
        ("", why.format(3)),
        ("No.\nNever", ""),
    ]
    assert [record.place for record in records] == ["x.txt, line 1", "x.txt, line 2", "x.txt, line 5", "x.txt, line 6"]


def test_a_missing_file_a_folder_no_openpyxl_and_no_samples_are_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "x.xlsx").write_bytes(b"x")
    with pytest.raises(OptionError, match=r"pip install openpyxl, or save it as \.tsv"):
        read(tmp_path / "x.xlsx")
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(OptionError, match="holds no samples; run inspect without --no-log-samples"):
        read(tmp_path / "x.eval")
    with pytest.raises(OptionError, match="is a folder; name the files in it"):
        read(tmp_path)
    with pytest.raises(OptionError, match="there is no such file"):
        read(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("fields", "reply", "problem"),
    [
        ({"prediction": "Failed to obtain answer via API."}, "", "the harness got no reply"),
        ({"prediction": "Failed to obtain answer: <class 'RuntimeError'> CUDA"}, "", "the harness got no reply"),
        ({"prediction": None}, "", "it has no reply"),
        ({"prediction": ["Yes", "No"]}, "", "it has several replies"),
        ({"prediction": {"a": 1}}, "", "its reply is not a text"),
        ({"prediction": ""}, "", ""),
        ({"prediction": ["Yes"]}, "Yes", ""),
        ({"prediction": ["Yes", "Yes"]}, "Yes", ""),
        ({"prediction": True}, "True", ""),
        ({"prediction": 3}, "3", ""),
        ({"prediction": 3.0}, "3", ""),
        ({"prediction": "\ud83d no"}, "\ud83d no", ""),
        ({"resps": [["Yes"]]}, "Yes", ""),  # the raw replies of lmms-eval count, not the filtered ones
        ({"resps": [["Yes", "Yes"]]}, "Yes", ""),
        ({"resps": [["Yes", "No"]]}, "", "it has several replies"),
        ({"resps": [[[-1.5, False]], [[-0.2, True]]]}, "", "it has log-likelihoods of choices, not a reply in words"),
        ({"resps": []}, "", "it has no reply"),
    ],
)
def test_a_reply_is_the_text_that_the_model_gave_or_it_is_said_why_there_is_none(fields, reply, problem, tmp_path):
    other, row = {"index": 1, "question": QUESTION, "prediction": "Yes"}, {"index": 2, "question": QUESTION, **fields}
    if "resps" in fields:
        other, row = (
            {"doc_id": n, "input": QUESTION, "target": "yes", "filtered_resps": ["yes"], "resps": resps}
            for n, resps in ((1, [["Yes"]]), (2, fields["resps"]))
        )
    assert [(record.reply, record.problem) for record in lines(tmp_path, other, row)] == [("Yes", ""), (reply, problem)]


def test_a_reply_that_a_cell_of_xlsx_cut_is_no_reply(tmp_path):
    rows = [["index", "question", "prediction"], [1, QUESTION, "x" * 32767], [2, QUESTION, "Yes"], [None] * 3]
    workbook(tmp_path / "x.xlsx", *rows)
    first, second = read(tmp_path / "x.xlsx")
    assert "cut at 32,767 characters" in first.problem
    assert (second.reply, second.place) == ("Yes", "x.xlsx, row 3")


@pytest.mark.parametrize("column", ["Image Name", "image_file", "IMG_PATH", "filename", "image_id"])
def test_columns_are_known_by_several_names(column, tmp_path):
    [record] = lines(
        tmp_path, {column: "1.jpg", "Query": QUESTION, "Model Output": "Yes", "GT": "yes", "Subset": "a,b"}
    )
    assert (record.images, record.prompts, record.reply) == (("1.jpg",), (QUESTION,), "Yes")
    assert (record.truth, record.hints) == ("yes", ("a", "b"))
    row = {"image": "/9j/4AAQ" * 200, "image_path": "a/1.jpg", "question": QUESTION, "output": "Yes"}
    assert lines(tmp_path, row)[0].images == ("a/1.jpg",)  # base64 is not a name
    assert read(*lmms_eval(tmp_path, [ITEM], "pope_adv"))[0].hints == ("pope_adv",)  # the file's name has the task


def test_a_field_of_another_name_is_named_with_reply(tmp_path):
    files = write_lines(
        tmp_path / "x.jsonl", [{"image": "1.jpg", "question": QUESTION, "Qwen2-VL": "Yes", "Q 2": "No"}]
    )
    assert [read(*files, reply=name)[0].reply for name in ("Qwen2-VL", "Q 2", "q_2")] == ["Yes", "No", "No"]
    with pytest.raises(OptionError, match=r"has no field 'qwen2' .*did you mean 'qwen2-vl'"):
        read(*files, reply="qwen2")


def test_columns_of_pandas_and_records_by_key_are_rows(tmp_path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"question": {"0": "a?", "1": "b?"}, "prediction": {"0": "A", "1": "B"}}))
    assert [(one.prompts, one.reply) for one in read(file)] == [(("a?",), "A"), (("b?",), "B")]
    file.write_text(
        json.dumps({"x": {"question": "a?", "prediction": "A"}, "y": {"question": "b?", "prediction": "B"}})
    )
    assert [(one.prompts, one.reply, one.numbers) for one in read(file)] == [
        (("a?",), "A", {"id": "x"}),
        (("b?",), "B", {"id": "y"}),
    ]


def test_a_question_file_of_another_release_completes_nothing(tmp_path):
    answers, questions = llava(tmp_path, [ITEM])
    changed = questions.read_text().replace("red", "blue")
    questions.write_text(changed)
    [record] = read(answers, questions)
    assert (record.images, record.problem) == ((), "the question of its question_id is another one")
    questions.write_text(changed.replace("blue", "red") + changed.replace("blue", "red").replace("1.jpg", "2.jpg"))
    assert read(answers, questions)[0].problem == "two questions have its question_id"


def test_a_negative_that_was_chosen_is_above_the_caption(tmp_path):
    choices = {"caption": "a", "negative": "b", "neither": ""}
    file = tmp_path / "gpt4v.json"
    rows = {
        name: {
            "answer": {"multiple_choice_answer": chosen},
            "caption": "a",
            "negative_caption": "b",
            "filename": "1.jpg",
        }
        for name, chosen in choices.items()
    }
    file.write_text(json.dumps(rows))
    scores = [record.score for record in read(file)]
    assert [first - second for first, second in zip(scores[::2], scores[1::2], strict=True)] == [1, -1, 0]


@tabled
def test_options_are_read_in_the_order_of_their_letters(prompt, options):
    assert listed_options(prompt) == options


def test_the_right_answer_never_stands_in_for_a_missing_reply(tmp_path):
    rows = [
        {"index": n, "question": QUESTION, "answer": "Yes", "prediction": reply} for n, reply in ((1, None), (2, "No"))
    ]
    for order in (rows, rows[::-1]):
        assert sorted((line.reply, line.problem) for line in lines(tmp_path, *order)) == [
            ("", "it has no reply"),
            ("No", ""),
        ]


JUNK = (None, 3, 1e400, True, "", "\ud800", [], {}, [[]], [None], {"a": []}, [{"content": 3}], {"path": None})


@pytest.mark.parametrize("form", ["lmms_eval", "lmms_eval_with_doc", "vlmevalkit_json", "llava", "inspect_json"])
def test_a_record_with_a_strange_value_costs_itself_only(form, tmp_path):
    good, bad = {**ITEM, "id": 1}, {**ITEM, "id": 2}
    first, *others = FORMS[form](tmp_path, [good, bad])
    text = first.read_text(encoding="utf-8")
    whole = json.loads(text) if first.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    records = whole["samples"] if isinstance(whole, dict) else whole
    for name in list(records[1]):
        kept = records[1][name]
        for junk in JUNK:
            records[1][name] = junk
            first.write_text("\n".join(map(json.dumps, whole)) if first.suffix == ".jsonl" else json.dumps(whole))
            found = read(first, *others)
            assert (len(found), found[0].reply) == (2, ITEM["reply"]), (name, junk)
        records[1][name] = kept
