"""``badge.json``, for the endpoint of shields.io."""

import json
from dataclasses import replace

import pytest

from vlgate.record.results import RunResult
from vlgate.report.ci.release import write_badge
from vlgate.report.folder import write_figures


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
