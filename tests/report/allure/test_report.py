"""The results that Allure reads: statuses, pages, images, gates and the files of the overview."""

import base64
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from PIL import Image

from tests.report.page.page_runs import gated
from vlgate.gates.records import Gate
from vlgate.judging.verdicts import judge
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import task_metrics
from vlgate.report.allure.cases import SAMPLE, case_results
from vlgate.report.allure.results import Moment
from vlgate.report.allure.writing import write_report
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Batch, Prediction

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node, in which Allure 3 runs")
SUITE = ("scenes/existence", "scenes/occlusion-dir", "scenes/word-swap")
GATES = (
    Gate(task="scenes/existence", metric="acc_r", min=0.5, why="better than a coin"),
    Gate(task="scenes/occlusion-dir", metric="c_acc", min=0.2, confidence=0.9, min_cases=1),
)


def reply(request, truth, *, right):
    if isinstance(request, Ask):
        return Prediction(request=request, answer=truth if right else {"yes": "no", "no": "yes"}[truth])
    return Prediction(request=request, score=0.75 if truth == right else 0.25)


def verdicts_of(task, cases):
    """Judge the first cases of a task: every third is right, the last one has no reply, the others are wrong."""
    batch = Batch(task=task, positions=tuple(range(cases)))
    replies = {}
    for number, case in enumerate(batch.cases):
        for request, truth in zip(case.requests, case.truths, strict=True):
            replies[request] = reply(request, truth, right=number % 3 == 0)
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
    return gated([task_metrics(task, verdicts_of(task, 6), ()) for task in tasks], GATES)


def moments_from(start, run):
    """Each case takes 10 milliseconds, one after another."""
    keys = [(result.task.id, verdict.case.id) for result in run.results for verdict in result.verdicts]
    return {key: Moment(start=start + 10 * n, stop=start + 10 + 10 * n, worker="gw0") for n, key in enumerate(keys)}


@pytest.fixture(scope="session")
def moments(run):
    return moments_from(1000, run)


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
    return {one["name"]: one for one in read_results(folder)}


def labels(result, name):
    return [label["value"] for label in result["labels"] if label["name"] == name]


def of_layer(results, layer):
    return [result for result in results.values() if labels(result, "layer") == [layer]]


def attached(folder, result):
    return {one["type"]: (folder / one["source"]).read_bytes() for one in result.get("attachments", [])}


def only(folder, pattern):
    [file] = folder.glob(pattern)
    return file


