"""What the files of harnesses hold: the fields of each form, files without replies, and files that are broken."""

import json
import re
import sys
import zipfile

import pytest
from harnesses import FORMS, llava, lmms_eval, write_lines

from vlgate.errors import OptionError
from vlgate.making.importing.prompts import listed_options
from vlgate.making.importing.replies import recordings

ITEM = {"id": 7, "image": "1.jpg", "question": "Is it red?", "truth": "yes", "category": "mine", "reply": "Yes, red.\n"}
QUESTION = "Is it red?"


def read(*files, reply=""):
    return [record for recording in recordings(files, reply) for record in recording.records]


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("[]", "holds no records"),
        ("3", "is int, expected records"),
        ('["Yes"]', "record 1: is str, expected an object"),
        ('{"a": ', "is cut off: .*write the record again"),
        ('{"a": "b", c}', "is not JSON: .* at line 1, column 12"),
        ('{"image": "1.jpg"}\n{"ima', "is cut off: .*line 2, .*write the record again, or remove it"),
        ("[" * 99999, "is nested too deeply"),
        (
            '{"dataset": "wds/x", "model": "ViT", "pretrained": "p", "task": "t", "metrics": {}}',
            "CLIP_benchmark.*open_clip",
        ),
        ('{"results": {"pope": {}}, "configs": {"pope": {}}}', "summary of lmms-eval.*samples_"),
        ('{"version": 2, "status": "success", "eval": {}, "plan": {}}', "log of inspect, without samples"),
        ('[{"id": 9, "prompt_image_1": "Does this ...", "response_image_1": "A"}]', "choices between two captions"),
        ('[{"id": 9, "prompt_caption_1": "Which ...", "response_caption_1": "A"}]', "choices between two captions"),
        ('[{"question_id": 1, "image": "1.jpg", "text": "Is it?", "label": "yes"}]', "questions without replies"),
        ('[{"image": "1.jpg", "said": "yes"}]', "its fields are of no form that holds replies: image, said; .*--reply"),
    ],
)
def test_json_without_replies_says_what_it_is_and_what_to_do(text, said, tmp_path):
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=re.compile(said, re.DOTALL)) as error:
        read(file)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", b"image,question,prediction\n1.jpg,Is it?,No,1\n", "line 2: has 4 cells, but there are 3 columns"),
        ("x.csv", b'image,question,prediction\n1.jpg,Is it?,"No\n', "line 2: is not a row of a table"),
        ("x.csv", "question,prediction\né,a\n".encode("latin-1"), "is not UTF-8; write the file again, as UTF-8"),
        ("x.csv", b"split,Overall\nall,85\n", "fields are of no form"),
        ("x.csv", b"text_score_i0,image_score_c0,caption\nTrue,True,a\n", "verdicts on cases"),
        ("x.txt", b"Is there a dog?\tYes\n", "line 1: its line has 2 cells, expected 4"),
        ("x.xlsx", b"hello", "cannot be read as .xlsx"),
        ("x.eval", b"hello", "log of inspect .*--to json"),
        ("x.parquet", b"hello", "is not a complete Parquet file"),
        ("x.pkl", b"hello", "write the table as .xlsx, .tsv or .json"),
        ("x.yml", b"hello", "expected a name that ends in"),
    ],
)
def test_a_broken_or_foreign_file_is_named_with_the_remedy(name, content, said, tmp_path):
    if name == "x.xlsx":
        pytest.importorskip("openpyxl")
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(OptionError, match=said) as error:
        read(file)
    assert str(error.value).startswith(str(file))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", "image,question,prediction,prediction\n1.jpg,Is it?,Yes,No\n", "has the column 'prediction' twice"),
        ("x.tsv", "image\tquestion\tprediction\tprediction\n1.jpg\tIs it?\tYes\tNo\n", "'prediction' twice"),
        ("x.csv", "image;question;Prediction;prediction\n1.jpg;Is it?;Yes;No\n", "'Prediction' and 'prediction'"),
        ("x.jsonl", '{"question": "Is it?", "prediction": "Yes", "prediction": "No"}', "line 1, .*'prediction'"),
        ("x.json", '[{"question": "Is it?", "prediction": "Yes", "prediction": "No"}]', "repeats the key 'prediction'"),
        (
            "x.json",
            '{"question": "Is it?", "pred": "a"}\n{"question": "Is?", "pred": "a", "pred": "b"}',
            "line 2, .*'pred'",
        ),
        ("x.jsonl", '{"question": "Is it?", "Prediction": "Yes", "prediction": "No"}', "line 1: 'Prediction' and"),
        ("x.jsonl", '{"question": "Is it?", "model output": "Yes", "Model_Output": "No"}', "rename one of them"),
    ],
)
def test_a_repeated_field_is_refused(name, content, said, tmp_path):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(OptionError, match=rf"{name}.*{said}"):
        read(tmp_path / name)


@pytest.mark.parametrize("suffix", ["xlsx", "parquet"])
def test_a_repeated_column_of_a_binary_table_is_refused(suffix, tmp_path):
    file, names, cells = tmp_path / f"x.{suffix}", ["question", "prediction", "prediction"], ["Is it?", "Yes", "No"]
    if suffix == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        book.active.append(names)
        book.active.append(cells)
        book.save(file)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table([[cell] for cell in cells], names=names), file)
    with pytest.raises(OptionError, match="has the column 'prediction' twice; rename one of them"):
        read(file)


