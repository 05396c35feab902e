"""What pytest sends and prints of failed tests: halves of surrogate pairs escaped, and one cause printed once."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import pytest

from vlgate.errors import escaped, halved
from vlgate.judging.causes import cause_of, causes, reasons
from vlgate.plugin.collected import Collected, batch_name, last_line, rows_of
from vlgate.plugin.gate_reports import sentence

FEW = 3
"""The most tests with one cause that are still printed one by one."""
STANDS_FOR = "vlgate_stands_for"
"""How many failed tests a report stands for."""


def cleaned(value: object) -> object:
    """Return what a report holds with the halves of surrogate pairs escaped, which execnet refuses to send."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode() if halved(value) else value
    if isinstance(value, dict):
        return {cleaned(name): cleaned(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(cleaned, value))
    return value


def escape_crash(report: pytest.TestReport) -> None:
    """Escape, in place, what a model has put into the exception that failed a test; pytest prints it as it is."""
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
    """Return the reports of failed tests for the terminal, with one report for more than ``FEW`` that share a cause.

    Tests whose cases could not be scored are gathered by why there is no reply, those that raised by what they raised.
    Other tests, and gates, stay as they are.
    """
    ours = [report for report in reports if report.nodeid in collected.expected]
    left = [report for report in reports if report.nodeid not in collected.expected]
    raised: dict[str, list[Any]] = {}
    unscored: dict[str, list[Any]] = {}
    for report in ours:
        if rows_of(report) is None:
            raised.setdefault(_crash(report), []).append(report)
        for cause in {cause_of(why) for _, why in reasons(collected.of_test(report.nodeid))} if rows_of(report) else ():
            unscored.setdefault(cause, []).append(report)
    common = {cause: alike for cause, alike in unscored.items() if len(alike) > FEW}
    rest = {id(report): report for cause, alike in unscored.items() if cause not in common for report in alike}
    gone = {id(report): report for alike in common.values() for report in alike if id(report) not in rest}
    joined = [_joined(cause, alike, collected) for cause, alike in common.items()]
    for place, report in enumerate(joined):
        vars(report)[STANDS_FOR] = 0 if place else len(gone)
    shown = [report for alike in raised.values() for report in (alike if len(alike) <= FEW else [_for_all(alike)])]
    return [*sorted(joined, key=lambda one: one.nodeid), *rest.values(), *shown, *left]


def _joined(cause: str, alike: Sequence[Any], collected: Collected) -> Any:
    """A report about all cases that share a cause, with what the first of their tests wrote."""
    found = next(
        one for one in causes(collected.of_test(report.nodeid) for report in alike) if cause_of(one.reasons[0]) == cause
    )
    tasks = {batch_name(report.nodeid).partition(":")[0] for report in alike}
    asked = sum(len(batch.positions) for batch in collected.expected.values() if batch.task.id in tasks)
    text = f"{len(found.reasons):,} of {asked:,} cases unscored: {found.sentence}"
    where = next(iter(tasks)) if len(tasks) == 1 else f"{len(tasks)} tasks"
    report = _named(alike[0], f"{where}, {len(found.reasons):,} cases")
    report.longrepr = sentence(text, f"{text}\nthe first case: {found.example}")
    return report


def _for_all(alike: Sequence[Any]) -> Any:
    """The first of some reports that failed alike; it says how many they are."""
    first = batch_name(alike[0].nodeid)
    report = _named(alike[0], f"{first} and {len(alike) - 1:,} more")
    vars(report)[STANDS_FOR] = len(alike)
    return report


def _named(report: Any, name: str) -> Any:
    """A copy of a report under another name in the brackets of its test."""
    renamed = copy.copy(report)
    renamed.nodeid = report.nodeid.replace(f"[{batch_name(report.nodeid)}]", f"[{name}]")
    file, line, domain = report.location
    renamed.location = (file, line, domain.replace(f"[{batch_name(report.nodeid)}]", f"[{name}]"))
    return renamed


def _crash(report: Any) -> str:
    """What a test raised and where, without what it says of one case."""
    crash = getattr(report.longrepr, "reprcrash", None)
    place = "" if crash is None else f"{crash.path}:{crash.lineno}"
    return f"{place} {cause_of(last_line(report))}"
