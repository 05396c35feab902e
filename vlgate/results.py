"""From verdicts to the figures of a run: each table's coverage, metrics and slices, and the gates' decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vlgate.answers import normal_answer
from vlgate.gates import Coverage, decide, idle
from vlgate.health import Flaw
from vlgate.metrics import Columns, columns, metrics, points, with_interval
from vlgate.metrics.hierarchy import Gap, Row, checklist_gaps, checklist_rows, valse_averages
from vlgate.metrics.variants import Evidence, measures, names
from vlgate.probes import Probe
from vlgate.shrink.record import Shrunk
from vlgate.thresholds import Thresholds, expand
from vlgate.types import Decision, Gate, Metric, Table, Ties, Verdict

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResult:
    """What a run found about one table. ``blind`` holds the text-only model's metrics on the same cases."""

    table: Table
    coverage: Coverage
    verdicts: tuple[Verdict, ...]
    columns: Columns
    metrics: Mapping[str, Metric]
    slices: Mapping[str, Mapping[str, Metric]]
    blind: Mapping[str, float]
    flaws: tuple[Flaw, ...] = ()
    probes: tuple[Probe, ...] = ()
    responses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def tied(self) -> int:
        """How many judged cases hold an exact tie of two scores that should differ."""
        return int(self.columns.facts["tied"].sum()) if "tied" in self.columns.facts else 0

    @property
    def cut(self) -> int:
        """How many judged cases hold a text of which the model did not read the end."""
        return sum(v.state == "judged" and any(reply.cut for reply in v.predictions) for v in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run found: its tables by id, the gates' decisions, and the benchmarks' own averages and gaps.

    ``shrunk`` holds the searches for smallest changes, where there were any.
    """

    tables: tuple[TableResult, ...]
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()
    averages: Mapping[str, Row] = field(default_factory=dict)
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    shrunk: tuple[Shrunk, ...] = ()

    @property
    def passed(self) -> bool:
        """True where no gate failed or was inconclusive."""
        return all(decision.outcome in {"pass", "not run"} for decision in self.decisions)


def tabulate(
    table: Table,
    verdicts: Sequence[Verdict],
    blind: Sequence[Verdict],
    ties: Ties,
    variants: Collection[str] = (),
) -> TableResult:
    """Make a table's figures.

    Args:
        table: with all its cases.
        verdicts: of those cases that were asked for, in the table's order.
        blind: the text-only model's verdicts of the judged cases, or of a sample of them; empty where there is none.
        ties: what an exact tie counts.
        variants: metrics to give besides, otherwise defined, by name; see ``metrics.variants``.

    Returns: the table's result; metrics are over the judged cases.
    """
    rows = [place for place, verdict in enumerate(verdicts) if verdict.state == "judged"]
    judged = [verdicts[place] for place in rows]
    found = columns(table.shape, judged)
    return TableResult(
        table=table,
        coverage=_coverage(table, verdicts),
        verdicts=tuple(verdicts),
        columns=found,
        metrics={
            **metrics(found, name=table.id, ties=ties, confidence=_CONFIDENCE),
            **_variants(table, judged, found, variants),
        },
        slices=_slices(table, judged, found, ties),
        blind=points(columns(table.shape, blind), ties) if blind else {},
        responses=_responses(judged) if table.shape == "questions" else {},
    )


def decisions(thresholds: Thresholds, results: Sequence[TableResult], ties: Ties) -> tuple[Decision, ...]:
    """Decide every gate of a thresholds file over a run's tables; rules without a table are listed as not run."""
    by_id = {result.table.id: result for result in results}
    gates, rules = expand(thresholds, {table: result.table.shape for table, result in by_id.items()})
    made = [decide(gate, by_id[gate.table].coverage, _at(gate, by_id[gate.table], ties)) for gate in gates]
    return (*made, *(idle(rule) for rule in rules))


def averages(results: Sequence[TableResult], known: Collection[str]) -> tuple[dict[str, Row], dict[str, Gap]]:
    """The means that VALSE's and VL-CheckList's papers print, and VL-CheckList's gaps.

    Args:
        results: of a run's tables.
        known: the ids of all tables that there are, for the counts.

    Returns: rows by ``place:metric``, and gaps by name.
    """
    values = {r.table.id: {name: metric.value for name, metric in r.metrics.items()} for r in results}
    ranked = {table: found["acc_r"] for table, found in values.items() if "acc_r" in found}
    rows = {f"valse:{metric}": row for metric, row in valse_averages(values, known).items()}
    rows |= {f"{place}:acc_r": row for place, row in checklist_rows(ranked, known).items()}
    return rows, checklist_gaps(ranked)


def _variants(table: Table, judged: Sequence[Verdict], found: Columns, variants: Collection[str]) -> dict[str, Metric]:
    if not judged or not names(variants, table.id):
        return {}
    evidence = Evidence(scores=found.scores, files=np.array([v.case.id.partition("/")[0] for v in judged], dtype=str))
    if table.shape == "questions":
        right = np.stack([found.facts["original_right"], found.facts["perturbed_right"]], axis=1)
        evidence = replace(evidence, right=right, consistent=found.facts["consistent"])
    given = measures(variants, table.id, evidence)
    return {name: with_interval(measure, found, f"{table.id}:{name}", _CONFIDENCE) for name, measure in given.items()}


def _at(gate: Gate, result: TableResult, ties: Ties) -> Mapping[str, Metric]:
    if gate.confidence == _CONFIDENCE:
        return result.metrics
    return metrics(result.columns, name=gate.table, ties=ties, confidence=gate.confidence)


def _responses(judged: Sequence[Verdict]) -> dict[str, dict[str, float]]:
    """How often the model says yes, no or something else, over all questions and by type (CARETS §6.2, Table 3)."""
    said: dict[str, list[str]] = {}
    for verdict in judged:
        answers = [normal_answer(reply.answer or "").split(" ")[0].strip(",.;:") for reply in verdict.predictions]
        kinds = {"all", *(f"{tag}={value}" for tag, value in verdict.case.tags.items() if tag == "question_type")}
        for kind in kinds:
            said.setdefault(kind, []).extend(answer if answer in {"yes", "no"} else "other" for answer in answers)
    return {
        kind: {answer: answers.count(answer) / len(answers) for answer in ("yes", "no", "other")}
        for kind, answers in sorted(said.items())
    }


def _coverage(table: Table, verdicts: Sequence[Verdict]) -> Coverage:
    states = [verdict.state for verdict in verdicts]
    return Coverage(
        cases=len(states),
        judged=states.count("judged"),
        unscored=states.count("unscored"),
        skipped=states.count("skipped"),
        deselected=len(table.cases) - len(states),
    )


def _slices(table: Table, judged: Sequence[Verdict], found: Columns, ties: Ties) -> dict[str, Mapping[str, Metric]]:
    rows: dict[str, list[int]] = {}
    for row, verdict in enumerate(judged):
        for tag, value in verdict.case.tags.items():
            rows.setdefault(f"{tag}={value}", []).append(row)
    return {
        name: metrics(found.take(np.array(rows[name])), name=f"{table.id}[{name}]", ties=ties, confidence=_CONFIDENCE)
        for name in sorted(rows)
    }
