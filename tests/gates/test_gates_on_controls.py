"""Gates on figures of controls: which names a thresholds file may hold, and what is decided from a sample."""

from pathlib import Path

import numpy as np
import pytest

from vlgate.gates.decide import Coverage, Judged, decide_all
from vlgate.gates.error_rates import error_rates
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.measures import Columns
from vlgate.types import Metric

TASK = "valse/existence"
SHAPES = {TASK: "pair", "carets/order-inv": "questions"}


def controlled(gained, n=40):
    """A control in which so many of n cases need the image."""
    image = np.ones(n)
    return ControlledTask(
        cases=tuple(map(str, range(n))),
        images=tuple(map(str, range(n))),
        columns={"image": image, "grey": np.where(np.arange(n) < gained, 0.0, 1.0)},
        figures={"visual_gain": Figure(column="image", before="grey")},
    )


def decision(gate, found, deselected=0):
    """The decision of a gate of a task with 500 cases, given what a control found."""
    columns = Columns(
        shape="pair", scores=np.zeros((500, 2)), accepted=np.zeros((500, 2)), facts={}, images=np.arange(500)
    )
    coverage = Coverage(cases=500, judged=500, unscored=0, skipped=0, deselected=deselected)
    task = Judged(shape="pair", coverage=coverage, columns=columns, controls={} if found is None else {"look": found})
    thresholds = Thresholds(file=Path("t.toml"), rules=(gate,), require=())
    return decide_all(thresholds, {TASK: task})[0]


@pytest.mark.parametrize(("gained", "outcome"), [(30, "pass"), (0, "fail"), (12, "inconclusive")])
def test_a_gate_judges_the_interval_of_the_sample(gained, outcome):
    found = decision(Gate(task=TASK, metric="visual_gain", min=0.3), controlled(gained))
    assert found.outcome == outcome
    assert found.metric.n == 40
    assert (found.p is not None) == (outcome == "fail")


def test_the_confidence_of_the_gate_counts():
    """12 of 40 gained reach 0.2 at 70 %, and not at 99 %."""
    outcomes = {
        confidence: decision(Gate(task=TASK, metric="visual_gain", min=0.2, confidence=confidence), controlled(12))
        for confidence in (0.7, 0.99)
    }
    assert [outcomes[0.7].outcome, outcomes[0.99].outcome] == ["pass", "inconclusive"]
    assert "raise --controls-limit" in outcomes[0.99].why


def test_without_the_control_a_gate_is_inconclusive_and_names_it():
    found = decision(Gate(task=TASK, metric="visual_gain", min=0.1), None)
    assert found.outcome == "inconclusive"
    assert "--controls look" in found.why


def test_too_few_cases_and_deselected_ones_cannot_pass():
    gate = Gate(task=TASK, metric="visual_gain", min=0.1)
    assert decision(gate, controlled(20, n=20)).outcome == "inconclusive"
    assert decision(gate, controlled(40), deselected=3).outcome == "inconclusive"


def read(tmp_path, text):
    file = tmp_path / "t.toml"
    file.write_text(f"schema = 1\n{text}")
    return read_thresholds(file, SHAPES)


def test_a_pattern_gates_the_figure_of_every_task(tmp_path):
    rules = read(tmp_path, '[gate."*".visual_gain]\nmin = 0.1\n').rules
    assert [(rule.task, rule.metric, rule.min) for rule in rules] == [("*", "visual_gain", 0.1)]


def rates(value, half):
    metric = Metric(value=value, low=value - half, high=value + half, n=100)
    gate = Gate(task=TASK, metric="visual_gain", min=0.1)
    return error_rates([Decision(gate=gate, outcome="pass", why="", metric=metric)])


def test_error_rates_of_a_difference():
    """A model on the threshold fails at one end of the interval; one far above passes again, one far below never."""
    assert rates(0.4, 0.1).threshold_fails == pytest.approx(0.025, abs=0.006)
    assert (rates(0.4, 0.1).unchanged_passes, rates(0.4, 0.1).unchanged_fails) == (1.0, 0.0)
    assert rates(-0.4, 0.1).unchanged_fails == 1.0


def test_a_difference_may_have_a_negative_threshold(tmp_path):
    rules = read(tmp_path, '[gate."valse/existence".visual_gain]\nmin = -0.1\n').rules
    assert [rule.min for rule in rules] == [-0.1]
    assert decision(rules[0], controlled(0)).outcome == "pass"
    assert decision(Gate(task=TASK, metric="visual_gain", min=0.1), controlled(0)).outcome == "fail"
