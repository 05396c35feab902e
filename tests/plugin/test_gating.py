"""What a run says at its end and leaves behind: statuses, gates, limits, exit status, files, Allure, analyses."""

import itertools
import json
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from vlgate.errors import OptionError
from vlgate.record.folder import RecordedRun
from vlgate.studies.analyses.saved import analysed


@pytest.mark.slow
def test_a_gate_that_fails_fails_the_run_by_its_own_name(data, wrong, workers):
    result = data.run(wrong, *workers, "--junitxml=junit.xml", "--alluredir=allure", ret=1)
    result.stdout.fnmatch_lines(["fail * valse/existence * 0.000 *"])
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
    took = "vlgate: checks of the model and controls took *% of * s"
    lines = ["*record_0] MISSED*", "thresholds.toml::*SKIPPED*", took, "*40 missed*"]
    place.run(wrong, "-v", ret=0).stdout.fnmatch_lines(lines)
    assert place.metrics()["gates"][0]["decision"] == "not run"


@pytest.mark.slow
def test_a_run_without_junit_allure_or_xdist_is_the_same_run(data, wrong):
    result = data.run(wrong, "-p", "no:xdist", "-p", "no:allure_pytest", "-p", "no:junitxml", subprocess=True, ret=1)
    result.stdout.fnmatch_lines(["fail * valse/existence *"])


@pytest.mark.slow
def test_every_kind_of_run_gives_the_same_bytes(place, monkeypatch):
    place.ready(n=60)
    backwards = "import os\n\ndef pytest_collection_modifyitems(items):\n    'R' in os.environ and items.reverse()\n"
    (place.path / "conftest.py").write_text(backwards)
    ways = {"serial": [], "again": [], "two": ["-n", "2"], "pair": ["--items=pair"], "batch": ["--items=batch"]}
    ways |= {"backwards": [], "batches-backwards": ["--items=batch", "-n", "2", "--batch-size=3"]}
    found, verdicts = set(), []
    for name, args in ways.items():
        monkeypatch.setenv("R", "1") if "backwards" in name else monkeypatch.delenv("R", raising=False)
        place.run("--model=random", *args, f"--results={name}", "--seed=5")
        content = place.metrics(name)
        found.add(json.dumps([content["tasks"], content["gates"]]))
        verdicts.append((place.path / name / "verdict.json").read_bytes())
    assert len(found) == 1
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert str(place.path) not in verdicts[0].decode()
    assert 0 < content["tasks"]["valse/existence"]["metrics"]["acc_r"]["value"] < 1


def test_another_capability_alone_runs_no_gate_of_this_one(data, wrong):
    data.run(wrong, "-m", "foil", ret=1)
    data.run(wrong, "-m", "compositional", ret=pytest.ExitCode.NO_TESTS_COLLECTED)


def test_tasks_that_a_full_run_requires_and_a_quick_run_passes_no_gate(place, right):
    place.ready('[defaults]\nrequire = ["valse/ex*", "valse/plurality"]\n')
    place.run(right, ret=1, says="fail: valse/plurality:required: *")
    assert place.run(right, "--suite=valse/existence").ret == 0
    place.ready(n=60)
    result = place.run(right, "--quick", "--no-require-gates", ret=1)
    result.stdout.fnmatch_lines(
        [
            "INCONCLUSIVE: right_model:build may not be released: 1 of 1 gate is inconclusive (exit status 1)",
            "30 cases: 30 right, 0 missed",
            "  --quick asks at most 30 cases *",
        ]
    )
    run = place.metrics()
    assert (run["run"]["quick"], run["run"]["limit"]) == (True, None)
    assert run["tasks"]["valse/existence"]["left_out"] == {"beyond --quick": 30}


GATE = '[gate."valse/{}".acc_r]\nmin = 0.5\n'
MOST = '[gate."valse/*".acc_r]\nmax = 0.9\n'
OTHERS = ("plurality", "relations", "actant-swap", "coreference-standard", "counting-balanced")
LIMIT = '[limit."valse/existence".acc_r]\nmax = 0.6\nwhy = "it does not see what is missing"\n'


