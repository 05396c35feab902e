import json
import shutil

import pytest

from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.verdicts import judge
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, decisions, task_metrics
from vlgate.report.allure.results import Moment
from vlgate.report.allure.writing import write_report
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Batch, Prediction

SUITE = ("scenes/existence", "scenes/occlusion-dir", "scenes/word-swap")
GATES = (
    Gate(task="scenes/existence", metric="acc_r", min=0.5, why="better than a coin"),
    Gate(task="scenes/occlusion-dir", metric="c_acc", min=0.2, confidence=0.9, min_cases=1),
)


def wrong(request, truth):
    """A reply that is wrong, with equal scores for the texts of a case."""
    if isinstance(request, Ask):
        return Prediction(request=request, answer="no" if truth == "yes" else "yes")
    return Prediction(request=request, score=0.25 if truth else 0.75)


def right(request, truth):
    if isinstance(request, Ask):
        return Prediction(request=request, answer=truth)
    return Prediction(request=request, score=0.75 if truth else 0.25)


def verdicts_of(task, cases):
    """Judge the first cases of a task: every third is right, the last one has no reply, the others are wrong."""
    batch = Batch(task=task, positions=tuple(range(cases)))
    replies = {}
    for number, case in enumerate(batch.cases):
        for request, truth in zip(case.requests, case.truths, strict=True):
            replies[request] = (wrong if number % 3 else right)(request, truth)
            if number == cases - 1:
                replies[request] = Prediction(request=request, problem="the model gave <nothing>")
    return judge(batch, replies)


@pytest.fixture(scope="session")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "report.html").write_text("<title>the page</title>")
    return Options(folder=folder, model="oracle", suite=SUITE, thresholds=None, results=folder)


@pytest.fixture(scope="session")
def run(options):
    """A run of six cases of each task, drawn for real; the gates are inconclusive or fail."""
    tasks = make_plan(options).tasks
    results = [task_metrics(task, verdicts_of(task, 6), ()) for task in tasks]
    made = decisions(Thresholds(file=options.folder / "t.toml", rules=GATES, require=()), results)
    return RunResult(results=tuple(results), decisions=made)


@pytest.fixture(scope="session")
def moments(run):
    """Each case takes 10 milliseconds, one after another."""
    keys = [(result.task.id, verdict.case.id) for result in run.results for verdict in result.verdicts]
    return {key: Moment(start=1000 + 10 * n, stop=1010 + 10 * n, worker="gw0") for n, key in enumerate(keys)}


@pytest.fixture(scope="session")
def card():
    return ModelCard(name="lxmert", weights="unc-nlp", fingerprint="0a1b2c3d4e5f6789", device="cuda:1")


@pytest.fixture(scope="session")
def folder(tmp_path_factory, run, card, options, moments):
    folder = tmp_path_factory.mktemp("allure")
    write_report(folder, run, card, options, moments)
    return folder


@pytest.fixture(scope="session")
def results(folder):
    """The results by name."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*-result.json")]
    return {one["name"]: one for one in found}


@pytest.fixture(scope="session")
def node():
    """The command of Node.js, in which Allure 3 runs."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs node, in which Allure 3 runs")
    return found
