"""``vlgate import``: what it prints and writes, and that the replay it writes gives the figures that were recorded."""

import json
import subprocess
import sys

import pytest
from builders import read_lines, tabled
from builders import write_lines as write

from vlgate.cli import main
from vlgate.errors import program

QUESTIONS = [
    {"task": f"mine/{('cups', 'dogs')[n % 2]}", "id": str(n), "image": f"{n:012d}.jpg", "question": "Is it red?"}
    | {"answer": ("yes", "no")[n % 3 == 0]}
    for n in range(40)
]
TASKS = {"cups", "dogs"}


def rows(*, wrong=7):
    """Replies to all questions in the words of a model, each seventh wrong."""
    for number, row in enumerate(QUESTIONS):
        right = (row["answer"] == "yes") != (number % wrong == 0)
        reply = "Yes, it is \u201cred\u201d." if right else "No."
        yield {"image": f"COCO_val2014_{row['image']}", "prompt": "Is it red? Answer yes or no.", "response": reply}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "cases.jsonl", QUESTIONS)
    write(tmp_path / "replies.jsonl", rows())
    return tmp_path


def run(*arguments):
    return main(["import", *arguments])


def test_all_is_joined_with_the_next_command_or_counted_by_reason(folder, capsys):
    assert run("replies.jsonl", "--data=data") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "replies.jsonl (replies): 40 of 40 records are joined",
        "mine/cups: 20 of 20 requests have a reply",
        "mine/dogs: 20 of 20 requests have a reply",
        "replay.jsonl: 40 replies",
        "next: pytest --pyargs tests_vl --model=replay:replay.jsonl --data=data",
    ]
    replies = [keyed([case])[0] | {"answer": row["response"]} for case, row in zip(QUESTIONS, rows(), strict=True)]
    assert read_lines(folder / "replay.jsonl") == replies[::2] + replies[1::2]
    more = [{"image": "7.jpg", "prompt": f"Is it {colour}?", "response": "No"} for colour in ("blue", "green")]
    write(folder / "replies.jsonl", [*rows(), *more, {"image": "99.jpg", "prompt": "Is it red?", "response": "No"}])
    assert run("replies.jsonl", "--data=data", "--suite=mine/cups", "--out=cups.jsonl") == 0
    lines = capsys.readouterr().out.splitlines()
    what = "21 x no planned case asks its question of its image"
    assert lines[:3] == [
        "replies.jsonl (replies): 20 of 43 records are joined",
        f"left out: {what}; the first is replies.jsonl, line 2: 'Is it red? Answer yes or no.'",
        "left out: 2 x no planned case asks its question; the first is replies.jsonl, line 41: 'Is it blue?'",
    ]
    assert lines[-1].endswith(" --suite=mine/cups")


def test_a_command_that_the_shell_would_not_find_is_printed_with_its_path(folder, capsys, monkeypatch):
    (folder / "venv").mkdir()
    (folder / "venv/vlgate").touch()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(folder / "venv/python"))
    assert run("replies.jsonl", "--data=data") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("next: venv/python -m pytest --pyargs tests_vl ")
    assert program("vlgate") == "venv/vlgate"
    monkeypatch.chdir(folder / "data")
    assert program("vlgate") == str(folder / "venv/vlgate")


@pytest.mark.slow
def test_the_replay_gives_the_figures_that_were_recorded(folder, capsys):
    assert run("replies.jsonl", "--data=data") == 0
    command = capsys.readouterr().out.splitlines()[-1].removeprefix("next: pytest ").split()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *command, "--results=out"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    tasks = json.loads((folder / "out" / "metrics.json").read_text())["tasks"]
    right = {task: sum(n % 7 > 0 for n in range(40) if n % 2 == index) for index, task in enumerate(sorted(TASKS))}
    assert {name: task["metrics"]["accuracy"]["value"] for name, task in tasks.items()} == {
        f"mine/{task}": number / 20 for task, number in right.items()
    }, ended.stdout
    assert [task["metrics"]["read"]["value"] for task in tasks.values()] == [1, 1]


def test_nothing_joined_and_a_contradiction_are_status_4_and_nothing_is_written(folder, capsys):
    write(folder / "replies.jsonl", [{"image": "x.jpg", "question": "What?", "prediction": "This."}])
    assert run("replies.jsonl", "--data=data") == 4
    printed = capsys.readouterr()
    assert "left out: 1 x no planned case asks its question" in printed.out
    assert printed.err == "vlgate import: no record is joined, and nothing is written; the reasons are above\n"
    assert not (folder / "replay.jsonl").exists()
    (folder / "replay.jsonl").write_text("old")
    first = next(iter(rows()))
    write(folder / "replies.jsonl", [*rows(), {**first, "response": "Perhaps"}])
    assert run("replies.jsonl", "--data=data", "--overwrite") == 4
    assert "replies.jsonl, line 1 and replies.jsonl, line 41 contradict each other" in capsys.readouterr().err
    assert (folder / "replay.jsonl").read_text() == "old"


def keyed(rows):
    return [{name: row[name] for name in ("image", "question", "answer")} for row in rows]


@pytest.mark.parametrize("words", [str, str.capitalize, "{}.".format, "Answer: {}".format, str.upper])
def test_the_right_answers_of_the_benchmark_are_no_replies(words, folder, capsys):
    write(folder / "truths.jsonl", [{**row, "answer": words(row["answer"])} for row in keyed(QUESTIONS)])
    assert run("truths.jsonl", "--data=data") == 4
    said = capsys.readouterr().err
    assert "truths.jsonl: 40 of 40 replies in 'answer' are the right answers" in said
    assert "add --reply=answer" in said
    assert not (folder / "replay.jsonl").exists()


