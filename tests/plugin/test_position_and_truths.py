"""Neither the position of a request, nor other data in a worker, nor the truths help a model to pass."""

import json

import pytest

BY_POSITION = "def match(self, pairs):\n    return np.arange(len(pairs))[::-1].astype(float)"


@pytest.mark.parametrize("items", ["pair", pytest.param("batch", marks=pytest.mark.slow)])
def test_a_score_that_follows_the_position_does_not_pass(place, workers, items):
    place.ready(n=100)
    result = place.run(place.model(BY_POSITION), f"--items={items}", *workers, ret=1)
    assert 0.3 < place.task()["metrics"]["acc_r"]["value"] < 0.7
    assert place.decisions()["model:batch_invariance"] == "inconclusive"
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::model:batch_invariance - inconclusive: *"])
    assert place.decisions()["valse/existence:acc_r"] != "pass"


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
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::model:determinism - inconclusive: *"])
    assert 'name="model:determinism"' in (data.path / "junit.xml").read_text()


def test_a_suspect_check_that_the_thresholds_allow_stops_nothing(place):
    place.valse()
    model = place.matching("-float(len(pair.text)) + 0.001 * len(pairs)")
    place.thresholds()
    assert place.run(model).ret == 1
    place.thresholds(
        '[checks]\nbatch_invariance = { allow = true, why = "a known sum" }\n[gate."valse/*".acc_r]\nmin = 0.5\n'
    )
    place.run(model, ret=0, says="not run: model:batch_invariance: *allowed because a known sum")


def test_rounding_is_reported_and_stops_nothing(data):
    assert data.run(data.matching("-float(len(pair.text)) + 1e-7 * len(pairs)")).ret == 0
    [check] = [check for check in data.metrics()["model"]["checks"] if check["name"] == "batch_invariance"]
    assert check["outcome"] == "ok"
    assert "could change 0 of 9 verdicts" in check["why"]


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
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::run:same-data - fail: the worker gw0 read other data*"])


PREPARED = """
truths = None
def prepare(self, tasks):
    self.truths = {r: t for task in tasks for case in task.cases for r, t in zip(case.requests, case.truths)}
def match(self, pairs):
    return np.array([float(bool(self.truths and self.truths.get(pair))) for pair in pairs])
"""


def test_an_own_model_never_sees_the_truths(data):
    data.run(data.model(PREPARED), ret=1)
    assert data.task()["metrics"]["acc_r"]["value"] == 0.0
    [note] = data.metrics()["model"]["notes"]
    assert "prepare()" in note


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


TAKING = """
import pytest
from vlgate.types import Prediction

class Fake:
    def predict(self, requests):
        return {r: Prediction(request=r, score=-float(len(r.text))) for r in requests}

@pytest.fixture
def model():
    return Fake()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "says"),
    [
        (WRAPPING, "*the fixture 'model' is not vlgate's*"),
        (TAKING, "*the fixture 'model' is not vlgate's*"),
        (
            WRAPPING.replace("return Wrapped(model)", "model.predictor = Wrapped(model.predictor)\n    return model"),
            "*Error: *'predictor'*",  # a field that is frozen, or in a worker not there
        ),
    ],
    ids=["wraps", "takes the place", "puts another inside"],
)
def test_a_fixture_of_the_users_cannot_replace_the_model(data, wrong, workers, conftest, says):
    (data.path / "conftest.py").write_text(conftest)
    data.run(wrong, *workers, ret=1, says=says)
    assert data.task()["judged"] == 0


@pytest.mark.slow
def test_a_model_that_ends_the_process_does_not_end_it_with_success(data):
    result = data.run(data.matching(first="os._exit(0)"), subprocess=True, ret=1)
    result.stderr.fnmatch_lines(["*ended the process*"])
    assert not (data.path / "out" / "metrics.json").exists()


@pytest.mark.slow
def test_children_of_the_process_can_end_with_success(data):
    ends = "child = os.fork()\n    if child == 0: os._exit(0)\n    assert os.waitpid(child, 0)[1] == 0"
    assert data.run(data.matching(first=ends), subprocess=True).ret == 0


ALTERNATING = """
asked = 0
def answer(self, questions):
    self.asked += len(questions)
    return ["yes" if n % 2 else "no" for n in range(self.asked - len(questions) + 1, self.asked + 1)]
"""
HALVES = ALTERNATING.replace("if n % 2", "if n <= 60")


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


@pytest.mark.parametrize(
    "grouping",
    [
        ("--items=pair", "--batch-size=1"),
        ("--items=batch", "--batch-size=1"),
        ("--items=pair", "--batch-size=7"),
        pytest.param(("--items=pair", "--batch-size=1", "-n", "2"), marks=pytest.mark.slow),
        ("--items=pair", "--batch-size=1", "--shard=1/1"),
    ],
    ids=" ".join,
)
def test_answers_that_alternate_do_not_fit_truths_that_alternate(place, grouping):
    pope(place, lambda n: "yes" if n % 2 == 0 else "no")
    place.run(place.model(ALTERNATING), "--suite=pope/coco-random", "--cache=off", *grouping)
    assert 0.3 < place.task("pope/coco-random")["metrics"]["accuracy"]["value"] < 0.7


def test_answers_of_two_halves_do_not_fit_truths_of_two_halves(place):
    pope(place, lambda n: "yes" if n < 60 else "no")
    place.run(place.model(HALVES), "--suite=pope/coco-random", "--cache=off", "--items=pair", "--batch-size=1")
    assert 0.3 < place.task("pope/coco-random")["metrics"]["accuracy"]["value"] < 0.7
