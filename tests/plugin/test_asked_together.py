"""A run with ``--ask=together``: the cases, gates and files are those of any run, and the report names the way."""

import json
from fnmatch import fnmatch

import pyarrow.parquet as pq
import pytest

from vlgate.cli import main

COMPARE = """
def answer(self, questions):
    return [self.chosen(q, [q.image]) for q in questions]

def compare(self, questions):
    return [self.chosen(q, q.images) for q in questions]

def chosen(self, q, images):
    reds = [image.load().getpixel((0, 0))[0] > 128 for image in images]
    if q.question.startswith("Which of the two texts"):
        return q.choices[0] if ('first text: "a red' in q.question) == reds[0] else q.choices[1]
    if q.question.startswith("Which of the"):
        return q.choices[reds.index('"a red' in q.question)]
    side = "second" in q.question
    return "yes" if ("red" in q.question) == reds[side] else "no"
"""
"""A model that tells red from blue in the first pixel."""


@pytest.fixture
def cases(place):
    def write(n=12):
        lines = []
        for i in range(n):
            for name, colour in (("r", (200, i, 0)), ("b", (i, 0, 200)), ("x", (0, i, 210))):
                place.image(f"../{name}{i}.png", colour)
            pair = {"images": [f"r{i}.png", f"b{i}.png"], "id": str(i)}
            lines += [
                {"task": "mine/swap", **pair, "captions": [f"a red {i}", f"a blue {i}"]},
                {"task": "mine/crossed", **pair, "questions": [f"Is {i} red?", f"Is {i} blue?"],
                 "answers": [["yes", "no"], ["no", "yes"]], "choices": ["yes", "no"]},
                {"task": "mine/pick", "id": str(i), "image": f"r{i}.png", "caption": f"a red {i}",
                 "other_images": [f"b{i}.png", *([f"x{i}.png"] if i % 2 else [])]},
                {"task": "mine/pair", "id": str(i), "image": f"r{i}.png", "question": "Is it red?", "answer": "yes"},
            ]  # fmt: skip
        (place.path / "data" / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    return write


GATES = "".join(
    f'[gate."mine/{task}".{metric}]\nmin = 0.5\nmin_cases = 2\nwhy = "x"\n'
    for task, metric in (("swap", "group"), ("crossed", "g_acc"), ("pick", "top1_image"))
)


def test_the_same_gates_judge_a_model_that_sees_both_images(place, cases):
    cases()
    place.thresholds(GATES)
    result = place.run(place.model(COMPARE), "--ask=together", ret=0)
    result.stdout.fnmatch_lines(["PASS: *3 of 3 gates pass*", "*asked with their images together*mine/crossed, mine/*"])
    metrics = place.metrics()
    assert "compare(): several images in one prompt" in metrics["model"]["adapters"]["Compare"]
    assert {name: task.get("ask") for name, task in metrics["tasks"].items()} == {
        "mine/swap": "together", "mine/crossed": "together", "mine/pick": "together", "mine/pair": None,
    }  # fmt: skip
    assert place.task("mine/swap")["metrics"]["group"]["chance"] == pytest.approx(1 / 256)
    assert "group_match" not in place.task("mine/swap")["metrics"]
    assert json.loads((place.path / "out" / "environment.json").read_text())["options"]["ask"] == "together"
    summary = (place.path / "out" / "summary.md").read_text()
    assert "- Compare requests: compare()" in summary
    assert "--ask=together" in summary
    page = (place.path / "out" / "report.html").read_text()
    assert page.count("Asked with the images of a case together (--ask=together)") == 3
    assert main(["judge", str(place.path / "out"), "--thresholds", str(place.path / "thresholds.toml")]) == 0


def test_a_model_that_names_a_position_passes_no_gate(place, cases):
    cases()
    place.thresholds(GATES)
    first = "def answer(self, questions):\n    return [q.choices[0] for q in questions]\ncompare = answer"
    place.run(place.model(first), "--ask=together", ret=1)
    assert {gate["decision"] for gate in place.metrics()["gates"]} == {"fail"}
    assert place.task("mine/swap")["metrics"]["image"]["value"] == 0.0


def test_the_recorded_replies_judge_the_same_and_the_files_show_both_images(place, cases):
    cases()
    place.run("--model=random", "--ask=together", "--health=off")
    figures = {name: task["metrics"] for name, task in place.metrics()["tasks"].items()}
    rows = pq.read_table(place.path / "out" / "predictions.parquet").to_pylist()
    several = [row for row in rows if row["images"] is not None]
    assert ["r3.png", "b3.png"] in [row["images"] for row in several]
    assert ["b3.png", "r3.png"] in [row["images"] for row in several]
    assert all(row["image"] is None for row in several)
    page = (place.path / "out" / "report.html").read_text()
    assert "AB" in page
    (place.path / "rows.parquet").write_bytes((place.path / "out" / "predictions.parquet").read_bytes())
    place.run("--model=replay:rows.parquet", "--ask=together", "--health=off")
    assert {name: task["metrics"] for name, task in place.metrics()["tasks"].items()} == figures


def test_a_run_apart_has_the_files_of_before_and_is_not_compared_with_one_together(place, cases, vlgate):
    cases()
    place.run("--model=random", "--health=off", "--results=apart")
    assert "images" not in pq.read_table(place.path / "apart" / "predictions.parquet").column_names
    assert "Compare" not in place.metrics("apart")["model"]["adapters"]
    assert (place.path / "apart" / "report.html").exists()  # cases of one task have different numbers of candidates
    place.run("--model=random", "--health=off", "--ask=together")
    assert "asks something else" in vlgate("compare", place.path / "apart", place.path / "out", status=4)


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        ("reader", (), "*'reader' has no method compare(), which --ask=together needs*leave --ask out*"),
        ("oracle", ("--suite=mine/pair",), "*--ask=together: no case of these tasks has several images*"),
        ("oracle", ("-m", "shrink"), "*-m shrink: with --ask=together*leave --ask out*"),
        ("oracle", ("--ask=both",), "*--ask*both*"),
    ],
)
def test_what_cannot_be_asked_so_is_refused_at_the_start(place, cases, model, options, says):
    cases(2)
    result = place.run(f"--model={model}", "--ask=together", *options)
    assert result.ret not in {0, 1} or "no tests ran" in result.stdout.str()
    lines = [*result.stdout.lines, *result.stderr.lines]
    assert any(fnmatch(line, says) for line in lines), lines