@pytest.mark.parametrize("words", [str, str.upper, lambda letter: letter[1], lambda letter: f"{letter[1].upper()}."])
def test_letters_of_options_are_right_answers_too(words, folder, capsys):
    (folder / "data" / "mmvp").mkdir()
    letters = ["(a)", "(b)"] * 10
    asked = [f"Is door {n // 2} open?" for n in range(20)]
    lines = [f'{n + 1},{asked[n]},"(a) Yes, it is (b) Not at all",{letter}' for n, letter in enumerate(letters)]
    text = "\n".join(["Index,Question,Options,Correct Answer", *lines])
    (folder / "data" / "mmvp" / "Questions.csv").write_text(text, encoding="utf-8")
    key = [{"image": f"{n + 1}.jpg", "question": asked[n], "answer": words(letters[n])} for n in range(20)]
    write(folder / "key.jsonl", key)
    assert run("key.jsonl", "--data=data") == 4
    assert "key.jsonl: 20 of 20 replies in 'answer' are the right answers" in capsys.readouterr().err


def test_right_answers_are_refused_beside_replies_and_if_another_task_corrects_some(folder, capsys):
    write(folder / "cups.jsonl", keyed(QUESTIONS[::2]))
    wrong = {"yes": "no", "no": "yes"}
    write(folder / "dogs.jsonl", [{**row, "answer": wrong[row["answer"]]} for row in keyed(QUESTIONS[1::2])])
    assert run("dogs.jsonl", "cups.jsonl", "--data=data") == 4
    assert "cups.jsonl: 20 of 20 replies" in capsys.readouterr().err
    corrected = [{**row, "task": "mine/corrected", "answer": "no"} for row in QUESTIONS]
    write(folder / "data" / "cases.jsonl", [*QUESTIONS, *corrected])
    write(folder / "truths.jsonl", keyed(QUESTIONS))
    assert run("truths.jsonl", "--data=data") == 4
    assert "40 of 40 replies" in capsys.readouterr().err


def test_a_perfect_model_is_imported_if_the_field_is_named(folder, capsys):
    write(folder / "perfect.jsonl", keyed(QUESTIONS))
    assert run("perfect.jsonl", "--data=data", "--reply=answer") == 0
    note = "note: perfect.jsonl: 40 of 40 replies in 'answer' are the right answers, as in the benchmark's own column"
    assert f"{note}; check that they are a model's" in capsys.readouterr().out.splitlines()
    assert len((folder / "replay.jsonl").read_text().splitlines()) == 40
    write(folder / "errs.jsonl", [{**row, "answer": "no"} for row in keyed(QUESTIONS)])
    assert run("errs.jsonl", "--data=data", "--overwrite") == 0
    assert "note" not in capsys.readouterr().out


def test_labels_that_differ_from_the_benchmarks_are_told(folder, capsys):
    labelled = [{**row, "label": case["answer"]} for row, case in zip(rows(), QUESTIONS, strict=True)]
    labelled[1]["label"] = "no"
    write(folder / "replies.jsonl", labelled)
    assert run("replies.jsonl", "--data=data") == 0
    note = (
        "note: 1 records have another right answer than the benchmark, which counts; the first is replies.jsonl, line 2"
    )
    assert note in capsys.readouterr().out


@tabled
@pytest.mark.usefixtures("folder")
def test_an_option_that_cannot_be_used_is_status_4(arguments, said, capsys):
    assert run(*arguments) == 4
    assert said in capsys.readouterr().err


def test_letters_of_options_that_only_the_prompt_lists_become_their_texts(folder, capsys):
    colours = ["red", "blue", "green"]
    truths = [colours[n % 3] for n in range(40)]
    cases = [
        {"task": "mine/twins", "id": str(n), "twin": f"t{n}.jpg", "image": f"{n}.jpg",
         "question": f"Which colour has {n}?", "choices": colours, "prior": colours[(n + 1) % 3], "answer": truths[n]}
        for n in range(40)
    ]  # fmt: skip
    write(folder / "data" / "cases.jsonl", cases)
    table = [
        {"image": f"{n}.jpg", "question": f"Which colour has {n}?", "A": "red", "B": "blue", "C": "green",
         "prediction": form.format("ABC"[n % 3])}
        for n, form in zip(range(40), ["{}", "({})", "The answer is {}.", "blue"] * 10, strict=True)
    ]  # fmt: skip
    write(folder / "letters.jsonl", table)
    assert run("letters.jsonl", "--data=data") == 0
    assert "note: 30 replies name an option by its letter" in capsys.readouterr().out
    written = [row["answer"] for row in read_lines(folder / "replay.jsonl")]
    assert written == [truths[n] if n % 4 < 3 else "blue" for n in range(40)]


def test_a_yes_or_no_beside_a_score_is_kept(folder):
    statements = [
        {"task": "mine/statement", "id": str(n), "image": f"{n}.jpg", "statement": f"It is {n}.", "is_true": n % 2 == 0}
        for n in range(4)
    ]
    write(folder / "data" / "cases.jsonl", statements)
    scored = [{"image": f"{n}.jpg", "text": f"It is {n}.", "score": 0.5, "match": n % 2 == 0} for n in range(4)]
    write(folder / "scored.jsonl", scored)
    assert run("scored.jsonl", "--data=data") == 0
    assert read_lines(folder / "replay.jsonl") == scored
