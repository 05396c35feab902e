"""``--ask=together`` and tasks made from scene graphs: the cases, gates and files are those of any run."""

import json
from fnmatch import fnmatch

import pyarrow.parquet as pq
import pytest
from builders import tabled, write_lines

from vlgate.cli import main
from vlgate.fixtures.scenes.scene_graphs import as_gqa, image_of, world_graphs
from vlgate.perturb.questions import BEYOND, TESTS

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
def together_cases(place):
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
        write_lines(place.path / "data" / "cases.jsonl", lines)
        place.thresholds(GATES)

    return write


GATES = "".join(
    f'[gate."mine/{task}".{metric}]\nmin = 0.5\nmin_cases = 2\nwhy = "x"\n'
    for task, metric in (("swap", "group"), ("crossed", "g_acc"), ("pick", "top1_image"))
)


def figures(place, folder="out"):
    return {name: task["metrics"] for name, task in place.metrics(folder)["tasks"].items()}


def test_the_same_gates_judge_a_model_that_sees_both_images_and_not_one_that_names_a_position(place, together_cases):
    together_cases()
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
    first = "def answer(self, questions):\n    return [q.choices[0] for q in questions]\ncompare = answer"
    place.run(place.model(first), "--ask=together", ret=1)
    assert {gate["decision"] for gate in place.metrics()["gates"]} == {"fail"}
    assert place.task("mine/swap")["metrics"]["image"]["value"] == 0.0


def test_the_recorded_replies_judge_the_same_and_a_run_apart_is_not_compared(place, together_cases, vlgate):
    together_cases()
    place.run("--model=random", "--ask=together", "--health=off")
    before = figures(place)
    rows = pq.read_table(place.path / "out" / "predictions.parquet").to_pylist()
    several = [row for row in rows if row["images"] is not None]
    assert ["r3.png", "b3.png"] in [row["images"] for row in several]
    assert ["b3.png", "r3.png"] in [row["images"] for row in several]
    assert all(row["image"] is None for row in several)
    page = (place.path / "out" / "report.html").read_text()
    assert "AB" in page
    (place.path / "out" / "predictions.parquet").rename(place.path / "rows.parquet")
    place.run("--model=replay:rows.parquet", "--ask=together", "--health=off")
    assert figures(place) == before
    place.run(
        "--model=random", "--ask=together", "--health=off", "--items=batch", "--batch-size=3", "--results=batches"
    )
    assert figures(place, "batches") == before
    together_cases()
    place.run("--model=random", "--health=off", "--results=apart")
    assert "images" not in pq.read_table(place.path / "apart" / "predictions.parquet").column_names
    assert "Compare" not in place.metrics("apart")["model"]["adapters"]
    assert (place.path / "apart" / "report.html").exists()  # cases of one task have different numbers of candidates
    place.run("--model=random", "--health=off", "--ask=together")
    assert "asks something else" in vlgate("compare", place.path / "apart", place.path / "out", status=4)


@tabled
def test_what_cannot_be_asked_so_is_refused_at_the_start(place, together_cases, model, options, says):
    together_cases(2)
    result = place.run(f"--model={model}", "--ask=together", *options)
    assert result.ret not in {0, 1} or "no tests ran" in result.stdout.str()
    lines = [*result.stdout.lines, *result.stderr.lines]
    assert any(fnmatch(line, says) for line in lines), lines


@pytest.mark.slow
def test_the_texts_of_what_is_asked_together_are_not_examined(place, together_cases):
    """The flaws and text-only rules of a task are of its own texts, not of questions about positions."""
    together_cases(20)
    place.run("--model=random", "--health=on", "--results=apart")
    place.run("--model=random", "--health=on", "--ask=together")
    apart, together = (
        {name for name, task in place.metrics(of)["tasks"].items() if "probes" in task} for of in ("apart", "out")
    )
    assert {"mine/swap", "mine/crossed", "mine/pair"} <= apart
    assert together == {"mine/pair"}


TWINS = "def answer(self, questions):\n    return ['I cannot tell.'] * len(questions)\ncompare = answer"


