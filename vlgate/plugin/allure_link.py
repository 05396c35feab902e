"""The connection to Allure, if ``--alluredir`` asks for it; otherwise allure is not imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vlgate.types import Batch

if TYPE_CHECKING:
    from vlgate.plugin.collected import Collected
    from vlgate.probes.shrink.search import Search
    from vlgate.record.model_card import ModelCard
    from vlgate.record.options import Options
    from vlgate.record.results import RunResult
    from vlgate.report.allure.quiet import Quiet
    from vlgate.report.allure.results import Moment


class AllureLink:
    # allure-pytest writes a result per test. Those of the suite's tests are held back: a test may hold one case or
    # many, and a case has the same result either way, with and without workers.

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.folder = config.invocation_params.dir / Path(config.getoption("allure_report_dir"))
        self.reports: dict[str, pytest.TestReport] = {}
        self.quiet: Quiet | None = None

    def start(self) -> None:
        """Stand before what allure-pytest writes, once it is configured; its own end comes after ours."""
        from vlgate.report.allure.quiet import quieted

        self.quiet = quieted()
        if self.quiet is not None:
            self.config.add_cleanup(self.quiet.step_back)

    def hush(self) -> None:
        if self.quiet is not None:
            self.quiet.silent = True

    def see(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            self.reports.setdefault(report.nodeid, report)

    def show_search(self, name: str, batch: Batch, search: Search, start: float, stop: float) -> None:
        from vlgate.report.allure.cases import search_result
        from vlgate.report.allure.results import Moment, write_result

        self.hush()
        at = Moment(start=int(start * 1000), stop=int(stop * 1000))
        write_result(self.folder, search_result(name, batch, search, at))

    def show_result(self, run: RunResult, model: ModelCard, options: Options, collected: Collected) -> None:
        # The cases of a batch share its time, so that times add up to that of the run
        from vlgate.report.allure.results import Moment
        from vlgate.report.allure.writing import write_report

        moments: dict[tuple[str, str], Moment] = {}
        for nodeid, batch in collected.expected.items():
            report, cases = self.reports.get(nodeid), batch.cases
            if report is None:
                continue
            share = (report.stop - report.start) / len(cases)
            trace = report.longreprtext if report.failed else ""
            for number, case in enumerate(cases):
                start = report.start + number * share
                times = {"start": int(start * 1000), "stop": int((start + share) * 1000)}
                moments[batch.task.id, case.id] = Moment(**times, worker=getattr(report, "worker_id", ""), trace=trace)
        write_report(self.folder, run, model, options, moments)
