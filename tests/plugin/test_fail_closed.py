"""Situations in which a run must not say "pass"; neither positions, nor other data in a worker, nor the truths help."""

import json
from pathlib import Path

import pytest
from builders import tabled

from vlgate.__main__ import main
from vlgate.plugin.collected import batch_name
from vlgate.record.results_folder import NAMES
from vlgate.run import concluding


@tabled
def test_brackets_in_the_path_hide_no_batch(nodeid, name):
    assert batch_name(nodeid) == name


REVERSED = """
import pytest
from dataclasses import replace
from vlgate.judging.verdicts import judge
from vlgate.asking.predictor import score

@pytest.mark.foil
def test_reversed(batch, model, ledger):
    replies = {r: replace(p, score=-p.score) for r, p in score(model, batch).items()}
    ledger.record(judge(batch, replies))
"""


@pytest.mark.slow
def test_a_second_test_of_the_same_cases_fails_the_run(data, wrong, workers):
    (data.path / "test_flattering.py").write_text(REVERSED)
    result = data.run(wrong, "test_flattering.py", *workers, ret=1)
    result.stdout.fnmatch_lines(["fail *valse/existence *asked-once *", "  two tests ask the same cases*"])


@pytest.mark.slow
@tabled
def test_the_thresholds_are_those_of_the_start_folder_or_the_ini_file(place, right, monkeypatch, keys, named, status):
    place.ready('[gate."valse/*".acc_r]\nmin = 0.99\n')
    (place.path / "below").mkdir()
    (place.path / "pytest.ini").write_text(f"[pytest]\n{keys}")
    if status == 0:
        (place.path / named).write_text('schema = 1\n[gate."valse/*".acc_r]\nmin = 0.5\n')
    (place.path / "right_model.py").rename(place.path / "below/right_model.py")
    monkeypatch.chdir(place.path / "below")
    result = place.run(right, f"--results={place.path / 'out'}", data=False, subprocess=True, ret=status)
    assert place.metrics()["run"]["thresholds"] == str(place.path / named)
    result.stdout.fnmatch_lines([f"gates from {place.path / named}"])


@pytest.mark.parametrize("make", [Path.mkdir, lambda file: file.symlink_to("gone.toml")], ids=["folder", "link"])
def test_thresholds_of_the_start_folder_that_cannot_be_read_are_not_passed_over(place, right, monkeypatch, make):
    place.ready('[gate."valse/*".acc_r]\nmin = 0.5\n')
    (place.path / "below").mkdir()
    (place.path / "pytest.ini").write_text("[pytest]\n")
    make(place.path / "below/thresholds.toml")
    (place.path / "right_model.py").rename(place.path / "below/right_model.py")
    monkeypatch.chdir(place.path / "below")
    says = "*below/thresholds.toml: *; name another file with --thresholds*"
    place.run(right, data=False, subprocess=True, ret=4, error=says)
    assert main(["check", "--data", str(place.path / "data")]) != 0