def test_a_limit_that_holds_is_shown_and_one_that_does_not_fails_and_limits_alone_let_none_through(place, wrong, right):
    place.ready(MOST + LIMIT)
    result = place.run(wrong, "-rx", "--alluredir=allure", ret=0)
    result.stdout.fnmatch_lines(["XFAIL thresholds.toml::limit:valse/existence:acc_r - cannot: acc_r is 0.000 *"])
    result.stdout.fnmatch_lines(["limit holds  valse/existence * <= 0.6 * weak"])
    found = {gate["gate"]: (gate["kind"], gate["decision"]) for gate in place.metrics()["gates"]}
    assert found["limit:valse/existence:acc_r"] == ("limit", "cannot")
    assert "1 cannot" in (place.path / "out/summary.md").read_text()
    files = [json.loads(file.read_text()) for file in (place.path / "allure").glob("*-result.json")]
    [shown] = [file for file in files if file["name"] == "thresholds.toml::limit:valse/existence:acc_r"]
    assert shown["status"] == "skipped"
    assert {"name": "threshold", "value": "<= 0.6", "excluded": True} in shown["parameters"]
    place.ready(GATE.format("*") + LIMIT)
    place.run(right, ret=1, says="  better than the known limit*")
    [held] = [gate for gate in place.metrics()["gates"] if gate["kind"] == "gate"]
    assert held["decision"] == "pass"
    place.ready(LIMIT)
    place.run(wrong, "--require-gates", ret=1, says="*no gate was judged*")


def test_gates_that_are_not_run_for_the_same_reason_take_one_line(place, right):
    place.valse()
    others = [f'[gate."valse/{name}".acc_r]\nmin = 0.5\nwhy = "{name}"\n' for name in OTHERS]
    place.thresholds("".join([GATE.format("existence"), *others]))
    result = place.run(right, "-rs", ret=0)
    first = ", ".join(f"valse/{name}:acc_r" for name in OTHERS[:3])
    result.stdout.fnmatch_lines([f"not run: {first} and 2 more: none of its tasks is in this run"])
    result.stdout.fnmatch_lines(["SKIPPED [[]5[]] thresholds.toml:0: not run: none of its tasks is in this run"])
    idle = {gate["gate"] for gate in place.metrics()["gates"] if gate["decision"] == "not run"}
    assert idle == {f"valse/{name}:acc_r" for name in OTHERS}


def test_other_thresholds_are_another_digest_and_the_same_rows(data, right):
    data.run(right)
    before = data.verdict()
    data.thresholds('[gate."valse/*".acc_r]\nmin = 0.99\n')
    assert data.run(right).ret == 1
    after = data.verdict()
    assert (after["verdict"], after["status"]) == ("inconclusive", 1)
    same = {name for name, value in before["digests"].items() if value == after["digests"][name]}
    assert same == {"must_hold", "plan", "rows"}


WRONG = """
def match(self, pairs):
    return [float(('no ' not in pair.text) == bool(int(pair.text.split()[-2]) % 4)) for pair in pairs]
"""
TWO = '[gate."valse/*".acc_r]\nmin = 0.88\n[limit."valse/*".acc_r]\nmax = 0.99\n'


@pytest.mark.parametrize(
    ("correction", "outcome"), [("none", "fail"), ("holm", "inconclusive"), ("bh", "inconclusive")]
)
def test_a_fail_that_two_gates_explain_is_inconclusive_on_request(data, correction, outcome):
    data.thresholds(f'[defaults]\nfail_correction = "{correction}"\n{TWO}')
    result = data.run(data.model(WRONG), "-v", ret=1)
    found = data.metrics()
    (gate,) = (one for one in found["gates"] if one["kind"] == "gate")
    assert (gate["decision"], round(gate["p"], 4)) == (outcome, 0.0175)
    assert (found["error_rates"]["gates"], found["error_rates"]["correction"]) == (2, correction)
    assert data.verdict()["verdict"] == outcome
    result.stdout.fnmatch_lines(["false alarms: a model exactly on the thresholds of all 2 gates sees at least one *"])
    assert "## Error rates of the gates" in (data.path / "out" / "summary.md").read_text()


def test_data_without_a_thresholds_file_are_not_gated_and_each_passed_test_is_listed_once(place, right):
    place.valse(n=40)
    result = place.run(right, ret=0, says="no thresholds file: nothing is gated")
    assert "not run" not in result.stdout.str()
    assert place.metrics()["gates"] == []
    assert place.metrics()["run"]["thresholds"] is None
    place.valse(40)
    result = place.run(right, "--items=batch", "-rp")
    assert len([line for line in result.outlines if line.startswith("PASSED tests_vl") or "::test_foil" in line]) == 1
    result.stdout.fnmatch_lines(["*40 passed in *"])


