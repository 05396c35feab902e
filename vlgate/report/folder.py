"""The files of a run, written into its results folder when it ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from vlgate.report.environment import write_environment
from vlgate.report.metrics_json import write_metrics
from vlgate.report.parquet import write_cases, write_predictions
from vlgate.report.shrunk import write_shrunk
from vlgate.report.summary import write_summary
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.results import RunResult


def write_rows(run: RunResult, options: Options) -> list[str]:
    """Write the files with the replies of a run.

    Returns: for each file that could not be written, a sentence that says why.
    """
    folder = options.results
    problems: list[str] = []
    if run.shrunk:
        problems += _saved(lambda: write_shrunk(folder / "shrunk.jsonl", run.shrunk))
    if run.results:
        problems += _saved(lambda: write_cases(folder / "cases.parquet", run))
        problems += _saved(lambda: write_predictions(folder / "predictions.parquet", run))
    return problems


def write_figures(run: RunResult, card: ModelCard, options: Options, workers: int) -> list[str]:
    """Write the other files of a run, after ``write_rows``; ``metrics.json`` is left out if the run has no tasks.

    Returns: for each file that could not be written, a sentence that says why.
    """
    folder = options.results
    problems = _saved(lambda: write_summary(folder / "summary.md", run, card, options))
    problems += _saved(lambda: write_environment(folder / "environment.json", options, workers))
    if run.results:  # the last file: if it is there and says that the run is complete, so are all others
        known = replace(run, incomplete="; ".join(filter(None, [run.incomplete, *problems])))
        problems += _saved(lambda: write_metrics(folder / "metrics.json", known, card, options))
    return problems


def _saved(write: Callable[[], None]) -> list[str]:
    try:
        write()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return [f"{error.filename} could not be written ({reason})"]
    return []
