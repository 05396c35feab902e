"""What a run says at its end and leaves for CI: counts in cases, tasks without cases, thresholds, published figures."""

import json
from xml.etree import ElementTree as ET

import pytest
from PIL import Image


def test_data_without_a_thresholds_file_are_not_gated_by_the_shipped_one(place, right):
    place.valse(n=40)
    result = place.run(right, ret=0, says="no thresholds file: nothing is gated; results in *")
    assert "not run" not in result.stdout.str()
    assert place.metrics()["gates"] == []
    assert place.metrics()["run"]["thresholds"] is None


@pytest.mark.slow
def test_the_shipped_thresholds_gate_the_embedded_scenes(place):
    result = place.run("--suite=scenes/foil-it", "--limit=40", "--health=off", data=False)
    result.stdout.fnmatch_lines(["gates from *thresholds.toml; results in *"])
    assert "scenes/foil-it:acc_r" in {gate["gate"] for gate in place.metrics()["gates"]}


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


def test_tests_that_fail_although_the_gates_pass_are_in_the_decision(data, right):
    (data.path / "test_mine.py").write_text("def test_mine():\n    assert 0\n")
    result = data.run(right, "test_mine.py", ret=1)
    result.stdout.fnmatch_lines(
        ["FAIL: right_model:build may not be released: 1 of 1 gate passes, but a test that is not a gate fails (exit*)"]
    )
    result.stdout.fnmatch_lines(["*1 failed, 41 passed in *"])


def test_each_passed_test_is_listed_once(place, right):
    place.valse(40)
    result = place.run(right, "--items=batch", "-rp")
    assert len([line for line in result.outlines if line.startswith("PASSED tests_vl") or "::test_foil" in line]) == 1
    result.stdout.fnmatch_lines(["*40 passed in *"])


def test_published_figures_stand_beside_those_of_a_run(place, right):
    place.valse(40)
    place.run(right, "--no-require-gates")
    for name in ("summary.md", "report.html"):
        assert "published (VALSE, table 4): " in (place.path / "out" / name).read_text()


def test_the_flaws_of_a_run_have_their_sentences(place, right):
    def again(number, record):
        if number == 1:
            record |= {"image_file": "v7w_100.jpg", "caption": "There are 0 dogs.", "foil": "There are no 0 dogs."}

    place.valse(4, change=again)
    place.run(right, "--no-require-gates")
    flaw = place.task()["flaws"]["duplicate"]
    assert flaw == {"count": 1, "examples": ["record_1"], "why": "an earlier case asks the same of the same image"}
    said = "Flaw of the data: 1 x duplicate (an earlier case asks the same of the same image), for example record_1"
    assert said in (place.path / "out/report.html").read_text()


GATE = '[gate."valse/existence".acc_r]\nmin = 0.5\n[limit."valse/existence".p_c]\nmax = 0.5\n'


def properties(node):
    return {one.get("name"): one.get("value") for one in node.findall("properties/property")}


@pytest.mark.slow
def test_a_run_in_ci(place, right, monkeypatch, workers):
    place.ready(GATE, n=40)
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
    assert json.loads((place.path / "out/badge.json").read_text())["label"] == "vlgate"
    result.stdout.fnmatch_lines(["1 failed, 41 passed in *"])
