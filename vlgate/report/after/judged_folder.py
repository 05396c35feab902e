"""The folder of a run whose gates were decided again: its files, with the new decisions."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError
from vlgate.recorded.folder import ANALYSES, CASES, CONTROLS, ENVIRONMENT, METRICS, VERDICT, RecordedRun
from vlgate.recorded.verdict import read_verdict
from vlgate.report.comparison import comparison_record
from vlgate.report.metrics_json import as_written, gate_record
from vlgate.report.page.page import write_page
from vlgate.report.results_folder import NAMES
from vlgate.report.verdict_json import canonical, content_again
from vlgate.report.whole_file import write_whole
from vlgate.run.judging_again import JudgedAgain
from vlgate.types import Task

COPIED = (CASES, "predictions.parquet", ENVIRONMENT, ANALYSES, CONTROLS)


def figures_again(run: RecordedRun, judged: JudgedAgain, thresholds: Path) -> dict[str, Any]:
    """Return the content of ``metrics.json`` with the new decisions, thresholds file and comparison."""
    found = {name: value for name, value in run.figures.items() if name not in {"baseline", "error_rates"}}
    found |= {
        "run": {**run.figures["run"], "thresholds": str(thresholds)},
        "gates": [gate_record(one) for one in judged.decisions],
    }
    if judged.error_rates is not None:
        found["error_rates"] = asdict(judged.error_rates)
    if judged.comparison is not None:
        found["baseline"] = comparison_record(judged.comparison)
    return found


def refuse_folder(run: RecordedRun, to: Path, *, overwrite: bool) -> None:
    """Refuse a folder for the files of a judged run.

    Raises: OptionError if it is the run's own folder, or holds the files of a run that may not be replaced.
    """
    if to.resolve() == run.folder.resolve():
        raise OptionError(f"--results {to}: is the folder of the run itself; name another folder")
    found = next((name for name in NAMES if (to / name).exists()), None)
    if found is not None and not overwrite:
        raise OptionError(f"--results {to}: holds {found} of a run; replace it with --overwrite, or name another")


def write_judged(
    run: RecordedRun, judged: JudgedAgain, figures: dict[str, Any], to: Path, tasks: Sequence[Task]
) -> bool:
    """Write the files of a run with other decisions: the rows are copied, the page and the figures are new.

    ``verdict.json`` comes last: if it is there, so are the others. There is no ``summary.md``.

    Returns: whether there is a ``verdict.json``: only if the run has one, which tells the digests of what was judged.
    Raises: OptionError if a file cannot be written, or if the run's own ``verdict.json`` cannot be used.
    """
    said = read_verdict(run)
    try:
        to.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (to / name).unlink(missing_ok=True)
        for name in COPIED:
            if (run.folder / name).is_file():
                shutil.copyfile(run.folder / name, to / name)
        write_page(replace(run, folder=to, figures=figures), tasks, outcome=judged.outcome)
        write_whole(to / METRICS, as_written(figures))
        if said is not None:
            write_whole(to / VERDICT, canonical(content_again(said, judged)) + "\n")
    except OSError as error:
        raise OptionError(f"--results {to}: cannot be written ({error.strerror}); name another folder") from None
    return said is not None
