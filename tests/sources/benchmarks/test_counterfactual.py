"""The counterfactual tasks: asked only by name, for any seed, and split into prior and other errors in the report."""

import json
from pathlib import Path

import pytest

from vlgate.record.options import Options
from vlgate.report.remarks import recorded_splits
from vlgate.run.planning import make_plan


def asked(**options):
    paths = {name: Path(name) for name in ("folder", "thresholds", "results")}
    return [task.id for task in make_plan(Options(**paths, **options)).tasks]


def test_nothing_asks_them_by_default(tmp_path):
    pair = {"task": "mine/a", "image": "a.png", "caption": "x", "foil": "y"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(pair))
    assert not any(name.startswith("counterfactual") for name in asked())
    assert asked(data=(tmp_path,)) == ["mine/a"]


def test_a_pattern_asks_them():
    assert asked(suite=("counterfactual/*",)) == ["counterfactual/captions", "counterfactual/questions"]
    assert asked(suite=("counterfactual/q*",), seed=5) == ["counterfactual/questions"]


def test_the_report_splits_the_errors():
    shares = {"acc_normal": 0.9, "acc_counterfactual": 0.2, "prior_rate": 0.5, "unread_rate": 0.1}
    metrics = {name: {"value": value, "low": 0.4, "high": 0.6, "n": 20} for name, value in shares.items()}
    tasks = {"counterfactual/questions": {"metrics": metrics, "slices": {"kind=a": metrics}}, "scenes/x": {}}
    tasks["scenes/x"] = {"metrics": {"acc_r": metrics["prior_rate"]}, "slices": {}}
    whole, part = recorded_splits(tasks)
    assert (whole.task, whole.part, part.part) == ("counterfactual/questions", "", "kind=a")
    assert (whole.right, whole.prior, whole.unread) == (0.2, 0.5, 0.1)
    assert whole.other == pytest.approx(0.2)
