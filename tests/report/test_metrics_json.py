import json
from dataclasses import replace

import pytest

from vlgate.record.json_files import write_metrics
from vlgate.record.results import RunResult
from vlgate.types import Metric


@pytest.fixture
def written(tmp_path, card, options):
    def write(run):
        write_metrics(tmp_path / "metrics.json", run, card, options)
        return (tmp_path / "metrics.json").read_bytes()

    return write


@pytest.fixture
def content(written, run):
    def refuse(number):
        raise AssertionError(f"{number} is not valid JSON")

    return json.loads(written(run), parse_constant=refuse)


def same(written, metric):
    """Whether the figures of a metric were written to the last digit."""
    keys = ("value", "low", "high", "n", *(["deff"] if "deff" in written else []))
    return [written[key] for key in keys] == [getattr(metric, key) for key in keys]


def test_every_metric_of_every_task_and_slice_is_written_to_the_last_digit(content, run):
    for result in run.results:
        task = content["tasks"][result.task.id]
        assert list(task["metrics"]) == list(result.metrics)
        assert all(same(task["metrics"][name], metric) for name, metric in result.metrics.items())
        assert list(task["slices"]) == list(result.slices)
        for name, slice_ in result.slices.items():
            assert list(task["slices"][name]) == list(slice_)
            assert all(same(task["slices"][name][metric], value) for metric, value in slice_.items())


def test_a_gate_without_a_metric_has_nulls_for_figures(content):
    [idle] = [gate for gate in content["gates"] if gate["gate"] == "valse/*:acc_r"]
    assert [idle[key] for key in ("value", "low", "high", "n")] == [None] * 4
    assert idle["decision"] == "not run"


def test_a_value_of_zero_is_zero_and_not_null(written, run):
    nothing = Metric(value=0.0, low=0.0, high=0.25, n=12)
    decision = replace(run.decisions[0], metric=nothing)
    [gate] = json.loads(written(RunResult(results=(), decisions=(decision,))))["gates"]
    assert [gate[key] for key in ("value", "low", "high", "n")] == [0.0, 0.0, 0.25, 12]


