"""What a session does after its last test: check the model, judge the gates, write and show the results."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from _pytest.junitxml import xml_key  # as pytest's fixture record_testsuite_property does; there is no public name

from vlgate.asking.cache.store import ROOM_AT_THE_END
from vlgate.asking.checks.check import Check
from vlgate.errors import VlgateError, printable
from vlgate.gates.records import Decision
from vlgate.plugin.asked import SHRINK
from vlgate.plugin.collected import batch_name
from vlgate.plugin.ending import CHECKS_MISSING, CONTROLS_MISSING, EXPLANATIONS_MISSING, gate_reports
from vlgate.plugin.progress import checks_line
from vlgate.probes.controls.control import Controlled
from vlgate.probes.explaining.record import Explained
from vlgate.record.folder import titled
from vlgate.record.model_card import ModelCard
from vlgate.record.part_files import write_part
from vlgate.record.results import EndedRun, RunResult, of_yes_or_no
from vlgate.record.run_gates import failed_checks
from vlgate.record.verdict import OK_STATUSES, RunOutcome, outcome_of
from vlgate.report.ci.release import append_summary, release
from vlgate.report.ci.trackers import log_to
from vlgate.report.controls import brief_line, table_lines, tables_of
from vlgate.report.explanations import explained_lines
from vlgate.report.folder import recorded_run, saved, write_figures, write_rows
from vlgate.report.rows import threshold
from vlgate.report.shrunk import shrunk_lines
from vlgate.report.terminal import Screen, cache_lines, closing_text, place_lines
from vlgate.run.cluster import cluster_line
from vlgate.run.concluding import conclude, conclude_part, decided, lacks_of_part, unjudged
from vlgate.run.loading import card_of, checks_of, merged
from vlgate.run.planning import empty_lines
from vlgate.run.remembering import keep_face
from vlgate.sources.reading.text_files import collector_paused
from vlgate.studies.analyses.saved import analysed
from vlgate.types import Task

if TYPE_CHECKING:
    from vlgate.asking.predictor import ModelPredictor
    from vlgate.plugin.state import SessionState


def gate_properties(run: RunResult, decision: Decision) -> list[tuple[str, object]]:
    gate, metric, change = decision.gate, decision.metric, decision.difference
    result = next((one for one in run.results if one.task.id == gate.task), None)
    figures: dict[str, object] = {"decision": decision.outcome, "threshold": threshold(decision)}
    for figure in (metric, change):
        figures |= {} if figure is None else {name: getattr(figure, name) for name in ("value", "low", "high", "n")}
    if result is not None and change is None:
        figures |= {"chance": result.chance.get(gate.metric)}
        figures |= {"blind": result.blind[gate.metric].value} if gate.metric in result.blind else {}
    figures |= {"confidence": gate.confidence, "kind": gate.kind}
    return [(name, value) for name, value in figures.items() if value not in {None, ""}]


def describe_suite(config: pytest.Config, model: ModelCard, verdict: str, plan: Callable[[], str]) -> None:
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    from vlgate import __version__

    suite = {"model": titled(model.name, model.weights), "fingerprint": model.fingerprint, "suite": plan()}
    suite |= {"verdict": verdict, "vlgate": __version__}
    for what, value in suite.items():
        xml.add_global_property(f"vlgate.{what}", value)


T = TypeVar("T")


def _tell(config: pytest.Config, line: str) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.line("")  # pytest ends the line of its last letters later
        reporter.write_line(printable(line))


_MMAP_THRESHOLD = -3  # of mallopt(3)
_LARGE = 2**17  # bytes


def give_back() -> None:
    """Return freed memory to the system, if the C library can, and arrays from now on as soon as they are freed."""
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)  # else it rises to the size of the arrays, and they leave gaps
        library.malloc_trim(0)


class Closing:
    def __init__(self, run: SessionState) -> None:
        self.run = run
        self.correction = ""
        self.started = monotonic()
        self.checking = 0.0  # seconds
        self.problems: list[str] = []

    def card(self, session: pytest.Session) -> Mapping[str, Any]:
        card = asdict(card_of(*self.run.loaded, self._checks(session)))
        self._keep_face()
        return card

    def _keep_face(self) -> None:
        # A later run that finds all replies in the cache needs no more of the model than this
        loaded, predictor = self.run.loaded
        keep_face(loaded, predictor.cache, self.run.options)

    def conclude(self, session: pytest.Session) -> None:
        run = self.run
        self.correction = "" if run.estimate is None or run.ending.interrupted else run.estimate.correction()
        gc.freeze()
        shrunk = tuple(run.shrunk[nodeid] for nodeid in sorted(run.shrunk))
        with collector_paused():
            result = run.result = replace(self._judged(), shrunk=shrunk)
            give_back()
            run.ending.unwritten = write_rows(result, run.options, run.plan.tasks)
            give_back()
        if "loaded" in vars(run):
            run.cards.append(card_of(*run.loaded))
            self._keep_face()
        # This process checks the model if there are no workers, or if the first one had no test to run
        if run.cards and not run.ending.crashed and not any(card.checks for card in run.cards):
            self._write(session, result, CHECKS_MISSING)  # before the checks: the model may kill the process in them
            run.cards[0] = replace(run.cards[0], checks=self._checks(session))
        card = merged(run.cards, run.options.model)
        result = self._controlled(session, of_yes_or_no(result) if card.yes_or_no else result)
        result = replace(result, explained=self._explained(session, result))
        failed = failed_checks(card, run.cards, run.thresholds)
        lacks = run.ending.lacks(run.collected, card.checks)
        whole = run.options.shard is None
        if whole:
            result = replace(result, decisions=(*failed, *result.decisions))
        else:
            integrity_failures = [*failed, *run.collected.integrity_failures()]
            asked = {batch_name(nodeid) for nodeid in run.collected.expected}
            lacks = "; ".join(filter(None, [lacks, *lacks_of_part(run.plan, asked, integrity_failures)]))
        session.exitstatus = pytest.ExitCode.USAGE_ERROR if run.ending.no_model else session.exitstatus
        self.problems = analysed(recorded_run(result, card, run.options, len(run.cards))) if whole and not lacks else []
        result = self._write(session, result, lacks, run.plan.tasks)
        if result.part is not None and result.digests is not None:
            workers = len(run.cards)
            part = EndedRun(result=result, card=card, options=run.options, tasks=run.plan.tasks, workers=workers)
            problems = saved(lambda: write_part(run.options.results, part, run.collected.replies()))
            result = replace(result, incomplete="; ".join(filter(None, [result.incomplete, *problems])))
        run.result = result
        job_page = os.environ.get("GITHUB_STEP_SUMMARY", "")
        self.problems += [append_summary(run.options.results / "summary.md", job_page)]
        self.problems += log_to(run.options.log_to if whole else (), run.result, card, run.options)
        run.announcing = True
        for decision in run.result.decisions:
            for report in gate_reports(decision, gate_properties(run.result, decision)):
                session.config.hook.pytest_runtest_logreport(report=report)
        describe_suite(session.config, card, self.outcome(run.result).verdict, lambda: run.digest)
        run.announcing = False
        if run.allure is not None:
            run.allure.show_result(run.result, card, run.options, run.collected)
        session.exitstatus = self.outcome(run.result).status or session.exitstatus

    def outcome(self, result: RunResult) -> RunOutcome:
        return outcome_of(result, merged(self.run.cards, self.run.options.model))

    def summarize(self, reporter: Any, result: RunResult) -> None:
        reporter.write_sep("=", "vlgate")
        writer = reporter._tw  # noqa: SLF001  # knows the width and markup that pytest itself uses
        wide = reporter.isatty or "COLUMNS" in os.environ  # otherwise pytest assumes 80 columns, and a log has none
        screen = Screen(
            width=writer.fullwidth if wide else None, colour=writer.hasmarkup, verbose=reporter.verbosity > 0
        )
        card = merged(self.run.cards, self.run.options.model)
        shipping = release(result, card)
        status = int(reporter._session.exitstatus)  # noqa: SLF001  # the hook is given the status before the gates
        reporter.write_line(closing_text(result, shipping, titled(card.name, card.weights), status, screen))
        cluster = cluster_line(self.run.loaded[0]) if "loaded" in vars(self.run) else ""
        for line in filter(None, (cluster, *cache_lines(card.cache, self.run.options.cache_limit))):
            reporter.write_line(printable(line))
        for line in filter(None, (self.correction, *self.problems)):
            reporter.write_line(printable(line), yellow=True)
        self._show_controls(reporter, result)
        took, whole = self.checking + sum(asked.seconds for asked in result.controls), monotonic() - self.started
        if self.checking and (line := checks_line(took, whole, verbose=screen.verbose)):
            reporter.write_line(line)
        for line in place_lines(self.run.options, shipping, result):
            reporter.write_line(printable(line))
        if lines := explained_lines(result.explained):
            reporter.write_sep("=", "why cases were missed")
            for line in lines:
                reporter.write_line(printable(line))
        if result.shrunk:
            reporter.write_sep("=", "smallest changes that break the model")
            for line in shrunk_lines(result.shrunk):
                reporter.write_line(printable(line))

    def _show_controls(self, reporter: Any, result: RunResult) -> None:
        named = self.run.options.controls_named
        for table, asked in zip(tables_of(result), result.controls, strict=True):
            if named:
                reporter.write_sep("=", f"control {table.name}")
            for line in table_lines(table, asked.seconds) if named else [brief_line(table, asked.seconds)]:
                reporter.write_line(printable(line))

    def _write(
        self, session: pytest.Session, result: RunResult, incomplete: str, tasks: Sequence[Task] = ()
    ) -> RunResult:
        run, crashed = self.run, bool(self.run.ending.crashed or self.run.ending.no_model)
        tests = 0 if session.exitstatus in OK_STATUSES else int(session.exitstatus)
        ended = replace(result, incomplete=incomplete, crashed=crashed, tests=tests)
        problems = write_figures(ended, merged(run.cards, run.options.model), run.options, len(run.cards), tasks)
        return replace(ended, incomplete="; ".join(filter(None, [incomplete, *problems])))

    def _checks(self, session: pytest.Session) -> tuple[Check, ...]:
        # Not beyond the budget of a search, nor after Ctrl-C, which should end at once
        run = self.run
        scores = bool(run.collected.expected)
        if run.worker is not None:
            scores = any(item.get_closest_marker(SHRINK) is None for item in session.items)
        if run.worker or not scores or run.ending.interrupted:
            return ()
        judged = None if run.result is None else run.result.digests
        plan = f"blake2b:{run.digest}" if judged is None else judged.plan
        run.exits.start()
        began = monotonic()
        try:
            return run.limits.within(lambda: checks_of(run.loaded[1], run.plan.tasks, run.options, plan))
        except KeyboardInterrupt:
            run.ending.interrupted = True
            session.exitstatus = pytest.ExitCode.INTERRUPTED
            return ()
        except VlgateError as error:  # a worker could load the model, this process cannot
            return (Check(name="model", outcome="failed", why=printable(str(error))),)
        finally:
            self.checking = monotonic() - began

    def _controlled(self, session: pytest.Session, result: RunResult) -> RunResult:
        run = self.run
        if not run.options.controls or not result.results or result.part is not None or not self._can_ask():
            return result

        def lacking(why: str) -> tuple[Controlled, ...]:
            limit = run.options.controls_limit
            return tuple(Controlled(name=name, limit=limit, lacking=why) for name in run.options.controls)

        def ask(predictor: ModelPredictor) -> tuple[Controlled, ...]:
            from vlgate.run.probing import controlled

            return controlled(result.results, run.options, predictor)

        with_controls = replace(result, controls=self._asked_again(session, result, CONTROLS_MISSING, ask, lacking))
        return decided(with_controls, run.plan.tasks, run.thresholds, run.options, run.collected.integrity_failures())

    def _explained(self, session: pytest.Session, result: RunResult) -> Explained:
        run = self.run
        if not run.options.explain or not self._can_ask():
            return Explained()

        def ask(predictor: ModelPredictor) -> Explained:
            from vlgate.run.probing import explained

            return explained(result.results, run.options.explain, predictor, partial(_tell, session.config))

        return self._asked_again(session, result, EXPLANATIONS_MISSING, ask, lambda why: Explained(lacking=why))

    def _can_ask(self) -> bool:
        return bool(self.run.cards) and not self.run.ending.interrupted and not self.run.ending.no_model

    def _asked_again(
        self,
        session: pytest.Session,
        result: RunResult,
        missing: str,
        ask: Callable[[ModelPredictor], T],
        lacking: Callable[[str], T],
    ) -> T:
        # This process has all verdicts, and perhaps no model yet
        run = self.run
        if run.limits.stopped:
            return lacking(f"the model was not asked again, because a test was stopped: {run.limits.stopped}")
        self._write(session, result, missing)
        run.exits.start()
        try:
            predictor = run.loaded[1]
            run.limits.limit_calls()
            return ask(predictor)
        except KeyboardInterrupt:
            run.ending.interrupted = True
            session.exitstatus = pytest.ExitCode.INTERRUPTED
            return lacking("the run was interrupted")
        except VlgateError as error:  # a worker could load the model, this process cannot
            return lacking(printable(str(error)))

    def _judged(self) -> RunResult:
        run = self.run
        if not run.collected.expected and run.shrunk:
            return unjudged(run.thresholds, run.options)
        cache = run.loaded[1].cache if "loaded" in vars(run) else None
        if cache is not None and not (run.options.controls or run.options.explain):
            cache.memory.narrow(ROOM_AT_THE_END)
        verdicts = {task.id: run.collected.of_task(task) for task in run.plan.tasks}
        give_back()
        if run.options.shard is not None:
            return conclude_part(run.plan.tasks, verdicts, run.thresholds, run.options, run.options.shard)
        integrity_failures = run.collected.integrity_failures()
        result = conclude(run.plan.tasks, verdicts, run.thresholds, run.options, integrity_failures, run.earlier)
        return replace(result, notes=(*result.notes, *empty_lines(run.plan.empty), *run.plan.notes))
