"""How tests and sessions end: gates as tests, what pytest prints of failures, what is lacking, the exit status."""

from __future__ import annotations

import copy
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from vlgate.errors import ModelReplyError, escaped, halved, printable
from vlgate.gates.records import Decision
from vlgate.judging.judged import cause_of, causes, reasons
from vlgate.plugin import parse_options
from vlgate.plugin.asked import late_call
from vlgate.plugin.collected import Collected, batch_name, failure_line, rows_of
from vlgate.plugin.parse_options import AGAIN, LISTS, ours, typed

if TYPE_CHECKING:
    from vlgate.asking.checks.check import Check


FILE = "thresholds.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crash:
    message: str
    path: str = FILE
    lineno: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    text: str
    reprcrash: _Crash

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:
        writer.line(self.text, red=True)


def sentence(message: str, text: str = "") -> object:
    return _Sentence(text=escaped(text or message), reprcrash=_Crash(message=printable(message)))


def gate_reports(decision: Decision, properties: Sequence[tuple[str, object]] = ()) -> Iterator[pytest.TestReport]:
    """Yield the test report of one gate, and the report of its end, with which JUnit takes the properties."""
    # Inconclusive gates fail; a known limit that holds is an expected failure, xfailed
    gate = decision.gate
    longrepr: Any = None
    text = printable(f"{decision.outcome}: {decision.why}" + (f" [{gate.why}]" if gate.why else ""))
    outcome: Any = {"pass": "passed", "cannot": "skipped", "not run": "skipped"}.get(decision.outcome, "failed")
    if outcome == "skipped":  # without the gate's own reason, so that pytest counts gates that were not run in one line
        longrepr = (FILE, 0, text if decision.outcome == "cannot" else f"not run: {decision.why}")
    elif outcome == "failed":
        longrepr = sentence(text)
    nodeid = f"{FILE}::{gate.id}"
    about: dict[str, Any] = {"nodeid": nodeid, "location": (FILE, 0, gate.id), "keywords": {nodeid: 1}}
    report = pytest.TestReport(**about, outcome=outcome, longrepr=longrepr, when="call")
    if decision.outcome == "cannot":
        vars(report)["wasxfail"] = text
    yield report
    yield pytest.TestReport(**about, outcome="passed", longrepr=None, when="teardown", user_properties=properties)


def is_gate(report: Any) -> bool:
    """Whether a report is of a gate, which the block of vlgate shows; pytest need not repeat it."""
    return isinstance(report.longrepr, _Sentence) and report.nodeid.startswith(f"{FILE}::")


# What pytest sends and prints of failed tests: halves of surrogate pairs escaped, and one cause printed once.

FEW = 3
"""The most tests with one cause that are still printed one by one."""
STANDS_FOR = "vlgate_stands_for"
"""How many failed tests a report stands for."""


