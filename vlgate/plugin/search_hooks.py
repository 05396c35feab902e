"""The hooks of a session that searches for the smallest changes that break cases."""

from collections.abc import Generator
from dataclasses import asdict
from time import time

import pytest

from vlgate.errors import VlgateError
from vlgate.plugin.asked import SHRINK
from vlgate.plugin.collected import SEARCH, batch_name
from vlgate.plugin.run import Run
from vlgate.probes.shrink.record import Shrunk, recorded
from vlgate.run.planning import subjects
from vlgate.types import Batch


class SearchHooks:
    def __init__(self, run: Run) -> None:
        self.run = run

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "subject" not in metafunc.fixturenames or metafunc.definition.get_closest_marker(SHRINK) is None:
            return
        try:
            _ = self.run.checked
            cases = subjects(self.run.plan, self.run.options)
        except VlgateError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        metafunc.parametrize("subject", list(cases.values()), ids=list(cases))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        start = time()
        try:
            return (yield)
        finally:
            batch, search = _subject(item), item.stash.get(SEARCH, None)
            if batch is not None and search is not None and self.run.allure is not None:
                self.run.allure.show_search(batch_name(item.nodeid), batch, search, start, time())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        batch, search = _subject(item), item.stash.get(SEARCH, None)
        if call.when == "call" and batch is not None and search is not None:
            vars(report)["vlgate_shrunk"] = asdict(recorded(batch, search))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = getattr(report, "vlgate_shrunk", None)
        if row is not None and self.run.worker is None:
            self.run.shrunk[report.nodeid] = Shrunk(**row)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> object:
        row = getattr(report, "vlgate_shrunk", None)
        if row is None or row["ending"] != "broken" or not report.passed:
            return None
        return "broken", "b", ("BROKEN", {"yellow": True})


def _subject(item: pytest.Item) -> Batch | None:
    callspec = getattr(item, "callspec", None)
    subject = None if callspec is None else callspec.params.get("subject")
    return subject if isinstance(subject, Batch) else None
