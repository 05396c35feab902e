from dataclasses import replace

import pytest

from vlgate.gates.records import Gate
from vlgate.record.results import RunResult
from vlgate.report.rows import HEADINGS, coverage_line, rows


def cells(row):
    return dict(zip(HEADINGS, row.cells, strict=True))


def lines(run):
    return {(cell["task"], cell["metric"]): (cell, row.outcome) for row in rows(run) for cell in [cells(row)]}


def test_a_row_has_the_figures_of_its_metric_and_the_decision_of_its_gate(run):
    [result] = [result for result in run.results if result.task.id == "scenes/existence"]
    for name in ("acc_r", "p_c"):
        cell, _ = lines(run)["scenes/existence", name]
        metric = result.metrics[name]
        assert cell["n"] == str(metric.n)
        assert cell["value"] == f"{metric.value:.3f}"
        assert cell["interval"] == f"{metric.low:.3f} - {metric.high:.3f}"
    cell, outcome = lines(run)["scenes/existence", "acc_r"]
    assert (cell["n"], cell["value"], cell["threshold"]) == ("38", "0.789", ">= 0.5")
    assert (cell["decision"], outcome) == ("inconclusive", "inconclusive")
    cell, outcome = lines(run)["scenes/existence", "p_c"]
    assert (cell["n"], cell["value"], cell["threshold"]) == ("34", "0.882", ">= 0.99 (value)")
    assert (cell["decision"], outcome) == ("fail", "fail")


def test_a_row_shows_the_interval_that_the_gate_was_judged_by(run):
    [result] = [result for result in run.results if result.task.id == "scenes/existence"]
    [decision] = [decision for decision in run.decisions if decision.gate.metric == "auroc"]
    cell, _ = lines(run)["scenes/existence", "auroc"]
    assert cell["interval"] == f"{decision.metric.low:.3f} - {decision.metric.high:.3f}"
    assert decision.metric.low < result.metrics["auroc"].low
    assert cell["threshold"] == ">= 0.25 and <= 0.5"


def test_a_task_without_a_gate_on_its_headline_shows_it_without_a_decision(run):
    cell, outcome = lines(run)["scenes/order-inv", "c_acc"]
    assert (cell["n"], cell["value"], cell["threshold"], cell["decision"]) == ("2", "0.500", "-", "-")
    assert outcome is None


def test_a_gate_that_is_not_run_has_a_row_with_the_figures_of_the_task(run):
    [result] = [result for result in run.results if result.task.id == "scenes/existence"]
    idle = [
        replace(decision, metric=None, outcome="not run")
        for decision in run.decisions
        if decision.gate.metric == "acc_r"
    ]
    [row] = rows(RunResult(results=(result,), decisions=tuple(idle)))
    cell = cells(row)
    assert (cell["n"], cell["value"], cell["decision"]) == ("38", "0.789", "not run")


def test_a_gate_on_a_metric_that_the_model_does_not_give_has_a_row_without_figures(run):
    [decision] = [decision for decision in run.decisions if decision.gate.metric == "auroc"]
    silent = replace(decision, metric=None, outcome="inconclusive")
    [row] = rows(RunResult(results=run.results[:1], decisions=(silent,)))[1:]
    cell = cells(row)
    assert (cell["metric"], cell["n"], cell["value"], cell["interval"]) == ("auroc", "38", "-", "-")
    assert cell["decision"] == "inconclusive"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"min": 0.6}, ">= 0.6"),
        ({"max": 0.125}, "<= 0.125"),
        ({"min": 0.0, "max": 1.0}, ">= 0 and <= 1"),
        ({"min": 0.6, "basis": "value"}, ">= 0.6 (value)"),
    ],
)
def test_a_threshold_is_shown_as_in_the_file(run, keys, said):
    decision = replace(run.decisions[0], gate=Gate(task="scenes/existence", metric="acc_r", **keys))
    [row] = rows(RunResult(results=run.results[:1], decisions=(decision,)))
    assert cells(row)["threshold"] == said


def test_the_cases_that_were_not_judged_are_described(run):
    said = {result.task.id: coverage_line(result) for result in run.results}
    assert said == {
        "scenes/existence": "scenes/existence: 38 of 40 cases judged; "
        "1 unscored, 1 skipped, 4 with a tie, 2 caption equals foil "
        "(first: image 'missing.jpg': not found)",
        "scenes/order-inv": "scenes/order-inv: 2 of 2 cases judged; 1 deselected",
        "scenes/word-swap": "scenes/word-swap: 2 of 2 cases judged; 1 with a tie",
    }


def test_a_task_that_was_judged_without_a_tie_has_no_line(passing):
    [result] = passing.results
    assert coverage_line(result) is None