def cleaned(value: object) -> object:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode() if halved(value) else value
    if isinstance(value, dict):
        return {cleaned(name): cleaned(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(cleaned, value))
    return value


ASKING = "vlgate.asking."  # the modules between a test and its model


def in_short(config: pytest.Config) -> bool:
    """Whether our own frames are left out of tracebacks, as pytest leaves out its own."""
    return not config.getoption("fulltrace", False) and config.getoption("tbstyle", "auto") != "long"


def leave_out_ours(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Let a traceback begin with the model, if an exception has come from there."""
    names = [str(entry.frame.f_globals.get("__name__")) for entry in excinfo.traceback]
    asked = [name.startswith(ASKING) for name in names]
    first = next((place for place in range(1, len(asked)) if asked[place - 1] and not asked[place]), 0)
    excinfo.traceback = excinfo.traceback[first:]


def say_failure(report: pytest.TestReport, error: BaseException, *, brief: bool) -> None:
    # a reply that cannot be used is said in a sentence; notes are below an exception, which is its headline
    if brief and isinstance(error, ModelReplyError):
        report.longrepr = cast("Any", sentence(str(error)))
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and (notes := getattr(error, "__notes__", ())):
        crash.message = crash.message.removesuffix("\n".join(("", *notes)))
    for traceback, crash, _ in getattr(report.longrepr, "chain", ()):
        for entry in traceback.reprentries:
            entry.lines[:] = map(escaped, entry.lines)
        if crash is not None:
            crash.message = escaped(crash.message)


def cleaned_warning(recorded: warnings.WarningMessage) -> None:
    """Escape the halves of surrogate pairs in a warning, in place: pytest-xdist sends the text as it is."""
    if isinstance(recorded.message, Warning):
        recorded.message.args = tuple(cleaned(part) for part in recorded.message.args)


def gathered(reports: Sequence[Any], collected: Collected) -> list[Any]:
    # Unscored tests are gathered by why there is no reply, those that raised by what they raised
    ours = [report for report in reports if report.nodeid in collected.expected]
    left = [report for report in reports if report.nodeid not in collected.expected]
    raised: dict[str, list[Any]] = {}
    unscored: dict[str, list[Any]] = {}
    for report in ours:
        if rows_of(report) is None:
            crash = getattr(report.longrepr, "reprcrash", None)
            line = "" if crash is None else f"{crash.path}:{crash.lineno}"
            raised.setdefault(f"{line} {cause_of(failure_line(report))}", []).append(report)
        for cause in {cause_of(why) for _, why in reasons(collected.of_test(report.nodeid))} if rows_of(report) else ():
            unscored.setdefault(cause, []).append(report)
    common = {cause: alike for cause, alike in unscored.items() if len(alike) > FEW}
    rest = {id(report): report for cause, alike in unscored.items() if cause not in common for report in alike}
    gone = {id(report): report for alike in common.values() for report in alike if id(report) not in rest}
    joined = [_joined(cause, alike, collected) for cause, alike in common.items()]
    for number, report in enumerate(joined):
        vars(report)[STANDS_FOR] = 0 if number else len(gone)
    shown: list[Any] = []
    for alike in raised.values():
        if len(alike) <= FEW:
            shown += alike
            continue
        shown.append(_named(alike[0], f"{batch_name(alike[0].nodeid)} and {len(alike) - 1:,} more"))
        vars(shown[-1])[STANDS_FOR] = len(alike)
    return [*sorted(joined, key=lambda one: one.nodeid), *rest.values(), *shown, *left]


def _joined(cause: str, alike: Sequence[Any], collected: Collected) -> Any:
    shared = next(
        one for one in causes(collected.of_test(report.nodeid) for report in alike) if cause_of(one.reasons[0]) == cause
    )
    tasks = {batch_name(report.nodeid).partition(":")[0] for report in alike}
    asked = sum(len(batch.positions) for batch in collected.expected.values() if batch.task.id in tasks)
    text = f"{len(shared.reasons):,} of {asked:,} cases unscored: {shared.sentence}"
    where = next(iter(tasks)) if len(tasks) == 1 else f"{len(tasks)} tasks"
    report = _named(alike[0], f"{where}, {len(shared.reasons):,} cases")
    report.longrepr = sentence(text, f"{text}\nthe first case: {shared.example}")
    return report


def _named(report: Any, name: str) -> Any:
    renamed = copy.copy(report)
    renamed.nodeid = report.nodeid.replace(f"[{batch_name(report.nodeid)}]", f"[{name}]")
    file, line, domain = report.location
    renamed.location = (file, line, domain.replace(f"[{batch_name(report.nodeid)}]", f"[{name}]"))
    return renamed


# How a session ended: what it lacks, and which of its files could not be written.

CHECKS_MISSING = "the run ended during the checks of the model"
CONTROLS_MISSING = "the run ended during the controls"
EXPLANATIONS_MISSING = "the run ended during the explanations of missed cases"


class Ending:
    def __init__(self) -> None:
        self.no_model = ""
        self.crashed: list[str] = []
        self.unwritten: list[str] = []
        self.interrupted = False

    def down(self, node: object, error: object) -> None:
        if error is not None:
            name, late = str(getattr(getattr(node, "gateway", None), "id", node)), late_call(node)
            self.crashed.append(f"worker {name} was ended, because {late}" if late else f"worker {name} crashed")

    def lacks(self, collected: Collected, checks: Sequence[Check]) -> str:
        left = sum(collected.unreported(nodeid) for nodeid in collected.expected)
        failed: dict[str, list[Check]] = {}
        for check in checks:
            if check.outcome == "failed":
                failed.setdefault(cause_of(check.why), []).append(check)
        reasons = ["the run was interrupted"] if self.interrupted else []
        reasons += [f"the model could not be loaded ({self.no_model})"] if self.no_model else []
        reasons += self.crashed
        reasons += [f"{left} of {len(collected.expected)} tests did not run"] if left else []
        for same in failed.values():
            names = f"check{'s' * (len(same) > 1)} {', '.join(check.name for check in same)}"
            reasons.append(f"the {names} of the model could not run: {same[0].why}")
        return "; ".join([*reasons, *self.unwritten])


def flagged(report: pytest.TestReport) -> str:
    return str(getattr(report, NO_MODEL, ""))


NO_MODEL = "vlgate_no_model"


# Nothing ends a session that was asked for the suite with status 0, unless a run passed or a user asked for a list.

FAILED = 1


def last_status(config: pytest.Config, status: int | pytest.ExitCode | None) -> int | pytest.ExitCode | None:
    # Options as --fixtures end a session before its tests, or return 0 whatever its status is; so do plugins. A list
    # that the user typed an option for ends with 0, one of addopts only if gates are not required by an option.
    if status or hasattr(config, "workerinput") or AGAIN in config.stash:
        return status
    hooks = config.pluginmanager.get_plugin("vlgate-run")
    if hooks is not None and (hooks.run.refusal or hooks.run.result is not None):
        return int(hooks.run.refusal) or status
    options, listing = typed(config), [flag for name, flag in LISTS.items() if config.getoption(name, None)]
    required = parse_options.requires_gates(config)
    if any(getattr(options, name, None) for name in LISTS) or (listing and required is False):
        return status
    if not parse_options.names_suite(config) and not (ours(options) and parse_options.read(config).require_gates):
        return status
    why = f"{' '.join(listing)} of addopts" if listing else "something"
    remedy = "take it out, or add --no-require-gates if the list is enough" if listing else "look for a plugin"
    sys.stderr.write(f"vlgate: no gate was judged: {why} ended the session before the suite; {remedy}\n")
    return FAILED


class ExitGuard:
    """Replaces ``os._exit`` while a run asks its model, so that a status of 0 becomes that of a failed run."""

    # os._exit ends the process before pytest can report anything. After a run that did not pass, it stays replaced:
    # threads and exit handlers of the model can call it later. Processes that the model forks may end with 0.

    def __init__(self, plugins: pytest.PytestPluginManager) -> None:
        self.plugins = plugins
        self.process = os.getpid()
        earlier = getattr(os._exit, "__self__", None)  # the guard of a run in this process that did not pass
        self.end: Callable[[int], NoReturn] = earlier.end if isinstance(earlier, ExitGuard) else os._exit
        self.status = FAILED
        self.when = "before the gates were judged"

    def start(self) -> None:
        os._exit = self._exit

    def stop(self, status: int = 0) -> None:
        if status:
            self.status, self.when = status, "after a run that did not pass"
        elif os._exit == self._exit:
            os._exit = self.end  # type: ignore[assignment]

    def _exit(self, status: int) -> NoReturn:
        if status == 0 and os.getpid() == self.process:
            message = f"vlgate: os._exit(0) ended the process {self.when}, so the status is {self.status}\n"
            capture = self.plugins.get_plugin("capturemanager")
            if capture is not None:
                capture.suspend(in_=True)
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, message.encode())
            status = self.status
        self.end(status)
