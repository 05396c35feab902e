"""The rows of the result table, the same in the terminal and in ``summary.md``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vlgate.metrics import HEADLINE
from vlgate.results import RunResult, TableResult
from vlgate.types import CAPABILITIES, Decision, Metric, Outcome

HEADINGS = ("capability", "table", "metric", "n", "value", "interval", "blind", "threshold", "decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the result table; ``outcome`` is None where no gate stands on this metric."""

    cells: tuple[str, ...]
    outcome: Outcome | None


def rows(result: RunResult) -> list[Row]:
    """A row a table and metric: each gated metric, and each table's headline metric; capabilities in order."""
    return [row for capability in CAPABILITIES for table in result.tables for row in _rows(result, table, capability)]


def coverage_line(result: TableResult) -> str | None:
    """What of a table was not judged, was tied or cut, in words; None where there is nothing to say."""
    coverage = result.coverage
    parts = [
        f"{count} {what}"
        for count, what in (
            (coverage.unscored, "unscored"),
            (coverage.skipped, "skipped"),
            (coverage.deselected, "deselected"),
            (result.tied, "with a tie"),
            (result.cut, "with a text whose end the model did not read"),
            *((count, reason) for reason, count in result.table.left_out.items()),
        )
        if count
    ]
    note = f"; {result.table.note}" if result.table.note else ""
    if not parts and not note:
        return None
    reason = next((f" ({v.why})" for v in result.verdicts if v.state == "skipped"), "")
    counts = f"; {', '.join(parts)}" if parts else ""
    return f"{result.table.id}: {coverage.judged} of {coverage.cases} cases judged{counts}{reason}{note}"


def blind_line(result: RunResult, decision: Decision) -> str | None:
    """A warning where a gate's ``min`` can be reached without looking; None where it cannot."""
    gate = decision.gate
    blind = next((table.blind.get(gate.metric) for table in result.tables if table.table.id == gate.table), None)
    if blind is None or gate.min is None or gate.min > blind:
        return None
    return f"{gate.id}: a text-only model reaches {blind:.3f}, so min = {gate.min:g} can be reached without looking"


def _rows(result: RunResult, table: TableResult, capability: str) -> Iterator[Row]:
    if table.table.capability != capability:
        return
    gated = [decision for decision in result.decisions if decision.gate.table == table.table.id]
    headline = HEADLINE[table.table.shape]
    if headline not in {decision.gate.metric for decision in gated}:
        yield _row(table, headline, table.metrics.get(headline), None)
    for decision in gated:
        yield _row(table, decision.gate.metric, decision.metric, decision)


def _row(table: TableResult, name: str, metric: Metric | None, decision: Decision | None) -> Row:
    blind = table.blind.get(name)
    cells = (
        table.table.capability,
        table.table.id,
        name,
        str(table.coverage.judged if metric is None else metric.n),
        "-" if metric is None else f"{metric.value:.3f}",
        "-" if metric is None else f"{metric.low:.3f} - {metric.high:.3f}",
        "-" if blind is None else f"{blind:.3f}",
        "-" if decision is None else _threshold(decision),
        "-" if decision is None else decision.outcome,
    )
    return Row(cells=cells, outcome=None if decision is None else decision.outcome)


def _threshold(decision: Decision) -> str:
    gate = decision.gate
    ends = [f">= {gate.min:g}"] if gate.min is not None else []
    ends += [f"<= {gate.max:g}"] if gate.max is not None else []
    return " and ".join(ends) + (" (value)" if gate.basis == "value" else "")
