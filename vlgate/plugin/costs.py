"""What is said before and during the cases: how long the run takes, and what its controls ask beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every session of pytest imports this module
    from vlgate.plugin.estimate import Estimate
    from vlgate.plugin.run import Run
    from vlgate.run.controlling import Cost


def costs_of(run: Run) -> list[Cost]:
    """Return what each control of a run costs, about the tasks that are selected; a part of a run asks none."""
    if not run.options.controls or run.options.shard is not None:
        return []
    from vlgate.run.controlling import costs

    asked = {batch.task.id for batch in run.collected.expected.values()}
    return costs([task for task in run.plan.tasks if task.id in asked], run.options)


def say_costs(run: Run) -> None:
    """Say what the controls ask, before the first case is asked."""
    reporter = run.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not run.collects_only:
        for cost in costs_of(run):
            reporter.write_line(f"vlgate: {cost}")
        if run.searched:
            budget = run.options.shrink_budget
            most = f"at most {run.searched * budget:,} requests, {budget:,} per case"
            reporter.write_line(f"vlgate: searches for smallest changes: {run.searched:,} cases, {most}")


def announce(run: Run, cases: int, seconds: float) -> Estimate:
    """Say how long the run and its controls will take, if its model took some seconds for some cases.

    Returns: the estimate, which may turn out wrong.
    """
    from vlgate.inference.pace import Pace
    from vlgate.plugin.estimate import Estimate

    total = sum(len(batch.positions) for batch in run.collected.expected.values())
    estimate = Estimate(Pace(cases=cases, seconds=seconds), total, int(run.config.getoption("numprocesses", None) or 1))
    lines = [line for line in (estimate.line(), *map(estimate.more, costs_of(run))) if line]
    reporter = run.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and lines:
        if reporter._tw.width_of_current_line:  # noqa: SLF001  # pytest's letters are on this line
            reporter.write_line("")
        for line in lines:
            reporter.write_line(line)
    return estimate