@pytest.mark.slow
def test_a_data_folder_in_addopts_leaves_the_rootdir_alone(place, right, monkeypatch):
    place.ready('[gate."valse/*".acc_r]\nmin = 0.99\n')
    (place.path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--data {place.path / 'data'}")
    place.run(right, data=False, subprocess=True, ret=1)
    assert place.metrics()["run"]["thresholds"] == str(place.path / "thresholds.toml")


ACCEPTS = """
def match(self, pairs):
    return np.array([-float(len(pair.text)) for pair in pairs])

def accepts(self, pairs):
    return np.array([1.0 if int(pair.text.split()[-2]) < 35 else np.nan for pair in pairs])
"""


def test_a_model_that_abstains_does_not_choose_what_it_is_graded_on(place):
    place.ready('[gate."valse/*".p_c]\nmin = 0.5\n')
    place.run(place.model(ACCEPTS), ret=1)
    assert "35 of 40 judged cases" in place.metrics()["gates"][0]["why"]


UPSIDE_DOWN = """
def __init__(self):
    from vlgate.fixtures.bag_of_words import build
    self.model = build()
def encode_images(self, images):
    return -self.model.encode_images(images)
def encode_texts(self, texts):
    return self.model.encode_texts(texts)
"""


@pytest.mark.slow
def test_a_reversed_score_fails_the_run_by_its_own_name(place, workers):
    place.thresholds('[gate."scenes/foil-it".acc_r]\nmax = 0.99\n')
    result = place.run(place.model(UPSIDE_DOWN), "--suite=scenes/foil-it", *workers, data=False, ret=1)
    result.stdout.fnmatch_lines(["inconclusive: model:polarity: *"])
    assert [check["outcome"] for check in place.metrics()["model"]["checks"]] == ["suspect", "ok", "ok"]


def test_answers_that_cannot_be_read_are_wrong_and_counted_and_can_be_gated(place):
    place.thresholds('[gate."scenes/negation-dir".c_acc]\nmin = 0.2\n[gate."scenes/negation-dir".read]\nmin = 0.5\n')
    model = place.model("def answer(self, questions):\n    return ['maybe ' + q.question for q in questions]")
    result = place.run(model, "--suite=scenes/negation-dir", "--limit=40", data=False, ret=1)
    task = place.task("scenes/negation-dir")
    assert (task["judged"], task["unscored"], task["unread"]) == (40, 0, 40)
    assert [task["metrics"][name]["value"] for name in ("c_acc", "read")] == [0.0, 0.0]
    assert [(gate["gate"], gate["decision"]) for gate in place.metrics()["gates"]] == [
        ("scenes/negation-dir:c_acc", "fail"),
        ("scenes/negation-dir:read", "fail"),
    ]
    result.stdout.fnmatch_lines(["with an unread answer: 40 cases in scenes/negation-dir"])
    summary = (place.path / "out" / "summary.md").read_text()
    [line] = [line for line in summary.splitlines() if "names none of the choices" in line]
    assert line.startswith("- scenes/negation-dir: 40 of 40 judged cases have an answer that names none of the choices")
    assert line.count("'maybe ") == 3


def test_variants_averages_flaws_and_shortcuts_are_reported_with_the_figures(place, right):
    def change(i, record):
        record["foil"] = record["caption"] if i == 3 else record["foil"]
        if i == 7:
            record |= {"image_file": "v7w_100.jpg", "caption": "There are 0 dogs.", "foil": "There are no 0 dogs."}

    place.ready(n=60, change=change)
    result = place.run(right, "--protocol=valse_paper_ties")
    result.stdout.fnmatch_lines(
        ["valse/existence:acc_r: a text-only model reaches 0.983, so min = 0.5 can be reached*"]
    )
    task = place.task()
    assert task["metrics"]["acc_r"]["value"] == pytest.approx(59 / 60)
    assert "acc_r@valse_paper_ties" in task["metrics"]
    assert task["flaws"]["equal texts"]["count"] == 1
    assert task["flaws"]["duplicate"]["examples"] == ["record_7"]
    assert task["probes"]["shorter text"]["value"] > 0.9
    assert place.metrics()["averages"]["valse:acc_r"] == {"value": 59 / 60, "tasks": 1, "of": 11}
    result.stdout.fnmatch_lines(["valse:acc_r: mean 0.983 over 1 of 11 tasks"])
    summary = (place.path / "out" / "summary.md").read_text()
    for title in ("Checks of the model", "Solved without the image", "Flaws of the data", "Published figures"):
        assert f"\n## {title}\n" in summary
    page = (place.path / "out" / "report.html").read_text()
    assert all("published (VALSE, table 4): " in text for text in (summary, page))
    assert (
        "Flaw of the data: 1 x duplicate (an earlier case asks the same of the same image), for example record_7"
        in page
    )


@pytest.mark.parametrize(("health", "says"), [("auto", True), ("on", False), ("off", False)])
def test_the_summary_says_if_large_tasks_were_not_examined(place, right, monkeypatch, health, says):
    monkeypatch.setattr(concluding, "EXAMINED_CASES", 39)
    place.ready(n=40)
    place.run(right, f"--health={health}")
    assert ("not examined" in (place.path / "out" / "summary.md").read_text()) == says
    assert ("probes" in place.task()) == (health == "on")


def test_a_task_some_of_whose_files_are_missing_says_so(place):
    rows = [
        {"img_id": "1", "label": {answer: 1.0}, "question_id": name, "sent": text, "assignment": {}}
        for name, text, answer in (("1-0-0", "Is there a dog?", "yes"), ("1-0-0-n", "Is there no dog?", "no"))
    ]
    file = place.path / "data/carets/questions/object_verification_negation_test.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(rows))
    result = place.run("--model=oracle")
    result.stdout.fnmatch_lines(["carets/negation-dir: 1 of its 4 files are there; *is not"])


BY_POSITION = "def match(self, pairs):\n    return np.arange(len(pairs))[::-1].astype(float)"
LATE = """
import os, time

if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
    time.sleep(1.5)
"""


@pytest.mark.slow
def test_the_model_is_checked_although_the_first_worker_has_no_test(place, monkeypatch):
    place.ready(n=100)
    (place.path / "late.py").write_text(LATE)
    monkeypatch.setenv("PYTHONPATH", str(place.path))
    place.run(place.model(BY_POSITION), "--items=batch", "-n", "2", "-p", "late", subprocess=True, ret=1)
    assert place.decisions()["model:batch_invariance"] == "inconclusive"
    assert place.metrics()["complete"]


def test_a_model_that_forgets_what_it_said_is_inconclusive_in_every_report(data):
    model = data.matching("-float(len(pair.text)) + self.calls", "self.calls += 1", "calls = 0")
    result = data.run(model, "--junitxml=junit.xml", ret=1)
    assert data.decisions()["model:determinism"] == "inconclusive"
    result.stdout.fnmatch_lines(["inconclusive: model:determinism: *"])
    assert 'name="model:determinism"' in (data.path / "junit.xml").read_text()


CHANGING = """
import json, pathlib

def pytest_configure(config):
    if hasattr(config, "workerinput"):
        file = pathlib.Path(__file__).parent / "data/valse/existence.json"
        records = json.loads(file.read_text())
        for record in records.values():
            CHANGE
        file.write_text(json.dumps(records))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["record.update(caption=record['foil'], foil=record['caption'])", "record['image_file'] = 'v7w_100.jpg'"],
    ids=["texts", "images"],
)
def test_data_that_change_while_a_run_starts_fail_it(data, wrong, change):
    (data.path / "conftest.py").write_text(CHANGING.replace("CHANGE", change))
    result = data.run(wrong, "-n", "1", ret=1)
    assert data.decisions()["run:same-data"] == "fail"
    assert data.task()["judged"] == 0
    result.stdout.fnmatch_lines(["fail: run:same-data: the worker gw0 read other data*"])


WRAPPING = """
import pytest
from dataclasses import replace

class Wrapped:
    def __init__(self, model):
        self.model = model
    def predict(self, requests):
        return {r: replace(p, score=-p.score) for r, p in self.model.predict(requests).items()}

@pytest.fixture(scope="session")
def model(model):
    return Wrapped(model)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "says"),
    [
        (WRAPPING, "*the fixture 'model' is not vlgate's*"),
        (
            WRAPPING.replace("return Wrapped(model)", "model.predictor = Wrapped(model.predictor)\n    return model"),
            "*Error: *'predictor'*",  # a field that is frozen, or in a worker not there
        ),
    ],
    ids=["wraps", "puts another inside"],
)
def test_a_fixture_of_the_users_cannot_replace_the_model(data, wrong, workers, conftest, says):
    (data.path / "conftest.py").write_text(conftest)
    data.run(wrong, *workers, ret=1, says=says)
    assert data.task()["judged"] == 0


