"""May the model be released: the first line of a run's end, ``badge.json``, and the page of a job."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import json_table

from vlgate.gates.records import Decision, Gate
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.ci import release as module
from vlgate.report.ci.release import MOST, append_summary, not_passed_lines, release, release_line, write_badge
from vlgate.report.folder import write_figures

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


@pytest.fixture
def badge(card, tmp_path):
    def written(run):
        write_badge(tmp_path, run, card)
        return json.loads((tmp_path / "badge.json").read_text())

    return written


def test_it_has_the_keys_of_the_endpoint_and_says_how_many_gates_pass(badge, run, passing):
    assert badge(passing) == {
        "schemaVersion": 1,
        "label": "vlgate",
        "message": "pass, 1 of 1 gates",
        "color": "brightgreen",
        "isError": False,
    }
    failed = badge(replace(run, results=()))
    assert (failed["message"], failed["color"], failed["isError"]) == ("fail, 0 of 5 gates", "red", True)


def test_it_says_what_the_verdict_says(badge, run, passing):
    assert badge(run)["message"] == "broken"  # a case of it was not scored
    assert badge(replace(passing, tests=1))["message"] == "fail, 1 of 1 gates"


def test_only_a_run_that_passes_is_green(badge, passing):
    unsure = replace(passing.decisions[0], outcome="inconclusive")
    others = (
        replace(passing, incomplete="a worker crashed"),
        replace(passing, decisions=(unsure,)),
        RunResult(results=(), decisions=()),
    )
    said = [badge(other) for other in others]
    assert [one["message"] for one in said] == ["incomplete", "inconclusive, 0 of 1 gates", "not gated"]
    assert not any("green" in one["color"] for one in said)


def test_the_badge_of_a_run_whose_figures_cannot_be_written_does_not_say_pass(passing, card, options, tmp_path):
    (tmp_path / "metrics.json").mkdir()
    problems = write_figures(passing, card, replace(options, results=tmp_path), workers=1)
    assert any("metrics.json" in problem for problem in problems)
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "incomplete"


@pytest.fixture
def files(tmp_path):
    summary, job = tmp_path / "summary.md", tmp_path / "job"
    job.write_text("before\n")
    return summary, job


def test_the_summary_is_appended(files):
    summary, job = files
    summary.write_text("# model: gates pass\n")
    assert append_summary(summary, str(job)) == ""
    assert job.read_text() == "before\n# model: gates pass\n"


def test_nothing_is_written_outside_of_a_job(files):
    assert append_summary(files[0], "") == ""


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_so(files):
    summary, job = files
    summary.write_text("a line é\n" * 200_000)
    assert "was cut" in append_summary(summary, str(job))
    text = job.read_bytes()
    assert len(text) <= MOST
    *lines, _, note, _ = text.decode().split("\n")
    assert "1 MiB" in note
    assert set(lines[1:]) == {"a line é", ""}


def test_a_job_without_room_gets_nothing(files, monkeypatch):
    summary, job = files
    summary.write_text("a line\n")
    monkeypatch.setattr(module, "MOST", 10)
    assert "was cut" in append_summary(summary, str(job))
    assert job.read_text() == "before\n"


def test_a_file_that_cannot_be_written_is_said(files, tmp_path):
    files[0].write_text("text")
    assert "could not be written" in append_summary(files[0], str(tmp_path))
