"""The files of a run, written into its results folder when it ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from vlgate.errors import described
from vlgate.recorded.folder import CONTROLS, VERDICT, RecordedRun
from vlgate.report.ci.badge import write_badge
from vlgate.report.controlled.files import write_controls
from vlgate.report.environment import environment_content, write_environment
from vlgate.report.explanations.files import write_explanations
from vlgate.report.metrics_json import metrics_content, write_metrics
from vlgate.report.shrunk import FILE as SHRUNK
from vlgate.report.shrunk import write_shrunk
from vlgate.report.smallest.page import write_finds
from vlgate.report.summary import write_summary
from vlgate.report.tables.parquet import write_cases, write_predictions
from vlgate.report.verdict_json import write_verdict
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.results import RunResult
from vlgate.run.verdict import RunOutcome, outcome_of
from vlgate.types import Task

UNWRITTEN = "the run ended before report.html was written"


def write_rows(run: RunResult, options: Options, tasks: Sequence[Task] = ()) -> list[str]:
    """Write the files with the replies of a run; ``tasks`` are those of its plan, for the images of its finds.

    Returns: for each file that could not be written, a sentence that says why.
    """
    folder = options.results
    problems: list[str] = []
    if run.shrunk:
        problems += saved(lambda: write_shrunk(folder / SHRUNK, run.shrunk, tasks, options.model))
        problems += [] if run.results else saved(lambda: write_finds(folder, options.model))
    if run.results:
        problems += saved(lambda: write_cases(folder / "cases.parquet", run))
        problems += saved(lambda: write_predictions(folder / "predictions.parquet", run))
    return problems


def write_figures(
    run: RunResult, card: ModelCard, options: Options, workers: int, tasks: Sequence[Task] = ()
) -> list[str]:
    """Write the other files of a run, after ``write_rows``; the figures are left out if the run has no tasks.

    Args:
        run: the result of the run.
        card: its model.
        options: its options.
        workers: the number of processes with a model.
        tasks: the tasks of its plan, whose images the page shows; without any, there is no page yet.

    Returns: for each file that could not be written, a sentence that says why.
    """
    folder = options.results
    problems = saved(lambda: write_summary(folder / "summary.md", run, card, options))
    problems += saved(lambda: write_environment(folder / "environment.json", options, workers, card.cache))
    if run.controls:
        problems += saved(lambda: write_controls(folder / CONTROLS, run.controls))
    if run.explained.explanations and tasks:
        problems += saved(lambda: write_explanations(folder, run.explained.explanations, tasks))
    if run.results and tasks:
        unfinished = _lacking(run, [*problems, UNWRITTEN])  # the page takes seconds, in which the process may be killed
        problems += saved(lambda: write_metrics(folder / "metrics.json", unfinished, card, options))
        recorded = recorded_run(_lacking(run, problems), card, options, workers)
        problems += _page_saved(recorded, tasks, outcome_of(_lacking(run, problems), card))
    if run.results:  # if it is there and says that the run is complete, so are all files above
        known = _lacking(run, problems)
        problems += saved(lambda: write_metrics(folder / "metrics.json", known, card, options))
        problems += saved(lambda: write_badge(folder, _lacking(run, problems), card))
    last = _lacking(run, problems)  # the last file: a run that lacks any other one does not pass
    return problems + saved(lambda: write_verdict(folder / VERDICT, last, card, options))


def _lacking(run: RunResult, problems: Sequence[str]) -> RunResult:
    return replace(run, incomplete="; ".join(filter(None, [run.incomplete, *problems])))


def recorded_run(run: RunResult, card: ModelCard, options: Options, workers: int) -> RecordedRun:
    """Return a run as its folder will tell it."""
    return RecordedRun(
        folder=options.results,
        named=f"--results {options.results}",
        figures=metrics_content(run, card, options),
        environment=environment_content(options, workers, card.cache),
    )


def _page_saved(run: RecordedRun, tasks: Sequence[Task], outcome: RunOutcome) -> list[str]:
    """Write the page. An image or a text of a user must not cost the figures, whatever it raises."""
    from vlgate.report.page.page import PAGE, write_page

    try:
        return saved(lambda: write_page(run, tasks, outcome=outcome))
    except Exception as error:  # noqa: BLE001  # the figures are worth more than the page
        return [f"{run.folder / PAGE} could not be written ({described(error)})"]


def saved(write: Callable[[], object]) -> list[str]:
    """Call a function that writes a file; return a sentence if that fails, otherwise nothing."""
    try:
        write()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return [f"{error.filename} could not be written ({reason})"]
    return []