@pytest.mark.slow
def test_a_model_that_ends_the_process_leaves_no_file_of_an_earlier_run_but_its_children_may_end(data, right):
    data.run(right, ret=0)
    result = data.run(data.matching(first="os._exit(0)"), subprocess=True, ret=1)
    result.stderr.fnmatch_lines(["*ended the process*"])
    assert not {file.name for file in (data.path / "out").iterdir()} & set(NAMES)
    ends = "child = os.fork()\n    if child == 0: os._exit(0)\n    assert os.waitpid(child, 0)[1] == 0"
    assert data.run(data.matching(first=ends), subprocess=True).ret == 0


BY_TURN = """
asked = 0
def answer(self, questions):
    self.asked += len(questions)
    return ["yes" if {} else "no" for n in range(self.asked - len(questions) + 1, self.asked + 1)]
"""


def pope(place, label):
    """Write 120 questions, two about each image; ``label`` says which are true."""
    lines = []
    for n in range(120):
        name = f"COCO_val2014_{n // 2:012}.jpg"
        place.image(f"coco/{name}", (n // 2 * 4, 90, 40))
        said = {"question_id": n, "image": name, "text": f"Is there a dog of kind {n}?", "label": label(n)}
        lines.append(json.dumps(said))
    folder = place.path / "data" / "pope" / "coco"
    folder.mkdir(parents=True)
    (folder / "coco_pope_random.json").write_text("\n".join(lines))


ALTERNATING, HALVES = ("n % 2", lambda n: n % 2 == 0), ("n <= 60", lambda n: n < 60)


@pytest.mark.parametrize(
    ("turns", "grouping"),
    [
        (HALVES, "--items=pair --batch-size=1"),
        (ALTERNATING, "--items=pair --batch-size=1"),
        (ALTERNATING, "--items=batch --batch-size=1"),
        (ALTERNATING, "--items=pair --batch-size=7"),
        pytest.param(ALTERNATING, "--items=pair --batch-size=1 -n 2", marks=pytest.mark.slow),
        (ALTERNATING, "--items=pair --batch-size=1 --shard=1/1"),
    ],
)
def test_answers_by_turn_do_not_fit_truths_by_turn(place, turns, grouping):
    said, true = turns
    pope(place, lambda n: "yes" if true(n) else "no")
    place.run(place.model(BY_TURN.format(said)), "--suite=pope/coco-random", "--cache=off", *grouping.split())
    assert 0.3 < place.task("pope/coco-random")["metrics"]["accuracy"]["value"] < 0.7
