"""Write the results of a run for Allure, when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import time

from vlgate.recorded.folder import titled
from vlgate.report.allure.cases import case_results
from vlgate.report.allure.gates import gate_results, run_result
from vlgate.report.allure.overview import write_globals, write_overview
from vlgate.report.allure.pages import table, text
from vlgate.report.allure.results import Attachment, Moment, write_result
from vlgate.report.page.page import PAGE
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.results import RunResult


def write_report(
    folder: Path, run: RunResult, model: ModelCard, options: Options, moments: Mapping[tuple[str, str], Moment]
) -> None:
    """Write the results of a run, its gates first, and the files of the overview.

    Args:
        folder: where Allure reads its results.
        run: the result of the run.
        model: its model.
        options: its options; the page of the run is in its results folder.
        moments: when each case was asked, by the ids of its task and of the case; without any, the time is now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    start = min((one.start for one in moments.values()), default=int(time() * 1000))
    at = Moment(start=start, stop=max((one.stop for one in moments.values()), default=start))
    first = Moment(start=start, stop=start)  # before any case, because Allure 3 sorts by time
    page = _page(options.results / PAGE)
    write_result(folder, run_result(run, model, first, page))
    for result in gate_results(run, first, page):
        write_result(folder, result)
    for result in case_results(run, moments, start):
        write_result(folder, result)
    title = text(titled(model.name, model.weights))
    shown = f'<!doctype html><meta charset="utf-8"><title>{title}</title>{table(run, model)}'
    overview = Attachment(name="results.html", kind="text/html", ending="html", data=shown.encode("utf-8", "replace"))
    write_globals(folder, run, model, (overview, *page), at)
    write_overview(folder, run, model, options, at)


def _page(file: Path) -> tuple[Attachment, ...]:
    """The page of the run; nothing if it could not be written."""
    if not file.is_file():
        return ()
    return (Attachment(name=file.name, kind="text/html", ending="html", data=file.read_bytes()),)