def test_a_task_that_came_out_empty_is_listed_with_its_reason(place):
    Image.new("RGB", (640, 480)).save(place.image("photos/1.jpg"))
    things = [
        {"id": "1", "name": "cup", "box": [40, 40, 180, 180], "attributes": ["red"]},
        {"id": "2", "name": "chair", "box": [340, 240, 180, 180]},
        {"id": "3", "name": "dog", "box": [40, 240, 180, 180], "attributes": ["brown"]},
    ]
    folder = place.path / "data" / "scene-graphs"
    folder.mkdir(parents=True)
    graph = {"image": "images/photos/1.jpg", "width": 640, "height": 480, "objects": things}
    (folder / "own.json").write_text(json.dumps({"graphs": [graph]}))
    result = place.run("--model=oracle", "--health=off", ret=0)
    made = set(place.metrics()["tasks"])
    assert 0 < len(made) < 8
    summary = (place.path / "out" / "summary.md").read_text()
    for test in ("rephrase-inv", "order-inv", "visual-inv", "antonym-dir", "ontological-inv", "negation-dir"):
        if f"scene-graphs/{test}" not in made:
            line = f"scene-graphs/{test}: no cases: 1 scene graphs give no question of {test}"
            result.stdout.fnmatch_lines([f"{line}*"])
            assert f"- {line}" in summary


HALF = "-float(len(pair.text)) if pair.image.key[-5] in '02468' else 0.0"


@pytest.mark.slow
@pytest.mark.parametrize("items", ["pair", "batch"])
def test_it_counts_cases_in_every_mode(place, items, workers):
    place.ready('[gate."valse/existence".acc_r]\nmin = 0.1\n', n=40)
    result = place.run(place.matching(HALF, head="image_names = True"), f"--items={items}", *workers, "-q", ret=0)
    result.stdout.fnmatch_lines(["PASS: my_model:build may be released: 1 of 1 gate passes (exit status 0)"])
    result.stdout.fnmatch_lines(["40 cases: 20 right, 20 missed", "21 passed, 20 missed in *"])


WITH_A_LIMIT = '[gate."valse/existence".acc_r]\nmin = 0.5\n[limit."valse/existence".p_c]\nmax = 0.5\n'


def properties(node):
    return {one.get("name"): one.get("value") for one in node.findall("properties/property")}


@pytest.mark.slow
def test_a_run_in_ci(place, right, monkeypatch, workers):
    place.ready(WITH_A_LIMIT, n=40)
    job = place.path / "job.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(job))
    result = place.run(right, "--junitxml=junit.xml", "-q", *workers)
    suite = ET.parse(place.path / "junit.xml").getroot().find("testsuite")
    about = properties(suite)
    assert about["vlgate.model"] == "right_model:build"
    assert about["vlgate.fingerprint"] == place.metrics()["model"]["fingerprint"]
    assert len(about["vlgate.suite"]) == 32
    cases = {case.get("name"): properties(case) for case in suite.findall("testcase")}
    gate = cases["valse/existence:acc_r"]
    assert gate["decision"] == "pass"
    assert (float(gate["value"]), gate["n"], gate["threshold"], float(gate["chance"])) == (1.0, "40", ">= 0.5", 0.5)
    assert 0.8 < float(gate["low"]) < float(gate["high"]) == 1.0
    assert 0.0 <= float(gate["blind"]) <= 1.0
    assert cases["limit:valse/existence:p_c"]["decision"] == "inconclusive"
    assert int(suite.get("tests")) == 42
    assert job.read_text() == (place.path / "out/summary.md").read_text()
    result.stdout.fnmatch_lines(["1 failed, 41 passed in *"])


CONFIDENT = '[gate."valse/*".acc_r]\nmin = 0.75\nconfidence = 0.9\nwhy = "better than a coin"\n'


@pytest.fixture
def report(place):
    """Runs the suite with ``--alluredir`` and returns the exit status, the folder and the results by name."""
    place.ready(CONFIDENT)

    def start(model, *arguments):
        done = place.run(model, "--alluredir=allure", "--clean-alluredir", *arguments)
        folder = place.path / "allure"
        results = [json.loads(file.read_text()) for file in folder.glob("*-result.json")]
        return done.ret, folder, {result["name"]: result for result in results}

    return start


