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


def test_the_schema_the_model_and_the_run_are_named(content, options):
    assert content["schema"] == 2
    assert content["model"] == {
        "name": "lxmert",
        "weights": "unc-nlp/lxmert",
        "fingerprint": "0a1b",
        "adapters": {"Match": "match(): scores pairs together", "Ask": "answer()"},
        "notes": ["3 texts were cut at the model's context length"],
        "checks": [],
    }
    assert content["run"] == {
        "seed": 7,
        "limit": 40,
        "quick": False,
        "ties": "strict",
        "missing_images": "fail",
        "suite": ["scenes/*"],
        "thresholds": str(options.thresholds),
        "protocols": [],
        "scenes": None,
    }


def test_every_task_has_its_capability_and_the_counts_of_its_cases(content):
    counts = ("capability", "cases", "judged", "tied", "unscored", "skipped", "deselected", "left_out")
    assert {task: tuple(found[key] for key in counts) for task, found in content["tasks"].items()} == {
        "scenes/existence": ("foil", 40, 38, 4, 1, 1, 0, {"caption equals foil": 2}),
        "scenes/order-inv": ("invariance", 2, 2, 0, 0, 0, 1, {}),
        "scenes/word-swap": ("compositional", 2, 2, 1, 0, 0, 0, {}),
    }


def test_every_task_says_how_many_images_it_has_and_every_metric_its_design_effect(content):
    assert {task: found["images"] for task, found in content["tasks"].items()} == {
        "scenes/existence": 38,
        "scenes/order-inv": 2,
        "scenes/word-swap": 4,
    }
    assert {metric["deff"] for found in content["tasks"].values() for metric in found["metrics"].values()} == {1.0}


def test_every_metric_of_every_task_and_slice_is_written_to_the_last_digit(content, run):
    for result in run.results:
        task = content["tasks"][result.task.id]
        assert list(task["metrics"]) == list(result.metrics)
        assert all(same(task["metrics"][name], metric) for name, metric in result.metrics.items())
        assert list(task["slices"]) == list(result.slices)
        for name, found in result.slices.items():
            assert list(task["slices"][name]) == list(found)
            assert all(same(task["slices"][name][metric], value) for metric, value in found.items())


def test_a_slice_is_a_tag_and_its_value_and_the_slices_add_up(content):
    task = content["tasks"]["scenes/existence"]
    assert list(task["slices"]) == ["half=first", "half=second"]
    first, second = (task["slices"][name]["acc_r"] for name in task["slices"])
    assert (first["n"], first["value"]) == (20, 1.0)
    assert (second["n"], second["value"]) == (18, 10 / 18)
    assert list(content["tasks"]["scenes/order-inv"]["slices"]) == ["odd=a|b"]


def test_chance_stands_beside_each_metric_that_has_a_chance_level(content):
    metrics = content["tasks"]["scenes/existence"]["metrics"]
    assert {name: metric.get("chance") for name, metric in metrics.items()} == {
        "acc_r": 0.5,
        "acc": 0.5,
        "p_c": None,
        "p_f": None,
        "min_pc_pf": None,
        "auroc": 0.5,
    }


def test_the_blind_models_figure_is_given_with_a_metric_if_there_is_one(content):
    metrics = content["tasks"]["scenes/existence"]["metrics"]
    assert {name: metric["blind"]["value"] for name, metric in metrics.items()} == {
        "acc_r": 0.5,
        "acc": 0.5,
        "p_c": 0.0,
        "p_f": 1.0,
        "min_pc_pf": 0.0,
        "auroc": 0.5,
    }
    assert all("blind" not in metric for metric in content["tasks"]["scenes/word-swap"]["metrics"].values())


def test_every_gate_has_its_threshold_metric_and_decision(content, run):
    assert [gate["gate"] for gate in content["gates"]] == [decision.gate.id for decision in run.decisions]
    for written, decision in zip(content["gates"], run.decisions, strict=True):
        gate = decision.gate
        assert (written["decision"], written["why"], written["reason"]) == (decision.outcome, decision.why, gate.why)
        assert [written[key] for key in ("min", "max", "basis", "confidence")] == [
            gate.min,
            gate.max,
            gate.basis,
            gate.confidence,
        ]
        if decision.metric is not None:
            assert same(written, decision.metric)


def test_a_gate_without_a_metric_has_nulls_for_figures(content):
    [idle] = [gate for gate in content["gates"] if gate["gate"] == "valse/*:acc_r"]
    assert [idle[key] for key in ("value", "low", "high", "n")] == [None] * 4
    assert idle["decision"] == "not run"


def test_a_value_of_zero_is_zero_and_not_null(written, run):
    nothing = Metric(value=0.0, low=0.0, high=0.25, n=12)
    decision = replace(run.decisions[0], metric=nothing)
    [gate] = json.loads(written(RunResult(results=(), decisions=(decision,))))["gates"]
    assert [gate[key] for key in ("value", "low", "high", "n")] == [0.0, 0.0, 0.25, 12]


def test_equal_results_are_equal_bytes(written, run, run_again):
    assert run_again is not run
    assert written(run_again) == written(run)