def read_results(folder):
    return [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*-result.json")]


@pytest.mark.parametrize("task", ["scenes/existence", "scenes/occlusion-dir", "scenes/word-swap"])
def test_a_missed_case_is_a_failure_and_one_without_a_reply_is_broken(results, task):
    cases = [one for one in of_layer(results, "case") if labels(one, "story") == [task]]
    assert sorted(one["status"] for one in cases) == ["broken", *["failed"] * 3, *["passed"] * 2]
    for one in cases:
        said = one.get("statusDetails", {}).get("message", "")
        assert said.startswith("missed: ") == (one["status"] == "failed")
        assert ("the model gave <nothing>" in said) == (one["status"] == "broken")


def test_two_images_are_one_file_for_the_viewer_of_differences(folder, results, run):
    [result] = [one for one in run.results if one.task.id == "scenes/occlusion-dir"]
    for verdict in result.verdicts[1:3]:
        shown = results[f"scenes/occlusion-dir:{verdict.case.id}"]
        images = json.loads(attached(folder, shown)["application/vnd.allure.image.diff"])
        assert set(images) == {"expected", "actual", "diff"}
        expected, actual = (request.image.key for request in verdict.case.requests)
        assert shown["attachments"][0]["name"] == f"{expected} and {actual}"
        files = {name: io.BytesIO(base64.b64decode(uri.partition(";base64,")[2])) for name, uri in images.items()}
        dark = {name: sum(Image.open(file).convert("L").histogram()[:128]) for name, file in files.items()}
        assert min(dark, key=dark.get) == "diff"  # what is equal is pale
        assert "where A and B differ" in shown["descriptionHtml"]


def test_the_gates_come_first_with_the_page_of_the_run(folder, results, run):
    gates = [*of_layer(results, "run"), *of_layer(results, "gate")]
    assert len(gates) == 1 + len(run.decisions)
    first = min(one["start"] for one in of_layer(results, "case"))
    assert all(gate["stop"] <= first for gate in gates)
    assert all(min([gate["titlePath"][0], "bla"]) == gate["titlePath"][0] for gate in gates)
    for gate in gates:
        assert attached(folder, gate) == {"text/html": b"<title>the page</title>"}
    sources = [one["source"] for result in gates for one in result["attachments"]]
    assert len(set(sources)) == len(sources)  # Allure 3 shows a file once


def test_every_result_has_one_history_whatever_was_measured(tmp_path, folder, run, card, options):
    later = moments_from(10_000, run)
    better = replace(run, decisions=tuple(replace(decision, outcome="pass") for decision in run.decisions))
    write_report(tmp_path, better, replace(card, name="another"), options, later)

    def read(place):
        found = read_results(place)
        return {one["fullName"]: (one["historyId"], one["testCaseId"]) for one in found}, {one["uuid"] for one in found}

    (one, uuids), (other, others) = read(folder), read(tmp_path)
    assert one == other
    assert uuids.isdisjoint(others)
    assert len({history for history, _ in one.values()}) == len(one)


def test_a_later_run_into_the_same_folder_hides_the_earlier_one(tmp_path, run, passing, card, options, moments):
    later = moments_from(10_000, run)
    write_report(tmp_path, run, card, options, moments)
    write_report(tmp_path, passing, card, options, later)
    assert json.loads((tmp_path / "executor.json").read_text())["reportName"] == "lxmert:unc-nlp: gates pass"
    assert json.loads(only(tmp_path, "*-globals.json").read_text())["errors"] == []
    assert len(json.loads(only(tmp_path, "*-perf.json").read_text())) == 3
    whole = [one for one in read_results(tmp_path) if one["fullName"] == "vlgate: the run"]
    runs = sorted((one["start"], one["status"]) for one in whole)
    assert runs == [(1000, "failed"), (10_000, "passed")]


@pytest.fixture
def passing(run):
    """The same run without the cases that have no reply, and with gates that pass."""
    results = [
        task_metrics(result.task, [verdict for verdict in result.verdicts if verdict.state == "judged"], ())
        for result in run.results
    ]
    decisions = tuple(replace(decision, outcome="pass") for decision in run.decisions)
    return replace(run, results=tuple(results), decisions=decisions)


@pytest.mark.parametrize("content", ['{"name": "CI", "type": "github"}', "cut of"])
def test_an_executor_of_continuous_integration_is_kept(tmp_path, run, card, options, content):
    (tmp_path / "executor.json").write_text(content)
    write_report(tmp_path, run, card, options, {})
    assert (tmp_path / "executor.json").read_text() == content


def test_every_result_that_is_not_green_has_a_category(folder, results):
    categories = json.loads((folder / "categories.json").read_text())
    for result in results.values():
        if result["status"] != "passed":
            said = result["statusDetails"]["message"]
            fits = [known for known in categories if re.fullmatch(known["messageRegex"], said, re.DOTALL)]
            assert sum(result["status"] in known["matchedStatuses"] for known in fits) == 1, result["name"]


def test_many_cases_are_a_result_for_each_task_and_a_sample(run, moments):
    few = replace(run, results=run.results[:1], decisions=())
    [task] = [result.task for result in few.results]
    cases = tuple(replace(task.cases[1], id=f"case {number}") for number in range(5001))
    [verdict] = [one for one in few.results[0].verdicts if one.case.id == task.cases[1].id]
    verdicts = [replace(verdict, case=case) for case in cases]
    many = replace(few, results=(task_metrics(replace(task, cases=cases), verdicts, ()),))
    found = list(case_results(many, moments, 0))
    assert [one.layer for one in found] == ["task", *["case"] * SAMPLE]
    assert {one.status for one in found} == {"failed"}
    assert found[0].message == "missed: 5,001 of 5,001 cases"
    assert found[0].parameters["n"] == "5001"
    assert all("<img " in one.page for one in found[1:])
    again = list(case_results(many, moments, 0))
    assert [one.id for one in again] == [one.id for one in found]


RULES = """
const config = (await import(process.argv[1])).default;
const { readdirSync, readFileSync } = await import("node:fs");
const { join, dirname } = await import("node:path");
const folder = dirname(new URL(process.argv[1]).pathname);
const results = readdirSync(folder).filter((file) => file.endsWith("-result.json"))
  .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
const bad = (result) => ["failed", "broken"].includes(result.status);
const failing = config.qualityGate.rules.filter((rule) => {
  const found = results.filter(rule.filter);
  return found.length < (rule.minTestsCount ?? 0) || found.filter(bad).length > (rule.maxFailures ?? Infinity);
});
const shown = Object.fromEntries(Object.entries(config.plugins)
  .map(([name, one]) => [name, results.filter(one.options.filter).length]));
const categories = config.categories.rules.map((rule) => rule.name);
console.log(JSON.stringify({ failing: failing.map((rule) => rule.id), shown, name: config.name, categories }));
"""


def rules(folder):
    address = (folder / "allurerc.mjs").as_uri()
    done = subprocess.run([NODE, "--input-type=module", "-e", RULES, address], capture_output=True, check=True)
    return json.loads(done.stdout)


@needs_node
def test_allure_3_shows_gates_and_cases_apart_with_the_categories_of_allure_2(folder):
    said = rules(folder)
    assert said["shown"] == {"gates": 3, "cases": 18}
    assert said["name"] == "lxmert:unc-nlp: broken"
    assert said["categories"] == [load["name"] for load in json.loads((folder / "categories.json").read_text())]


@needs_node
def test_the_quality_gate_of_allure_3_fails_if_a_gate_does_or_a_case_has_no_reply(folder, written):
    assert rules(folder)["failing"] == ["gates"]
    assert rules(written)["failing"] == []  # missed cases alone fail nothing
    for file in folder.glob("*-result.json"):
        if json.loads(file.read_text())["status"] == "broken":
            shutil.copy(file, written)
    assert rules(written)["failing"] == ["gates"]  # three cases without a reply
    for file in written.glob("*-result.json"):
        file.unlink()
    assert rules(written)["failing"] == ["the run was judged"]


@pytest.fixture
def written(tmp_path, passing, card, options, moments):
    """The results of a run whose gates pass."""
    write_report(tmp_path, passing, card, options, moments)
    return tmp_path
