"""What a run leaves for CI: JUnit's properties, the summary of a job, and a badge."""

import json
from xml.etree import ElementTree as ET

GATE = '[gate."valse/existence".acc_r]\nmin = 0.5\n[limit."valse/existence".p_c]\nmax = 0.5\n'


def properties(node):
    return {one.get("name"): one.get("value") for one in node.findall("properties/property")}


def test_a_run_in_ci(place, right, monkeypatch, workers):
    place.valse(40)
    place.thresholds(GATE)
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
