"""The counts in pytest's last line: cases, whatever a pytest item holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vlgate.plugin.collected import rows_of
from vlgate.plugin.failures import STANDS_FOR
from vlgate.plugin.gate_reports import FILE


def failed_tests(stats: Mapping[str, list[Any]]) -> int:
    """Return the number of tests that failed and are not gates.

    Args:
        stats: the reports of pytest's terminal reporter, by status.
    """
    reports = [report for status in ("failed", "error") for report in stats.get(status, [])]
    return sum(getattr(report, STANDS_FOR, 1) for report in reports if not report.nodeid.startswith(f"{FILE}::"))


def count_cases(stats: dict[str, list[Any]]) -> None:
    """Repeat the report of a test for each of its cases, because pytest counts reports.

    It is done after pytest has listed the tests by status. A test that failed counts as one, beside its judged cases.

    Args:
        stats: the reports of pytest's terminal reporter, by status; it is changed in place.
    """
    right, missed = [], []
    for status in ("passed", "missed", "failed"):
        for report in stats.get(status, []):
            rows = rows_of(report)
            if rows is None:
                right += [report] if status == "passed" else []
                continue
            right += [report] * (rows["judged"] - rows["missed"])
            missed += [report] * rows["missed"]
    stats.update({status: reports for status, reports in (("passed", right), ("missed", missed)) if reports})