def test_fields_of_one_name_that_agree_or_are_empty_are_no_contradiction(tmp_path):
    rows = [{"Prediction": "Yes", "prediction": "Yes"}, {"Prediction": None, "prediction": "No"}]
    assert [line.reply for line in lines(tmp_path, *({"question": QUESTION, **row} for row in rows))] == ["Yes", "No"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_with_a_quoted_header_is_split_by_its_mark(mark, tmp_path):
    cells = [f'"{name}"' for name in ("image", "question", "prediction")]
    text = f"{mark.join(cells)}\n1.jpg{mark}Is it red?{mark}Yes\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    [record] = read(tmp_path / "x.csv")
    assert (record.images, record.prompts, record.reply) == (("1.jpg",), (QUESTION,), "Yes")


def test_a_row_that_is_cut_off_has_no_reply(tmp_path):
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


def test_a_field_may_be_named_as_the_file_spells_it(tmp_path):
    files = write_lines(tmp_path / "x.jsonl", [{"image": "1.jpg", "question": QUESTION, "Qwen 2": "Yes"}])
    assert [read(*files, reply=name)[0].reply for name in ("Qwen 2", "qwen_2")] == ["Yes", "Yes"]


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(OptionError, match="is a folder; name the files in it"):
        read(tmp_path)
    with pytest.raises(OptionError, match="there is no such file"):
        read(tmp_path / "x.json")


def test_without_openpyxl_the_message_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "x.xlsx").write_bytes(b"x")
    with pytest.raises(OptionError, match=r"pip install openpyxl, or save it as \.tsv"):
        read(tmp_path / "x.xlsx")


def test_a_log_of_inspect_without_samples_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(OptionError, match="holds no samples; run inspect without --no-log-samples"):
        read(tmp_path / "x.eval")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"prediction": "Failed to obtain answer via API."}, "the harness got no reply"),
        ({"prediction": "Failed to obtain answer: <class 'RuntimeError'> CUDA"}, "the harness got no reply"),
        ({"prediction": None}, "it has no reply"),
        ({"prediction": ["Yes", "No"]}, "it has several replies"),
        ({"prediction": {"a": 1}}, "its reply is not a text"),
    ],
)
def test_a_record_without_a_reply_says_why(fields, problem, tmp_path):
    rows = [{"index": 1, "question": QUESTION, "prediction": "Yes"}, {"index": 2, "question": QUESTION, **fields}]
    assert [record.problem for record in lines(tmp_path, *rows)] == ["", problem]


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        ("", ""),
        (["Yes"], "Yes"),
        (["Yes", "Yes"], "Yes"),
        (True, "True"),
        (3, "3"),
        (3.0, "3"),
        ("\ud83d no", "\ud83d no"),
    ],
)
def test_a_reply_is_the_text_that_the_model_gave(value, reply, tmp_path):
    [record] = lines(tmp_path, {"image": "1.jpg", "question": QUESTION, "response": value})
    assert (record.reply, record.problem) == (reply, "")


@pytest.mark.parametrize(
    ("resps", "reply", "problem"),
    [
        ([["Yes"]], "Yes", ""),
        ([["Yes", "Yes"]], "Yes", ""),
        ([["Yes", "No"]], "", "it has several replies"),
        ([[[-1.5, False]], [[-0.2, True]]], "", "it has log-likelihoods of choices, not a reply in words"),
        ([], "", "it has no reply"),
    ],
)
def test_the_raw_replies_of_lmms_eval_count_not_the_filtered_ones(resps, reply, problem, tmp_path):
    row = {"doc_id": 0, "input": QUESTION, "target": "yes", "filtered_resps": ["yes"], "resps": resps}
    [record] = lines(tmp_path, row)
    assert (record.reply, record.problem) == (reply, problem)


def test_a_reply_that_a_cell_of_xlsx_cut_is_no_reply(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["index", "question", "prediction"], [1, QUESTION, "x" * 32767], [2, QUESTION, "Yes"], [None] * 3):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    first, second = read(tmp_path / "x.xlsx")
    assert "cut at 32,767 characters" in first.problem
    assert (second.reply, second.place) == ("Yes", "x.xlsx, row 3")


def test_an_image_in_base64_is_no_name(tmp_path):
    row = {"image": "/9j/4AAQ" * 200, "image_path": "a/1.jpg", "question": QUESTION, "output": "Yes"}
    assert lines(tmp_path, row)[0].images == ("a/1.jpg",)


@pytest.mark.parametrize("column", ["Image Name", "image_file", "IMG_PATH", "filename", "image_id"])
def test_columns_are_known_by_several_names(column, tmp_path):
    [record] = lines(
        tmp_path, {column: "1.jpg", "Query": QUESTION, "Model Output": "Yes", "GT": "yes", "Subset": "a,b"}
    )
    assert (record.images, record.prompts, record.reply) == (("1.jpg",), (QUESTION,), "Yes")
    assert (record.truth, record.hints) == ("yes", ("a", "b"))


def test_a_field_of_another_name_is_named_with_reply(tmp_path):
    files = write_lines(tmp_path / "x.jsonl", [{"image": "1.jpg", "question": QUESTION, "Qwen2-VL": "Yes"}])
    assert read(*files, reply="Qwen2-VL")[0].reply == "Yes"
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


def test_the_name_of_a_file_of_lmms_eval_has_the_task(tmp_path):
    assert read(*lmms_eval(tmp_path, [ITEM], "pope_adv"))[0].hints == ("pope_adv",)


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


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("Which?\nA. red\nB. blue\nAnswer.", ("red", "blue")),
        ("Which?\n(A) red\n(B) blue", ("red", "blue")),
        ("Which? (a) red (b) blue", ("red", "blue")),
        ("Which?\nB. red\nA. blue", ()),
        ("Is it A. B. Smith?", ()),
        ("Is it red?", ()),
    ],
)
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
