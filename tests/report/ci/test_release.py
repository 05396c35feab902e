"""The first line of a run's end: may the model be released?"""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import json_table

from vlgate.gates.records import Decision, Gate
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.ci.release import not_passed_lines, release, release_line

TABLES = Path(__file__).with_suffix(".tsv")

CARD = ModelCard(name="clip", weights="a/b", fingerprint="0a1b", adapters={})


def decided(*outcomes, why="because"):
    gates = (Gate(task=f"scenes/task-{number}", metric="acc_r") for number in range(len(outcomes)))
    made = (Decision(gate=gate, outcome=outcome, why=why) for gate, outcome in zip(gates, outcomes, strict=True))
    return RunResult(results=(), decisions=tuple(made))


@pytest.mark.parametrize(("outcomes", "tests", "word", "why"), json_table(TABLES, "the_worst_comes_first"))
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
