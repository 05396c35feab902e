"""Write the files of a run into its folder: when it ends, and when its gates were decided again."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError, described
from vlgate.record import json_files
from vlgate.record.comparison import comparison_record
from vlgate.record.controls import write_controls
from vlgate.record.folder import ANALYSES, CASES, CONTROLS, ENVIRONMENT, METRICS, SHRUNK, VERDICT, RecordedRun
from vlgate.record.judging_again import JudgedAgain
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.parquet import case_table, write_cases, write_predictions
from vlgate.record.results import RunResult
from vlgate.record.results_folder import NAMES
from vlgate.record.verdict import outcome_of, read_verdict
from vlgate.record.whole_file import write_whole
from vlgate.report.ci.release import write_badge
from vlgate.report.explanations import write_explanations
from vlgate.report.page.page import PAGE, write_finds, write_page
from vlgate.report.shrunk import write_shrunk
from vlgate.report.summary import write_summary
from vlgate.types import Task

UNWRITTEN = "the run ended before report.html was written"


def write_rows(run: RunResult, options: Options, tasks: Sequence[Task] = ()) -> list[str]:
    folder = options.results
    problems: list[str] = []
    if run.shrunk:
        problems += saved(lambda: write_shrunk(folder / SHRUNK, run.shrunk, tasks, options.model))
        problems += [] if run.results else saved(lambda: write_finds(folder, options.model))
    if run.results:
        # Predictions first: they need the most memory, and that of the cases' file is not given back at once
        problems += saved(lambda: write_predictions(folder / "predictions.parquet", run))
        problems += saved(lambda: write_cases(folder / "cases.parquet", run))
    return problems


def write_figures(
    run: RunResult, card: ModelCard, options: Options, workers: int, tasks: Sequence[Task] = ()
) -> list[str]:
    """Write the other files of a run, after ``write_rows``; the figures are left out if the run has no tasks."""
    folder = options.results
    problems = saved(lambda: write_summary(folder / "summary.md", run, card, options))
    problems += saved(lambda: json_files.write_environment(folder / "environment.json", options, workers, card.cache))
    if run.controls:
        problems += saved(lambda: write_controls(folder / CONTROLS, run.controls))
    if run.explained.explanations and tasks:
        problems += saved(lambda: write_explanations(folder, run.explained.explanations, tasks))
    if run.results and tasks:
        unfinished = _lacking(run, [*problems, UNWRITTEN])  # the page takes seconds, in which the process may be killed
        problems += saved(lambda: json_files.write_metrics(folder / "metrics.json", unfinished, card, options))
        recorded = recorded_run(_lacking(run, problems), card, options, workers)
        outcome = outcome_of(_lacking(run, problems), card)
        try:
            problems += saved(lambda: write_page(recorded, tasks, outcome=outcome))
        except Exception as error:  # noqa: BLE001  # whatever an image or a text raises, it must not cost the figures
            problems.append(f"{recorded.folder / PAGE} could not be written ({described(error)})")
    if run.results:  # if it is there and says that the run is complete, so are all files above
        known = _lacking(run, problems)
        problems += saved(lambda: json_files.write_metrics(folder / "metrics.json", known, card, options))
        problems += saved(lambda: write_badge(folder, _lacking(run, problems), card))
    last = _lacking(run, problems)  # the last file: a run that lacks any other one does not pass
    return problems + saved(lambda: json_files.write_verdict(folder / VERDICT, last, card, options))


def _lacking(run: RunResult, problems: Sequence[str]) -> RunResult:
    return replace(run, incomplete="; ".join(filter(None, [run.incomplete, *problems])))


def recorded_run(run: RunResult, card: ModelCard, options: Options, workers: int) -> RecordedRun:
    return RecordedRun(
        folder=options.results,
        named=f"--results {options.results}",
        figures=json_files.metrics_content(run, card, options),
        environment=json_files.environment_content(options, workers, card.cache),
        tables={result.task.id: case_table(result.task, result.verdicts) for result in run.results},
    )


def saved(write: Callable[[], object]) -> list[str]:
    try:
        write()
    except OSError as error:
        return [f"{error.filename} could not be written ({os.strerror(error.errno) if error.errno else error})"]
    return []


COPIED = (CASES, "predictions.parquet", ENVIRONMENT, ANALYSES, CONTROLS)


def figures_again(run: RecordedRun, judged: JudgedAgain, thresholds: Path) -> dict[str, Any]:
    again = {name: value for name, value in run.figures.items() if name not in {"baseline", "error_rates"}}
    again["run"] = {**run.figures["run"], "thresholds": str(thresholds)}
    again["gates"] = [json_files.gate_record(decision) for decision in judged.decisions]
    if judged.error_rates is not None:
        again["error_rates"] = asdict(judged.error_rates)
    if judged.comparison is not None:
        again["baseline"] = comparison_record(judged.comparison)
    return again


def refuse_folder(run: RecordedRun, to: Path, *, overwrite: bool) -> None:
    if to.resolve() == run.folder.resolve():
        raise OptionError(f"--results {to}: is the folder of the run itself; name another folder")
    found = next((name for name in NAMES if (to / name).exists()), None)
    if found is not None and not overwrite:
        raise OptionError(f"--results {to}: holds {found} of a run; replace it with --overwrite, or name another")


def write_judged(
    run: RecordedRun, judged: JudgedAgain, figures: dict[str, Any], to: Path, tasks: Sequence[Task]
) -> bool:
    """Write the files of a run with other decisions, but no ``summary.md``: the rows are copied, the rest is new."""
    # ``verdict.json`` comes last: if it is there, so are the others.
    said = read_verdict(run)
    try:
        to.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (to / name).unlink(missing_ok=True)
        for name in COPIED:
            if (run.folder / name).is_file():
                shutil.copyfile(run.folder / name, to / name)
        write_page(replace(run, folder=to, figures=figures), tasks, outcome=judged.outcome)
        write_whole(to / METRICS, json_files.as_written(figures))
        if said is not None:
            write_whole(to / VERDICT, json_files.canonical(json_files.content_again(said, judged)) + "\n")
    except OSError as error:
        raise OptionError(f"--results {to}: cannot be written ({error.strerror}); name another folder") from None
    return said is not None
