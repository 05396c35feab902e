"""The counts in pytest's last line: cases, whatever a pytest item holds."""

from __future__ import annotations

from typing import Any

from vlgate.plugin.collected import rows_of


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