def test_workers_and_parts_ask_the_same(place, cases):
    cases()
    place.run("--model=random", "--ask=together", "--health=off", "--results=one")
    place.run("--model=random", "--ask=together", "--health=off", "--items=batch", "--batch-size=3", "--results=two")
    one, two = ({name: task["metrics"] for name, task in place.metrics(of)["tasks"].items()} for of in ("one", "two"))
    assert one == two


@pytest.mark.slow
def test_the_texts_of_what_is_asked_together_are_not_examined(place, cases):
    """The flaws and text-only rules of a task are of its own texts, not of questions about positions."""
    cases(20)
    place.run("--model=random", "--health=on", "--results=apart")
    place.run("--model=random", "--health=on", "--ask=together")
    apart, together = (
        {name for name, task in place.metrics(of)["tasks"].items() if "probes" in task} for of in ("apart", "out")
    )
    assert {"mine/swap", "mine/crossed", "mine/pair"} <= apart
    assert together == {"mine/pair"}


TWINS = """
def answer(self, questions):
    return ["I cannot tell."] * len(questions)

compare = answer
"""


def test_unread_answers_are_counted_in_every_file_whatever_the_shape(place, cases, vlgate):
    cases(4)
    place.thresholds(GATES)
    place.run(place.model(TWINS), "--ask=together", "--results=together")
    for name, task in place.metrics("together")["tasks"].items():
        assert task["unread"] == task["judged"] == 4, name
    assert all(
        "no case has answers that could all be read" in decision["why"] for decision in decisions(place, "together")
    )
    summary = (place.path / "together" / "summary.md").read_text()
    assert summary.count("4 of 4 judged cases have an answer that names none of the choices") == 4
    assert "16 with an answer that could not be read" in vlgate("misses", place.path / "together")


def decisions(place, folder):
    return [metric for metric in place.metrics(folder)["gates"] if metric["decision"] == "fail"]


def test_a_model_that_compares_but_does_not_answer_is_refused_for_two_texts_only(place, cases):
    cases()
    body = COMPARE.replace("def answer(self", "def unused(self")
    refused = place.run(place.model(body), "--ask=together", "--suite=mine/swap")
    refused.stdout.fnmatch_lines(["*has compare(), but no method answer()*"])
    assert refused.ret == 4
    assert place.run(place.model(body), "--ask=together", "--suite=mine/pick").ret == 0
