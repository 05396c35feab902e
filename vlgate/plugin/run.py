"""One pytest session, from its options to its exit status."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.errors import ClusterEndedError, VlgateError, printable, program
from vlgate.plugin import parse_options
from vlgate.plugin.asked import SHRINK
from vlgate.plugin.collected import VERDICTS, ItemLedger, ItemSearch, batch_name, count_cases, rows_of
from vlgate.plugin.ending import NO_MODEL, flagged, in_short, leave_out_ours, say_failure
from vlgate.plugin.progress import Estimate, Progress
from vlgate.plugin.state import SessionState
from vlgate.record.replies import pack
from vlgate.record.results_folder import nothing_run
from vlgate.record.verdict import OK_STATUSES
from vlgate.sources.registry import shapes
from vlgate.types import CAPABILITIES, Batch, Predictor

if TYPE_CHECKING:
    from vlgate.asking.predictor import ModelPredictor
    from vlgate.plugin.closing import Closing
    from vlgate.run.probing import Cost

PACE = "vlgate_pace"
_REQUIRED = (
    "vlgate: the exit status is 1, because --require-gates is on, as it is if the variable CI is set; "
    "for tests without gates, leave out the options of vlgate, or add --no-require-gates"
)


class Run(SessionState):
    def start(self) -> None:
        if self.allure is not None:
            self.allure.start()
        if self.worker is not None or not parse_options.asks_for_suite(self.config):
            return
        if command := parse_options.suite_elsewhere(self.config):
            raise pytest.UsageError(f"there is no {parse_options.SUITE} in this folder; the package has it: {command}")
        try:
            _ = self.checked
        except VlgateError as error:
            raise pytest.UsageError(str(error)) from None
        if parse_options.names_suite(self.config) and not self.collects_only:
            self.exits.start()

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        capability = next((name for name in CAPABILITIES if metafunc.definition.get_closest_marker(name)), None)
        if "batch" not in metafunc.fixturenames or capability is None:
            return
        batches = self._batches(capability)
        self.offered = True
        metafunc.parametrize("batch", list(batches.values()), ids=list(batches))

    def idle(self, test: object) -> bool:
        if not inspect.isfunction(test) or {"batch", "subject"}.isdisjoint(inspect.signature(test).parameters):
            return False
        names = {mark.name for mark in getattr(test, "pytestmark", [])}
        if SHRINK in names:
            return not self.searches
        capability = next((name for name in CAPABILITIES if name in names), None)
        return capability is not None and not self._batches(capability)

    def load_model(self, session: pytest.Session) -> Predictor:
        from vlgate.asking.predictor import pace

        if self.worker is None:
            self.exits.start()
        try:
            _, predictor = self.closing, self.loaded[1]
        except VlgateError as error:
            self.ending.no_model = printable(str(error))
            session.shouldfail = f"the model cannot be loaded: {self.ending.no_model}"
            pytest.fail(self.ending.no_model, pytrace=False)
        batches = list((self.collected.expected if self.worker is None else self.plan.batches).values())
        small = all(len(batch.positions) == 1 for batch in batches)
        if not self.worker and not self.searches:  # the first worker measures for all
            alone = self.worker is not None and small
            short = bool(self.options.controls)
            self.pace = pace(predictor, batches, f"{self.options.seed}:pace", together=not alone, short=short)
        self.predictor = self._foreseeing(predictor, batches, small=small)
        return self.predictor

    def _foreseeing(self, predictor: ModelPredictor, batches: Sequence[Batch], *, small: bool) -> Predictor:
        if self.options.ray:
            from vlgate.asking.request_prefetch import ForeseeingPredictor
            from vlgate.run.cluster import calls_at_once

            calls = calls_at_once(self.loaded[0])
            return ForeseeingPredictor(predictor=predictor, batches=batches, calls=calls, fills=small)
        from vlgate.asking.request_prefetch import prefetching

        return prefetching(predictor, batches) if self.worker is None and small else predictor

    @cached_property
    def closing(self) -> Closing:
        """What ends the session; imported before the model is loaded, which may leave no file open for an import."""
        from vlgate.plugin.closing import Closing

        return Closing(self)

    def ledger(self, item: pytest.Item) -> ItemLedger:
        return ItemLedger(item, given=lambda: self.predictor)

    def search(self, item: pytest.Item) -> ItemSearch:
        return ItemSearch(item, self.options, given=lambda: self.predictor)

    def expect(self, nodeids: Sequence[str]) -> None:
        tasks = {name.partition(":")[0] for nodeid in nodeids if (name := batch_name(nodeid))}
        if self.worker is None and not tasks.isdisjoint(shapes(self.options.data)):
            self.collected.expect(nodeids, self.plan.batches)
        self.searched = sum(batch_name(nodeid).startswith(f"{SHRINK}:") for nodeid in nodeids) if self.searches else 0
        if self.worker is None and (self.collected.expected or self.searched) and not self.costs_said:
            self.costs_said = True  # each worker of xdist reports its tests
            say_costs(self)

    def trim(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None and self._asks(item) and in_short(self.config):
            leave_out_ours(call.excinfo)

    def _asks(self, item: pytest.Item) -> bool:
        return not {"batch", "subject"}.isdisjoint(getattr(item, "fixturenames", ()))

    def attach(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> pytest.TestReport:
        self.limits.observe(call)
        if call.excinfo is not None and isinstance(call.excinfo.value, ClusterEndedError):
            item.session.shouldfail = printable(str(call.excinfo.value))  # no other test could be scored
        verdicts = item.stash.get(VERDICTS, None)
        if call.when == "call" and verdicts is not None:
            vars(report)["vlgate_rows"] = pack(verdicts, None if self.worker is None else self.digest)
            if self.worker is None:
                self.collected.verdicts[item.nodeid] = verdicts
                del item.stash[VERDICTS]
        if call.when == "setup" and self.pace is not None:
            vars(report)[PACE], self.pace = [self.pace.cases, self.pace.seconds], None
        if call.when == "setup" and self.ending.no_model and report.failed:
            vars(report)[NO_MODEL] = self.ending.no_model
        if call.excinfo is not None and self._asks(item):
            say_failure(report, call.excinfo.value, brief=in_short(self.config))
        return report

    def collect(self, report: pytest.TestReport) -> None:
        self.ending.no_model = self.ending.no_model or flagged(report)
        if self.allure is not None:
            self.allure.see(report)
        if self.worker is None and hasattr(report, PACE):
            self.estimate = announce(self, *getattr(report, PACE))
        cases = 0 if self.worker is not None else self.collected.take(report, lambda: self.digest)
        reporter = self.config.pluginmanager.get_plugin("terminalreporter") if cases else None
        if reporter is None:
            return
        if self.progress is None:
            sizes = [len(batch.positions) for batch in self.collected.expected.values()]
            bar = max(sizes) > 1 and reporter.isatty and self.config.get_verbosity() == 0
            self.progress = Progress(reporter, sum(sizes), bar=bar)
        self.progress.advance(cases)

    def status(self, report: pytest.TestReport) -> object:
        """Return the status ``missed`` for a scored batch in which the model was wrong; no letter if a bar is drawn."""
        if flagged(report):  # one line at the end says so, not one error per test
            return "", "", ""
        rows, quiet = rows_of(report), self.config.get_verbosity() <= 0
        # The gates are listed at the end, and their letters would follow the 100 %
        if self.announcing and report.when == "call" and quiet:
            return ("xfailed" if hasattr(report, "wasxfail") else report.outcome), "", ""
        if rows is None or not report.passed:
            return None
        hidden = quiet and self.progress is not None and self.progress.draws
        if not rows["missed"]:
            return ("passed", "", "") if hidden else None
        word = "MISSED" if rows["judged"] == 1 else f"MISSED {rows['missed']} of {rows['judged']}"
        return "missed", "" if hidden else "m", "" if hidden else (word, {"yellow": True})

    def show(self, item: pytest.Item) -> None:
        batch = getattr(item, "callspec", None) and item.callspec.params.get("batch")  # type: ignore[attr-defined]
        if isinstance(batch, Batch) and self.allure is not None:
            self.allure.hush()

    def meet(self, output: Mapping[str, Any]) -> None:
        self.offered = self.offered or bool(output.get("vlgate_offered"))
        if "vlgate_model" in output:
            from vlgate.record.model_card import card_from

            self.cards.append(card_from(output["vlgate_model"]))

    def finish(self, session: pytest.Session) -> None:
        # If a plugin ends the process while the gates are reported, the run has not passed
        self.refusal = int(self.worker is None)
        if self.progress is not None:
            self.progress.close()
        self.ending.interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
        if self.worker is not None:
            output = self.config.workeroutput  # type: ignore[attr-defined]
            output["vlgate_offered"] = self.offered
            if "loaded" in self.__dict__:
                output["vlgate_model"] = self.closing.card(session)
        elif not self.collects_only:
            left_out = not self.searches and (self.offered or parse_options.names_suite(self.config))
            left_out = left_out and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
            if self.ending.no_model and not self.collected.rows:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
            elif self.collected.expected or self.shrunk or left_out:
                self.closing.conclude(session)
            elif self.unasked and self.options.require_gates and session.exitstatus in OK_STATUSES:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif self.requires_gates and session.exitstatus in OK_STATUSES:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self.refusal = int(session.exitstatus) if self.worker is None and self._refused else 0
        self.exits.stop(self.refusal)

    def summarize(self, reporter: Any) -> None:
        if self.config.option.collectonly and parse_options.asks_for_suite(self.config):
            for line in nothing_run(self.options):
                reporter.write_line(line)
        if self.unasked and "loaded" not in vars(self) and not self.cards:
            command = f"{program('pytest')} {shlex.join(['--pyargs', parse_options.SUITE, *self.typed])}"
            line = f"vlgate: no gate was judged, because no test of the suite was named: {command}"
            reporter.write_line(line, red=True)
            if self.options.require_gates:
                reporter.write_line(_REQUIRED, red=True)
        if self.result is not None:
            self.closing.summarize(reporter, self.result)

    def count(self, stats: dict[str, list[Any]]) -> None:
        if self.result is not None:
            count_cases(stats)

    @property
    def unasked(self) -> bool:
        return bool(self.typed) and not (self.offered or self.result or parse_options.names_suite(self.config))

    @property
    def _refused(self) -> bool:
        if self.result is None:
            lacking = self.requires_gates or (self.unasked and self.options.require_gates)
            return bool(self.ending.no_model) or lacking
        return bool(self.closing.outcome(self.result).status)

    def _batches(self, capability: str) -> Mapping[str, Batch]:
        try:
            _ = self.checked
            return self.plan.of_capability(capability)
        except VlgateError as error:
            raise pytest.Collector.CollectError(str(error)) from None


def costs_of(run: Run) -> list[Cost]:
    if not run.options.controls or run.options.shard is not None:
        return []
    from vlgate.run.probing import costs

    asked = {batch.task.id for batch in run.collected.expected.values()}
    return costs([task for task in run.plan.tasks if task.id in asked], run.options)


def say_costs(run: Run) -> None:
    reporter = run.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not run.collects_only:
        for cost in costs_of(run):
            reporter.write_line(f"vlgate: {cost}")
        if run.searched:
            budget = run.options.shrink_budget
            most = f"at most {run.searched * budget:,} requests, {budget:,} per case"
            reporter.write_line(f"vlgate: searches for smallest changes: {run.searched:,} cases, {most}")


def announce(run: Run, cases: int, seconds: float) -> Estimate:
    from vlgate.asking.predictor import Pace

    total = sum(len(batch.positions) for batch in run.collected.expected.values())
    estimate = Estimate(Pace(cases=cases, seconds=seconds), total, int(run.config.getoption("numprocesses", None) or 1))
    lines = [line for line in (estimate.line(), *map(estimate.more, costs_of(run))) if line]
    reporter = run.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and lines:
        if reporter._tw.width_of_current_line:  # noqa: SLF001  # pytest's letters are on this line
            reporter.write_line("")
        for line in lines:
            reporter.write_line(line)
    return estimate
