"""Each gate as a test of its own, so that the terminal, JUnit and the exit status agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from vlgate.errors import escaped, printable
from vlgate.gates.records import Decision

FILE = "thresholds.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crash:
    message: str
    path: str = FILE
    lineno: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A failure that consists of a sentence, which pytest prints in full and in the short summary."""

    text: str
    reprcrash: _Crash

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:
        """Print the sentence."""
        writer.line(self.text, red=True)


def sentence(message: str, text: str = "") -> object:
    """Return the failure of a test that consists of a message; ``text`` is printed instead if there is more to say."""
    return _Sentence(text=escaped(text or message), reprcrash=_Crash(message=printable(message)))


def gate_reports(decision: Decision, properties: Sequence[tuple[str, object]] = ()) -> Iterator[pytest.TestReport]:
    """Yield the test report of one gate, and the report of its end, with which JUnit takes the properties.

    It is passed, failed (also if it is inconclusive), or skipped if it was not run. A known limit that holds is an
    expected failure, xfailed.
    """
    gate = decision.gate
    nodeid = f"{FILE}::{gate.id}"
    text = printable(f"{decision.outcome}: {decision.why}" + (f" [{gate.why}]" if gate.why else ""))
    outcome, longrepr = _outcome(decision, text)
    report = pytest.TestReport(
        nodeid=nodeid,
        location=(FILE, 0, gate.id),
        keywords={nodeid: 1},
        outcome=outcome,
        longrepr=longrepr,
        when="call",
    )
    end = pytest.TestReport(
        nodeid=nodeid,
        location=report.location,
        keywords=report.keywords,
        outcome="passed",
        longrepr=None,
        when="teardown",
        user_properties=properties,
    )
    if decision.outcome == "cannot":
        vars(report)["wasxfail"] = text
    yield report
    yield end


def _outcome(decision: Decision, text: str) -> tuple[Any, Any]:
    if decision.outcome == "pass":
        return "passed", None
    if decision.outcome == "cannot":
        return "skipped", (FILE, 0, text)
    if decision.outcome == "not run":  # without the gate's own reason, so that pytest counts those alike in one line
        return "skipped", (FILE, 0, f"not run: {decision.why}")
    return "failed", sentence(text)
