"""Remarks that say how far a figure can be trusted."""

from dataclasses import replace

import pytest

from vlgate.gates.records import Gate
from vlgate.metrics.macro import Mean
from vlgate.record.results import RunResult
from vlgate.report.remarks import average_lines, published_lines
from vlgate.report.rows import chance_line


def renamed(run, name, cases):
    """The first foil task under another name, with its figures over so many cases."""
    [result] = [result for result in run.results if result.task.id == "scenes/existence"]
    metrics = {metric: replace(found, n=cases) for metric, found in result.metrics.items()}
    return replace(result, task=replace(result.task, id=name), metrics=metrics)


@pytest.mark.parametrize(("cases", "marked"), [(29, True), (30, False)])
def test_a_figure_over_few_cases_beside_a_published_one_is_marked(run, cases, marked):
    [line] = published_lines(RunResult(results=(renamed(run, "valse/existence", cases),), decisions=()))
    assert ("over fewer than 30 cases" in line) == marked


def test_an_average_says_how_many_of_its_tasks_have_few_cases(run):
    results = [renamed(run, f"valse/{name}", n) for name, n in (("existence", 29), ("plurality", 30), ("foil-it", 4))]
    averages = {"valse:acc_r": Mean(value=0.5, tasks=3, of=11), "vl-checklist:acc_r": Mean(value=0.5, tasks=1, of=40)}
    first, second = average_lines(RunResult(results=tuple(results), decisions=(), averages=averages))
    assert first.endswith("over 3 of 11 tasks (over fewer than 30 cases in 2 of them)")
    assert second.endswith("over 1 of 40 tasks")


@pytest.mark.parametrize(("least", "warned"), [(0.49, True), (0.5, True), (0.51, False), (None, False)])
def test_a_gate_that_guessing_reaches_says_so(run, least, warned):
    gate = Gate(task="scenes/existence", metric="acc_r", min=least, max=0.9)
    line = chance_line(run, replace(run.decisions[0], gate=gate))
    assert (line is not None) == warned
    if line is not None:
        assert line.startswith("scenes/existence:acc_r: ")
        assert "not above chance, 0.500" in line


def test_a_metric_without_a_chance_level_has_no_warning(run):
    gate = Gate(task="scenes/existence", metric="p_c", min=0.0)
    assert chance_line(run, replace(run.decisions[0], gate=gate)) is None
