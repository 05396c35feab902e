"""The first line of a run's end: may the model be released?"""

from dataclasses import replace

import pytest

from vlgate.gates.records import Decision, Gate
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.ci.release import not_passed_lines, release, release_line

CARD = ModelCard(name="clip", weights="a/b", fingerprint="0a1b", adapters={})


def decided(*outcomes, why="because"):
    gates = (Gate(task=f"scenes/task-{number}", metric="acc_r") for number in range(len(outcomes)))
    made = (Decision(gate=gate, outcome=outcome, why=why) for gate, outcome in zip(gates, outcomes, strict=True))
    return RunResult(results=(), decisions=tuple(made))


@pytest.mark.parametrize(
    ("outcomes", "tests", "word", "why"),
    [
        (["pass", "pass"], 0, "PASS", "2 of 2 gates pass"),
        (["pass", "cannot", "not run"], 0, "PASS", "1 of 1 gate passes, 1 known limit holds, 1 not run"),
        (["pass", "fail", "inconclusive"], 0, "FAIL", "1 of 3 gates fails, 1 is inconclusive"),
        (["pass", "inconclusive", "cannot"], 0, "INCONCLUSIVE", "1 of 2 gates is inconclusive"),
        (["pass"], 1, "FAIL", "1 of 1 gate passes, but a test that is not a gate fails"),
        (["inconclusive"], 1, "FAIL", "1 of 1 gate is inconclusive, a test that is not a gate fails"),
        (["not run"], 0, "NOT GATED", "no gate was judged, 1 not run"),
        ([], 0, "NOT GATED", "no gate was judged"),
        ([], 1, "FAIL", "no gate was judged, a test that is not a gate fails"),
        (["pass"], 3, "FAIL", "1 of 1 gate passes, but pytest ended with status 3"),
    ],
)
def test_the_worst_comes_first(outcomes, tests, word, why):
    found = release(replace(decided(*outcomes), tests=tests), CARD)
    assert (found.word, found.why) == (word, why)


@pytest.mark.parametrize("outcomes", [["pass"], ["fail"], ["inconclusive"], []])
def test_an_incomplete_run_decides_nothing(outcomes):
    found = release(replace(decided(*outcomes), incomplete="a worker crashed"), CARD)
    assert found.word == "INCOMPLETE"
    assert found.why.endswith("a worker crashed")


def test_only_a_pass_says_that_a_model_may_be_released():
    lines = {
        word: release_line(release(decided(outcome), CARD), "clip:a/b", status)
        for word, outcome, status in (("PASS", "pass", 0), ("FAIL", "fail", 1), ("NOT GATED", "not run", 0))
    }
    assert lines["PASS"] == "PASS: clip:a/b may be released: 1 of 1 gate passes (exit status 0)"
    assert lines["FAIL"] == "FAIL: clip:a/b may not be released: 1 of 1 gate fails (exit status 1)"
    assert "nothing says whether clip:a/b may be released" in lines["NOT GATED"]


def test_gates_that_do_not_pass_for_the_same_reason_are_one_line():
    run = decided("inconclusive", "fail", "inconclusive", "pass", "inconclusive", "inconclusive")
    assert not_passed_lines(run) == [
        "fail: scenes/task-1:acc_r: because",
        "inconclusive: scenes/task-0:acc_r, scenes/task-2:acc_r, scenes/task-4:acc_r and 1 more: because",
    ]
