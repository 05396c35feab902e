"""The state of one pytest session: the plan, the replies and the decisions."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from vlgate.checks.check import Check
from vlgate.errors import VlgateError, printable
from vlgate.inference.prefetch import prefetching
from vlgate.plugin import allure_link, given
from vlgate.plugin.asked import Asked
from vlgate.plugin.collected import Collected, batch_name, rows_of
from vlgate.plugin.ending import CHECKS_MISSING, NO_MODEL, Ending, flagged
from vlgate.plugin.exits import ExitGuard
from vlgate.plugin.gate_reports import gate_report
from vlgate.plugin.ledger import VERDICTS, ItemLedger, ItemSearch
from vlgate.plugin.progress import Progress
from vlgate.plugin.searches import SHRINK, only_searches
from vlgate.report.folder import nothing_run, write_figures, write_rows
from vlgate.report.shrunk import shrunk_lines
from vlgate.report.terminal import closing_lines, results_line, terminal_table
from vlgate.run.concluding import conclude, unjudged
from vlgate.run.held import doubts
from vlgate.run.loading import card_of, checks_of, merged
from vlgate.run.model_card import ModelCard, card_from
from vlgate.run.planning import empty_lines
from vlgate.run.results import RunResult
from vlgate.run.rows import pack
from vlgate.shrink.record import Shrunk
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.registry import shapes
from vlgate.types import CAPABILITIES, Batch, Predictor

_QUIET_END = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}


class Run(Asked):
    """One session. The process that the user started collects and judges; xdist's workers only score."""

    def __init__(self, config: pytest.Config) -> None:
        """Keep the configuration; data and model are read and loaded later, if they are needed."""
        super().__init__(config)
        self.collected = Collected()
        self.shrunk: dict[str, Shrunk] = {}
        self.cards: list[ModelCard] = []
        self.result: RunResult | None = None
        self.progress: Progress | None = None
        self.announcing = False
        self.ending = Ending()
        self.exits = ExitGuard(config.pluginmanager)
        self.refusal = 0  # the exit status of a run that did not pass
        self.offered = False  # whether tests of the suite were collected, before -k and others deselect some
        self.predictor: Predictor | None = None  # what the fixture 'model' gives the tests
        self.allure = allure_link.connect(config)

    def start(self) -> None:
        """Check the options before any worker starts, in the process that the user started.

        Raises: pytest.UsageError, which pytest prints as one line before it exits with status 4.
        """
        if self.worker is not None or not given.asks_for_suite(self.config):
            return
        try:
            _ = self.checked
        except VlgateError as error:
            raise pytest.UsageError(str(error)) from None

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Make one item per batch of the capability that the test is marked with."""
        capability = next((name for name in CAPABILITIES if metafunc.definition.get_closest_marker(name)), None)
        if "batch" not in metafunc.fixturenames or capability is None:
            return
        batches = self._batches(capability)
        self.offered = True
        metafunc.parametrize("batch", list(batches.values()), ids=list(batches))

    def idle(self, test: object) -> bool:
        """Whether a test is for a capability without batches in this run, or for a search that was not asked for."""
        if not inspect.isfunction(test) or {"batch", "subject"}.isdisjoint(inspect.signature(test).parameters):
            return False
        names = {mark.name for mark in getattr(test, "pytestmark", [])}
        if SHRINK in names:
            return not self.searches
        capability = next((name for name in CAPABILITIES if name in names), None)
        return capability is not None and not self._batches(capability)

    def load_model(self, session: pytest.Session) -> Predictor:
        """Load the model; if that fails, the first test says why and the run ends."""
        if self.worker is None:
            self.exits.start()
        try:
            predictor = self.loaded[1]
        except VlgateError as error:
            self.ending.no_model = printable(str(error))
            session.shouldfail = f"no model: {self.ending.no_model}"
            pytest.fail(self.ending.no_model, pytrace=False)
        batches = list(self.collected.expected.values())
        small = all(len(batch.positions) == 1 for batch in batches)
        self.predictor = prefetching(predictor, batches) if self.worker is None and small else predictor
        return self.predictor

    def ledger(self, item: pytest.Item) -> ItemLedger:
        """Return the object that a test gives its verdicts to."""
        return ItemLedger(item, given=lambda: self.predictor)

    def search(self, item: pytest.Item) -> ItemSearch:
        """Return the settings of a test's search, which is also the object that the test gives the search to."""
        return ItemSearch(item, self.options, given=lambda: self.predictor)

    def expect(self, nodeids: Sequence[str]) -> None:
        """Note the selected items, in the process that the user started."""
        tasks = {name.partition(":")[0] for nodeid in nodeids if (name := batch_name(nodeid))}
        if self.worker is None and not tasks.isdisjoint(shapes(self.options.data)):
            self.collected.expect(nodeids, self.plan.batches)

    def attach(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> pytest.TestReport:
        """Attach the replies of a scored batch to its report."""
        self.limits.observe(call)
        verdicts = item.stash.get(VERDICTS, None)
        if call.when == "call" and verdicts is not None:
            vars(report)["vlgate_rows"] = pack(verdicts, "" if self.worker is None else self.digest)
            if self.worker is None:
                self.collected.verdicts[item.nodeid] = verdicts
        if call.when == "setup" and self.ending.no_model and report.failed:
            vars(report)[NO_MODEL] = self.ending.no_model
        return report

    def collect(self, report: pytest.TestReport) -> None:
        """Keep the replies of a report, in the process that the user started."""
        self.ending.no_model = self.ending.no_model or flagged(report)
        rows = rows_of(report)
        if self.worker is None and rows is not None and report.nodeid in self.collected.expected:
            self.journal.add(report.nodeid, batch_name(report.nodeid), rows)
        cases = 0 if self.worker is not None else self.collected.take(report, lambda: self.digest)
        if cases:
            self._count(cases)

    def status(self, report: pytest.TestReport) -> object:
        """Return the status ``missed`` for a scored batch in which the model was wrong; no letter if a bar is drawn."""
        if flagged(report):  # one line at the end says so, not one error per test
            return "", "", ""
        rows, quiet = rows_of(report), self.config.get_verbosity() <= 0
        if self.announcing and quiet:  # the gates are listed at the end, and their letters would follow the 100 %
            return ("xfailed" if hasattr(report, "wasxfail") else report.outcome), "", ""
        if rows is None or not report.passed:
            return None
        hidden = quiet and self.progress is not None and self.progress.draws
        if not rows["missed"]:
            return ("passed", "", "") if hidden else None
        word = "MISSED" if rows["judged"] == 1 else f"MISSED {rows['missed']} of {rows['judged']}"
        return "missed", "" if hidden else "m", "" if hidden else (word, {"yellow": True})

    def show(self, item: pytest.Item) -> None:
        """Give Allure the labels, images, texts and scores of a batch, if Allure is asked for."""
        batch = getattr(item, "callspec", None) and item.callspec.params.get("batch")  # type: ignore[attr-defined]
        if isinstance(batch, Batch) and self.allure is not None:
            allure_link.show(self.allure, batch_name(item.nodeid), batch, item.stash.get(VERDICTS, ()))

    def meet(self, output: Mapping[str, Any]) -> None:
        """Take the description of its model that a worker sends as it ends."""
        self.offered = self.offered or bool(output.get("vlgate_offered"))
        if "vlgate_model" in output:
            self.cards.append(card_from(output["vlgate_model"]))

    def finish(self, session: pytest.Session) -> None:
        """Judge all replies, decide the gates, report them as tests, and set the exit status."""
        if self.progress is not None:
            self.progress.close()
        self.ending.interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
        if self.worker is not None:
            output = self.config.workeroutput  # type: ignore[attr-defined]
            output["vlgate_offered"] = self.offered
            if "loaded" in self.__dict__:
                output["vlgate_model"] = asdict(card_of(*self.loaded, self._checks(session)))
        elif not self.collects_only:
            if self.ending.no_model and not self.collected.rows:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
            elif self.collected.expected or self.shrunk or self._left_out(session):
                self._conclude(session)
        elif self.requires_gates and session.exitstatus in _QUIET_END:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self.refusal = int(session.exitstatus) if self.worker is None and self._refused else 0
        self.exits.stop(self.refusal)

    def summarize(self, reporter: Any) -> None:
        """Print the result table."""
        if self.collects_only and given.asks_for_suite(self.config):
            for line in nothing_run(self.options):
                reporter.write_line(line)
        if self.result is None:
            return
        reporter.write_sep("=", "vlgate")
        writer = reporter._tw  # noqa: SLF001  # knows the width and markup that pytest itself uses
        reporter.write_line(terminal_table(self.result, width=writer.fullwidth, colour=writer.hasmarkup))
        for line in closing_lines(self.result):
            reporter.write_line(line)
        if self.result.incomplete:
            reporter.write_line(f"incomplete: {self.result.incomplete}", red=True)
        if self.journal.problem:
            reporter.write_line(f"journal: {self.journal.problem}", yellow=True)
        reporter.write_line(results_line(self.options))
        if self.result.shrunk:
            reporter.write_sep("=", "smallest changes that break the model")
            for line in shrunk_lines(self.result.shrunk):
                reporter.write_line(line)

    def _conclude(self, session: pytest.Session) -> None:
        gc.freeze()
        shrunk = tuple(self.shrunk[nodeid] for nodeid in sorted(self.shrunk))
        with collector_paused():
            result = self.result = replace(self._judged(), shrunk=shrunk)
            self.ending.unwritten = write_rows(result, self.options)
        if "loaded" in self.__dict__:
            self.cards.append(card_of(*self.loaded))
        if self._unchecked():
            self._write(result, CHECKS_MISSING)  # before the checks, because the model may kill the process in them
            self.cards[0] = replace(self.cards[0], checks=self._checks(session))
        card = merged(self.cards, self.options.model)
        result = replace(result, decisions=(*doubts(card, self.cards, self.thresholds), *result.decisions))
        self.result = self._write(result, self.ending.lacks(self.collected, card.checks))
        self.journal.close(remove=not self.result.incomplete)
        self.announcing = True
        for decision in self.result.decisions:
            session.config.hook.pytest_runtest_logreport(report=gate_report(decision))
        self.announcing = False
        if self.allure is not None:
            allure_link.show_result(session.config, self.result, card)
        if self.ending.no_model:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        elif not (self.result.passed and not self.result.incomplete) and session.exitstatus in _QUIET_END:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write(self, result: RunResult, incomplete: str) -> RunResult:
        """Write the figures, and return the result with what it lacks, which may be these files."""
        said = replace(result, incomplete=incomplete)
        problems = write_figures(said, merged(self.cards, self.options.model), self.options, len(self.cards))
        return replace(said, incomplete="; ".join(filter(None, [incomplete, *problems])))

    def _checks(self, session: pytest.Session) -> tuple[Check, ...]:
        """Check the model: not beyond the budget of a search, nor after Ctrl-C, which should end at once."""
        scores = self.collected.expected if self.worker is None else not only_searches(session)
        if self.worker or not scores or self.ending.interrupted:
            return ()
        self.exits.start()
        try:
            return self.limits.within(lambda: checks_of(self.loaded[1], self.plan.tasks, self.options))
        except KeyboardInterrupt:
            self.ending.interrupted = True
            session.exitstatus = pytest.ExitCode.INTERRUPTED
            return ()
        except VlgateError as error:  # a worker could load the model, this process cannot
            return (Check(name="model", outcome="failed", why=printable(str(error))),)

    def _unchecked(self) -> bool:
        """Whether this process should check the model: without workers, or if the first worker had no test to run."""
        return bool(self.cards) and not self.ending.crashed and not any(card.checks for card in self.cards)

    def _judged(self) -> RunResult:
        if not self.collected.expected and self.shrunk:
            return unjudged(self.thresholds)
        verdicts = {task.id: self.collected.of_task(task) for task in self.plan.tasks}
        objections = self.collected.objections()
        result = conclude(self.plan.tasks, verdicts, self.thresholds, self.options, objections, self.earlier)
        return replace(result, notes=(*result.notes, *empty_lines(self.plan.empty)))

    @property
    def _refused(self) -> bool:
        """Whether the run did not pass: a gate says so, it is incomplete, or it has no model or no judged gate."""
        if self.result is None:
            return bool(self.ending.no_model) or (self.collects_only and self.requires_gates)
        return not self.result.passed or bool(self.result.incomplete)

    def _left_out(self, session: pytest.Session) -> bool:
        """Whether the suite was asked for, but all of its tests were deselected in favour of others."""
        asked = not self.searches and (self.offered or given.names_suite(self.config))
        return asked and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}

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
