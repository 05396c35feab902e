"""The pytest plugin: each hook is one line that calls the run.

It turns a session into a run: options, one item per batch, replies from all workers, gates as tests, the exit status.
It never computes a metric or decides a gate, and nothing imports it.
"""

import gc
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from vlgate.plugin import parse_options
from vlgate.plugin.asked import SHRINK
from vlgate.plugin.ending import cleaned, cleaned_warning, gathered, is_gate, last_status
from vlgate.plugin.run import Run
from vlgate.sources.reading.text_files import collector_paused
from vlgate.types import CAPABILITIES

pytest_plugins = ["vlgate.fixtures.session"]
LAST_STATUS = "vlgate-last-status"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    parse_options.add(parser)
    pluginmanager.register(LastStatus(), LAST_STATUS)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any, parser: Any, args: list[str]) -> Generator[None, None, None]:
    yield
    args[:] = parse_options.spelled(parser, args)
    manager = early_config.pluginmanager
    manager.register(manager.unregister(name=LAST_STATUS) or LastStatus(), LAST_STATUS)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | pytest.ExitCode | None:
    return parse_options.start_again(config)


def pytest_configure(config: pytest.Config) -> None:
    for capability in CAPABILITIES:
        config.addinivalue_line("markers", f"{capability}: tests a model's {capability} on one batch of cases per test")
    config.addinivalue_line("markers", f"{SHRINK}: finds the smallest change that breaks a case; run with -m shrink")
    run = Run(config)
    config.pluginmanager.register(Hooks(run), "vlgate-run")
    config.pluginmanager.register(LastWord(run), "vlgate-last-word")
    if run.searches:
        from vlgate.plugin.search_hooks import SearchHooks

        config.pluginmanager.register(SearchHooks(run), "vlgate-searches")


def pytest_unconfigure() -> None:
    """Unfreeze the objects of torch, which would otherwise be reported as leaks at the end."""
    if "torch" in sys.modules:
        gc.unfreeze()


class Hooks:
    def __init__(self, run: Run) -> None:
        self.run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self.run.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        with collector_paused() if parse_options.names_suite(session.config) else nullcontext():
            return (yield)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        self.run.parametrize(metafunc)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, obj: object) -> list[pytest.Item] | None:
        return [] if self.run.idle(obj) else None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.run.expect([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self.run.expect(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self.run.ending.down(node, error)
        self.run.meet(getattr(node, "workeroutput", {}))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            self.run.show(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        self.run.trim(item, call)
        return self.run.attach(item, call, (yield))

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, object, object]:
        return cleaned((yield))

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        cleaned_warning(warning_message)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.run.collect(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> object:
        return self.run.status(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.run.finish(session)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        self.run.summarize(terminalreporter)


class LastStatus:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> Generator[None, object, object]:
        """Return 1 for 0 if the suite was asked for, and not judged, whoever ended the session."""
        try:
            status: Any = yield
        except SystemExit as ended:
            if ended.code or not last_status(config, 0):
                raise
            return last_status(config, 0)
        return last_status(config, status)


class LastWord:
    def __init__(self, run: Run) -> None:
        self.run = run

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            session.exitstatus = session.exitstatus or self.run.refusal

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, object, object]:
        stats = terminalreporter.stats
        failed = stats.get("failed", [])
        if failed:
            shown = failed if terminalreporter.verbosity > 0 else [one for one in failed if not is_gate(one)]
            stats["failed"] = gathered(shown, self.run.collected)
        try:
            return (yield)
        finally:
            if failed:
                stats["failed"] = failed
            self.run.count(stats)
