"""What a run says at its end: statuses, gates, exit status, files."""

import json
import xml.etree.ElementTree as ET

import pytest


@pytest.mark.slow
def test_a_model_that_is_right_passes(data, right, workers):
    result = data.run(right, *workers, ret=0)
    result.assert_outcomes(passed=41)
    assert data.task()["metrics"]["acc_r"]["value"] == 1.0
    assert data.metrics()["gates"][0]["decision"] == "pass"


@pytest.mark.slow
def test_a_gate_that_fails_fails_the_run_by_its_own_name(data, wrong, workers):
    result = data.run(wrong, *workers, "--junitxml=junit.xml", "--alluredir=allure", ret=1)
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::valse/existence:acc_r - fail: acc_r is 0.0000*"])
    result.stdout.fnmatch_lines(["*1 failed, 40 missed in*"])
    cases = ET.parse(data.path / "junit.xml").getroot().iter("testcase")
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    assert failed == ["valse/existence:acc_r"]
    results = [json.loads(file.read_text()) for file in (data.path / "allure").glob("*-result.json")]
    missed = [r for r in results if r["name"].startswith("valse/") and r["status"] == "failed"]
    assert len(missed) == 40
    failed = sorted(r["name"] for r in results if r["status"] == "failed" and r not in missed)
    assert failed == ["results of wrong_model:build", "thresholds.toml::valse/existence:acc_r"]
    environment = (data.path / "allure/environment.properties").read_text().splitlines()
    assert environment[0] == "model = wrong_model:build"
    labels = {label["name"]: label["value"] for label in missed[0]["labels"]}
    assert (labels["epic"], labels["feature"], labels["story"]) == ("valse", "foil", "valse/existence")


def test_missed_cases_alone_do_not_fail_a_run(place, wrong):
    place.ready('[gate."scenes/foil-it".acc_r]\nmin = 0.9\n')
    place.run(wrong, ret=0, says="*40 missed*")
    assert place.metrics()["gates"][0]["decision"] == "not run"


def test_a_verbose_run_names_the_missed_and_the_gates(place, wrong):
    place.ready(n=2)
    result = place.run(wrong, "-v")
    result.stdout.fnmatch_lines(["*record_0] MISSED*", "thresholds.toml::valse/existence:acc_r FAILED*"])


@pytest.mark.slow
def test_a_run_without_junit_allure_or_xdist_is_the_same_run(data, wrong):
    result = data.run(wrong, "-p", "no:xdist", "-p", "no:allure_pytest", "-p", "no:junitxml", subprocess=True, ret=1)
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::valse/existence:acc_r*"])


@pytest.mark.slow
def test_every_kind_of_run_gives_the_same_bytes(place, monkeypatch):
    place.ready(n=60)
    backwards = "import os\n\ndef pytest_collection_modifyitems(items):\n    'R' in os.environ and items.reverse()\n"
    (place.path / "conftest.py").write_text(backwards)
    ways = {
        "serial": [],
        "again": [],
        "two": ["-n", "2"],
        "pair": ["--items=pair"],
        "batch": ["--items=batch"],
        "backwards": [],
        "batches-backwards": ["--items=batch", "-n", "2", "--batch-size=3"],
    }
    found = set()
    for name, args in ways.items():
        monkeypatch.setenv("R", "1") if "backwards" in name else monkeypatch.delenv("R", raising=False)
        place.run("--model=random", *args, f"--results={name}", "--seed=5")
        content = place.metrics(name)
        found.add(json.dumps([content["tasks"], content["gates"]]))
    assert len(found) == 1
    assert 0 < content["tasks"]["valse/existence"]["metrics"]["acc_r"]["value"] < 1


def test_a_part_of_a_task_cannot_pass_its_gate(data, right):
    result = data.run(right, "-k", "record_1", ret=1)
    assert (data.task()["cases"], data.task()["deselected"]) == (11, 29)
    result.stdout.fnmatch_lines(["inconclusive: valse/existence:acc_r: 29 of the task's 40 cases were deselected"])


def test_another_capability_alone_runs_no_gate_of_this_one(data, wrong):
    data.run(wrong, "-m", "foil", ret=1)
    data.run(wrong, "-m", "compositional", ret=pytest.ExitCode.NO_TESTS_COLLECTED)


def test_tasks_that_a_full_run_requires(place, right):
    place.ready('[defaults]\nrequire = ["valse/ex*", "valse/plurality"]\n')
    place.run(right, ret=1, says="FAILED thresholds.toml::valse/plurality:required - fail: *")
    assert place.run(right, "--suite=valse/existence").ret == 0


def test_no_gate_passes_and_the_decision_says_why(place, right):
    place.ready(n=60)
    result = place.run(right, "--quick", "--no-require-gates", ret=1)
    result.stdout.fnmatch_lines(
        [
            "INCONCLUSIVE: right_model:build may not be released: 1 of 1 gate is inconclusive (exit status 1)",
            "inconclusive: valse/existence:acc_r: --quick asks at most 30 cases *",
            "30 cases: 30 right, 0 missed",
        ]
    )
    run = place.metrics()
    assert (run["run"]["quick"], run["run"]["limit"]) == (True, None)
    assert run["tasks"]["valse/existence"]["left_out"] == {"beyond --quick": 30}


def test_a_drop_that_the_sample_could_not_show_does_not_refuse_the_run(place, right):
    place.ready('[gate."valse/existence".acc_r]\nmax_drop = 0.02\n', n=60)
    assert place.run(right, "--quick").ret == 1
    assert {gate["decision"] for gate in place.metrics()["gates"]} == {"inconclusive"}
