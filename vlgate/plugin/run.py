"""The state of one pytest session: what is asked, what was replied, what was decided."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import pytest

from vlgate.ahead import ahead
from vlgate.errors import VlgateError
from vlgate.model_card import ModelCard
from vlgate.models.registry import LoadedModel, check
from vlgate.options import Options
from vlgate.planning import Plan, make_plan
from vlgate.plugin import allure_link, given
from vlgate.plugin.collected import Collected, batch_name, rows_of
from vlgate.plugin.finish import conclude, empty_results, reversed_score, unjudged, write_files
from vlgate.plugin.gate_reports import gate_report
from vlgate.plugin.ledger import VERDICTS, ItemLedger, ItemSearch
from vlgate.plugin.loading import card_of, checks_of, load_model, merged
from vlgate.plugin.progress import Progress
from vlgate.plugin.rows import pack
from vlgate.plugin.searches import SHRINK, check_hypothesis, only_searches, searches_wanted
from vlgate.report.shrunk import shrunk_lines
from vlgate.report.terminal import results_line, terminal_table
from vlgate.results import RunResult
from vlgate.scoring import Scorer
from vlgate.shrink.record import Shrunk
from vlgate.sources.registry import shapes
from vlgate.thresholds import Thresholds, read_thresholds
from vlgate.types import CAPABILITIES, Batch, Predictor

_QUIET_END = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}


class Run:
    """One session. The process that the user started collects and judges; xdist's workers only score."""

    def __init__(self, config: pytest.Config) -> None:
        """Take the options; nothing is read or loaded yet."""
        self.config = config
        worker = getattr(config, "workerinput", None)
        self.worker = None if worker is None else int(str(worker["workerid"]).lstrip("gw") or 0)
        self.collected = Collected()
        self.searches = searches_wanted(config)
        self.shrunk: dict[str, Shrunk] = {}
        self.cards: list[ModelCard] = []
        self.result: RunResult | None = None
        self.progress: Progress | None = None
        self.announcing = False
        self.allure = allure_link.connect(config)

    @cached_property
    def options(self) -> Options:
        """What the user asked for."""
        return given.read(self.config)

    @cached_property
    def plan(self) -> Plan:
        """The tables and batches, the same in every process."""
        return make_plan(self.options)

    @cached_property
    def thresholds(self) -> Thresholds:
        """The gates."""
        return read_thresholds(self.options.thresholds, shapes(self.options.data))

    @cached_property
    def loaded(self) -> tuple[LoadedModel, Scorer]:
        """The model, loaded on first use."""
        return load_model(self.options, self.plan.tables, self.worker or 0)

    @cached_property
    def checked(self) -> bool:
        """Everything that can be checked without the model, and the results folder emptied.

        Raises: VlgateError where something does not fit.
        """
        check(self.options.model, folder=self.options.folder)
        if self.searches:
            check_hypothesis()
        _ = self.thresholds, self.plan
        gc.freeze()  # the tables stay to the end, and the collector need not walk them again and again
        if self.worker is None and not self.config.option.collectonly:
            empty_results(self.options.results)
        return True

    def start(self) -> None:
        """In the process that the user started, check before any worker begins.

        Raises: pytest.UsageError, which pytest prints as one line before it ends with status 4.
        """
        if self.worker is not None or not given.asks_for_suite(self.config):
            return
        try:
            _ = self.checked
        except VlgateError as error:
            raise pytest.UsageError(str(error)) from None

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Make an item of each batch of the capability that the test is marked with."""
        capability = next((name for name in CAPABILITIES if metafunc.definition.get_closest_marker(name)), None)
        if "batch" not in metafunc.fixturenames or capability is None:
            return
        batches = self._batches(capability)
        metafunc.parametrize("batch", list(batches.values()), ids=list(batches))

    def idle(self, test: object) -> bool:
        """Whether a test function asks for a capability that this run has no batches of, or for an unwanted search."""
        if not inspect.isfunction(test) or {"batch", "subject"}.isdisjoint(inspect.signature(test).parameters):
            return False
        names = {mark.name for mark in getattr(test, "pytestmark", [])}
        if SHRINK in names:
            return not self.searches
        capability = next((name for name in CAPABILITIES if name in names), None)
        return capability is not None and not self._batches(capability)

    def load_model(self, session: pytest.Session) -> Predictor:
        """Load the model; where it cannot be had, one test says so and the run ends."""
        try:
            scorer = self.loaded[1]
        except VlgateError as error:
            session.shouldfail = f"no model: {error}"
            pytest.fail(str(error), pytrace=False)
        batches = list(self.collected.expected.values())
        small = all(len(batch.positions) == 1 for batch in batches)
        return ahead(scorer, batches) if self.worker is None and small else scorer

    def ledger(self, item: pytest.Item) -> ItemLedger:
        """Where a test's verdicts go."""
        return ItemLedger(item, asked=lambda: "loaded" in self.__dict__)

    def search(self, item: pytest.Item) -> ItemSearch:
        """How a test's case is searched, and where what was found goes."""
        return ItemSearch(item, self.options, asked=lambda: "loaded" in self.__dict__)

    def expect(self, nodeids: Sequence[str]) -> None:
        """Note the selected items, in the process that the user started."""
        tables = {name.partition(":")[0] for nodeid in nodeids if (name := batch_name(nodeid))}
        if self.worker is None and not tables.isdisjoint(shapes(self.options.data)):
            self.collected.expect(nodeids, self.plan.batches)

    def attach(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> pytest.TestReport:
        """Put the rows of a scored batch onto its report."""
        verdicts = item.stash.get(VERDICTS, None)
        if call.when == "call" and verdicts is not None:
            vars(report)["vlgate_rows"] = pack(verdicts)
            if self.worker is None:
                self.collected.verdicts[item.nodeid] = verdicts
        return report

    def collect(self, report: pytest.TestReport) -> None:
        """Keep a report's rows, in the process that the user started."""
        cases = 0 if self.worker is not None else self.collected.take(report)
        if cases:
            self._count(cases)

    def status(self, report: pytest.TestReport) -> object:
        """``missed`` for a scored batch in which the model was wrong; no letter where a bar is drawn."""
        rows, quiet = rows_of(report), self.config.get_verbosity() <= 0
        if self.announcing and quiet:  # gates are listed at the end; letters past 100 % would say nothing
            return report.outcome, "", ""
        if rows is None or not report.passed:
            return None
        hidden = quiet and self.progress is not None and self.progress.draws
        if not rows["missed"]:
            return ("passed", "", "") if hidden else None
        word = "MISSED" if rows["judged"] == 1 else f"MISSED {rows['missed']} of {rows['judged']}"
        return "missed", "" if hidden else "m", "" if hidden else (word, {"yellow": True})

    def show(self, item: pytest.Item) -> None:
        """Give Allure the labels, pictures, texts and scores of a batch, where Allure is asked for."""
        batch = getattr(item, "callspec", None) and item.callspec.params.get("batch")  # type: ignore[attr-defined]
        if isinstance(batch, Batch) and self.allure is not None:
            allure_link.show(self.allure, batch_name(item.nodeid), batch, item.stash.get(VERDICTS, ()))

    def meet(self, output: Mapping[str, Any]) -> None:
        """Take what a worker says of its model as it ends."""
        if "vlgate_model" in output:
            said = output["vlgate_model"]
            self.cards.append(ModelCard(**{**said, "notes": tuple(said["notes"]), "checks": tuple(said["checks"])}))

    def finish(self, session: pytest.Session) -> None:
        """Judge all rows, decide the gates, report them as tests, and set the exit status."""
        if self.progress is not None:
            self.progress.close()
        if "loaded" in self.__dict__:
            # A search asks no more than its budget allows, and who pressed Ctrl-C waits for nothing.
            quiet = self.worker or only_searches(session) or session.exitstatus == pytest.ExitCode.INTERRUPTED
            checks = () if quiet else checks_of(self.loaded[1], self.plan.tables, self.options)
            self.cards.append(card_of(*self.loaded, checks))
        if self.worker is not None:
            if self.cards:
                self.config.workeroutput["vlgate_model"] = asdict(self.cards[0])  # type: ignore[attr-defined]
        elif (self.collected.expected or self.shrunk) and not session.config.option.collectonly:
            self._conclude(session)

    def summarize(self, reporter: Any) -> None:
        """Print the result table."""
        if self.result is None:
            return
        reporter.write_sep("=", "vlgate")
        writer = reporter._tw  # noqa: SLF001  # the width and markup that pytest itself uses
        reporter.write_line(terminal_table(self.result, width=writer.fullwidth, colour=writer.hasmarkup))
        reporter.write_line(results_line(self.options))
        if self.result.shrunk:
            reporter.write_sep("=", "smallest changes that break the model")
            for line in shrunk_lines(self.result.shrunk):
                reporter.write_line(line)

    def _conclude(self, session: pytest.Session) -> None:
        gc.freeze()
        card = merged(self.cards, self.options.model)
        shrunk = tuple(self.shrunk[nodeid] for nodeid in sorted(self.shrunk))
        self.result = replace(self._judged(card), shrunk=shrunk)
        write_files(self.result, card, self.options, len(self.cards))
        self.announcing = True
        for decision in self.result.decisions:
            session.config.hook.pytest_runtest_logreport(report=gate_report(decision))
        self.announcing = False
        if self.allure is not None:
            allure_link.show_gates(session.config, self.result.decisions)
        if not self.result.passed and session.exitstatus in _QUIET_END:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _judged(self, card: ModelCard) -> RunResult:
        if not self.collected.expected:
            return unjudged(self.thresholds, self.options)
        verdicts = {table.id: self.collected.of_table(table) for table in self.plan.tables}
        objections = [*self.collected.objections(), *reversed_score(card)]
        return conclude(self.plan.tables, verdicts, self.thresholds, self.options, objections)

    def _batches(self, capability: str) -> Mapping[str, Batch]:
        try:
            _ = self.checked
            return self.plan.of_capability(capability)
        except VlgateError as error:
            raise pytest.Collector.CollectError(str(error)) from None

    def _count(self, cases: int) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        if self.progress is None:
            sizes = [len(batch.positions) for batch in self.collected.expected.values()]
            bar = max(sizes) > 1 and reporter.isatty and self.config.get_verbosity() == 0
            self.progress = Progress(reporter, sum(sizes), bar=bar)
        self.progress.advance(cases)