def test_unread_answers_are_counted_and_a_model_that_only_compares_is_refused(place, together_cases, vlgate):
    together_cases(4)
    place.run(place.model(TWINS), "--ask=together", "--results=together")
    for name, task in place.metrics("together")["tasks"].items():
        assert task["unread"] == task["judged"] == 4, name
    failed = [gate["why"] for gate in place.metrics("together")["gates"] if gate["decision"] == "fail"]
    assert all("no case has answers that could all be read" in why for why in failed)
    summary = (place.path / "together" / "summary.md").read_text()
    assert summary.count("4 of 4 judged cases have an answer that names none of the choices") == 4
    assert "16 with an answer that could not be read" in vlgate("show", place.path / "together")
    together_cases()
    body = COMPARE.replace("def answer(self", "def unused(self")
    refused = place.run(place.model(body), "--ask=together", "--suite=mine/swap")
    refused.stdout.fnmatch_lines(["*has compare(), but no method answer()*"])
    assert refused.ret == 4
    assert place.run(place.model(body), "--ask=together", "--suite=mine/pick").ret == 0


GRAPHS = world_graphs(6, 50)

LOOKS = """
def answer(self, questions):
    return [question.choices[question.image.load().width % len(question.choices)] for question in questions]
"""


@pytest.fixture
def folder(tmp_path):
    """A data folder with graphs in GQA's format, as "7000" and so on, and the images of ten of them."""
    (tmp_path / "gqa").mkdir()
    content = {str(7000 + index): as_gqa(graph) for index, graph in enumerate(GRAPHS)}
    (tmp_path / "gqa" / "train_sceneGraphs.json").write_text(json.dumps(content))
    (tmp_path / "images/gqa").mkdir(parents=True)
    for index in range(10):
        image_of(GRAPHS[index]).load().save(tmp_path / f"images/gqa/{7000 + index}.jpg")
    return tmp_path


@pytest.fixture
def run(place, folder):
    place.model(LOOKS, "looks")

    def start(*arguments, out="out"):
        given = ("--suite=scene-graphs/*", "--pairs=12", f"--data={folder}", f"--results={out}")
        result = place.run(*given, *arguments, data=False)
        return result, place.metrics(out)["tasks"] if (place.path / out / "metrics.json").exists() else {}

    return start


@pytest.mark.parametrize(
    "arguments",
    [("--limit=5",), *(pytest.param(one, marks=pytest.mark.slow) for one in ((), ("-n", "2"), ("--seed=3",)))],
    ids=str,
)
def test_the_oracle_is_right_everywhere(run, arguments):
    result, found = run("--model=oracle", *arguments)
    assert result.ret == 0
    assert {task.partition("/")[2] for task in found} == {*TESTS, *BEYOND}
    assert {task["metrics"]["c_acc"]["value"] for task in found.values()} == {1.0}
    assert {task["unscored"] for task in found.values()} == {0}


@pytest.mark.slow
def test_missing_images_end_the_run_or_are_skipped_and_an_ini_file_may_hold_the_number_of_pairs(run, place, folder):
    result, found = run("--model=looks:build", out="fail")
    assert (result.ret, found) == (4, {})
    _, found = run("--model=looks:build", "--missing-images=skip", out="skip")
    for task in found.values():
        assert 0 < task["skipped"] <= task["cases"]
        assert task["skipped"] + task["judged"] == task["cases"]
    assert any(task["judged"] for task in found.values())
    file = folder / "gqa" / "train_sceneGraphs.json"
    content = json.loads(file.read_text())
    del content["7001"]["objects"]
    file.write_text(json.dumps(content))
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_pairs = 17\n")
    place.run("--model=oracle", f"--data={folder}", "--suite=scene-graphs/order-inv", data=False, ret=0)
    task = place.task("scene-graphs/order-inv")
    assert (task["cases"], task["left_out"]["no objects"]) == (17, 1)
    assert "1 no objects" in (place.path / "out/summary.md").read_text()