HALF_RIGHT = """
def match(self, pairs):
    even = [sum(map(int, filter(str.isdigit, pair.text))) % 2 == 0 for pair in pairs]
    return np.array([(-1.0 if right else 1.0) * len(pair.text) for pair, right in zip(pairs, even)])
"""
SAME = ("historyId", "testCaseId", "status", "fullName", "titlePath")


@pytest.mark.slow
def test_the_results_are_the_same_in_every_way_to_run(place, report):
    half = place.model(HALF_RIGHT, "half")
    status, folder, results = report(half)
    assert status == 1
    assert len(results) == 40 + 2
    missed = [result for result in results.values() if result["status"] == "failed"]
    assert len(missed) == 20 + 2  # the cases, the gate and the run
    shown = next(one for one in missed if one["name"].startswith("valse/"))
    assert shown["statusDetails"]["message"].startswith("missed: ")
    assert {one["type"] for one in shown["attachments"]} == {"image/png"}
    assert not [*folder.glob("*-container.json")]
    attached = [one["source"] for result in results.values() for one in result.get("attachments", [])]
    [globals_] = [json.loads(file.read_text()) for file in folder.glob("*-globals.json")]
    attached += [one["source"] for one in globals_["attachments"]]
    assert sorted(file.name for file in folder.glob("*-attachment.*")) == sorted(attached)
    assert [one["message"].partition(":")[0] for one in globals_["errors"]] == ["fail"]
    for arguments in (("--items=batch",), ("-n", "2", "--items=batch"), ("--seed=3",)):
        again = report(half, *arguments)[2]
        assert {name: [one[key] for key in SAME] for name, one in again.items()} == {
            name: [one[key] for key in SAME] for name, one in results.items()
        }, arguments
    assert all(result["steps"] == [] for result in results.values() if "steps" in result)


@pytest.mark.slow
def test_a_case_that_raises_is_broken_with_its_traceback(place, report):
    body = "def match(self, pairs):\n    raise ValueError('no such layer')\n"
    status, _, results = report(place.model(body, "raises"))
    assert status == 1
    broken = [result for name, result in results.items() if name.startswith("valse/")]
    assert {one["status"] for one in broken} == {"broken"}
    assert "no such layer" in broken[0]["statusDetails"]["message"]


def test_a_users_own_test_keeps_its_steps_and_its_fixtures_and_times_of_cases_add_up(place, report, right):
    (place.path / "test_own.py").write_text(
        "import allure, pytest\n\n@pytest.fixture\ndef mine():\n    return 1\n\n"
        "def test_mine(mine):\n    with allure.step('my step'):\n        allure.attach('text', 'my file')\n"
    )
    _, folder, results = report(right, "test_own.py", "--items=batch")
    [step] = results["test_mine"]["steps"]
    assert step["name"] == "my step"
    assert (folder / step["attachments"][0]["source"]).read_text() == "text"
    [container] = [json.loads(file.read_text()) for file in folder.glob("*-container.json")]
    assert [load["name"] for load in container["befores"]] == ["mine"]
    assert len(results) == 40 + 2 + 1
    cases = sorted((result["start"], result["stop"]) for name, result in results.items() if name.startswith("valse/"))
    assert all(stop <= start for (_, stop), (start, _) in itertools.pairwise(cases))


def test_a_run_with_a_benchmark_has_its_analysis_on_the_page_but_not_with_few_cases(place, right):
    place.ready(n=100)
    assert place.run(right).ret == 0
    found = json.loads((place.path / "out/analyses.json").read_text(encoding="utf-8"))
    assert [(one["analysis"], one["tasks"]) for one in found["analyses"]] == [("valse", "valse/*")]
    page = (place.path / "out/report.html").read_text(encoding="utf-8")
    assert '<h3 id="analysis/valse">' in page
    assert "<summary>Against text alone</summary>" in page
    place.ready(n=20)
    assert place.run(right, "--no-require-gates", "--overwrite").ret == 1  # the gate is inconclusive
    assert not (place.path / "out/analyses.json").exists()
    assert 'id="analyses"' not in (place.path / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("error", [ZeroDivisionError("in a table"), OptionError("in a table"), OSError("in a table")])
def test_an_analysis_that_goes_wrong_is_said_and_raises_nothing(tmp_path, monkeypatch, error):
    def wrong(_):
        raise error

    monkeypatch.setattr("vlgate.studies.analyses.saved.analyse_run", wrong)
    run = RecordedRun(folder=tmp_path, named="--results out", figures={}, environment={})
    [said] = analysed(run)
    assert said.startswith("analyses.json could not be written (")
    assert "in a table" in said
