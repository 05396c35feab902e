"""The rows of the result table, which are the same in the terminal and in ``summary.md``."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlgate.gates.records import OUTCOMES, RELEASABLE, Decision, GateKind, Outcome
from vlgate.judging.judged import causes, verdicts_of
from vlgate.metrics.names import CONTROLLED, DIFFERENCES
from vlgate.metrics.sentences import figure
from vlgate.metrics.shapes import SHAPES
from vlgate.record.results import RunResult, TaskResult
from vlgate.report.table import Table
from vlgate.types import CAPABILITIES, Metric

HEADINGS = ("capability", "task", "metric", "n", "value", "interval", "chance", "blind", "threshold", "decision")
NUMBERS = ("n", "value", "chance", "blind")
NOT_PASSED = tuple(outcome for outcome in OUTCOMES if outcome not in RELEASABLE)
HOLDS = "limit holds"  # the outcome "cannot" of a known limit, in words
NAMED = 3  # the most gates that a line names; the results folder names all
# what replies are, and what to do, if texts tie that a score might tell apart
YES_OR_NO = "a yes or a no: ask both texts as questions, or gate acc, p_c or p_f"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    cells: tuple[str, ...]
    outcome: Outcome | None  # None if the metric has no gate
    gate: str = ""


def rows(run: RunResult) -> list[ResultRow]:
    result_rows = []
    for result in sorted(run.results, key=lambda result: CAPABILITIES.index(result.task.capability)):
        gated = [decision for decision in run.decisions if decision.gate.task == result.task.id]
        headline = SHAPES[result.task.shape].headline
        if headline not in {decision.gate.metric for decision in gated if not decision.gate.compares}:
            result_rows.append(_row(result, headline, result.metrics.get(headline), None))
        for decision in gated:
            name = decision.gate.metric
            metric = result.metrics.get(name) if decision.outcome == "not run" else decision.metric
            result_rows.append(_row(result, name, metric, decision))
    return result_rows


def result_table(run: RunResult) -> Table:
    found = rows(run)
    outcomes = [row.outcome or "" for row in found]
    return Table(headings=HEADINGS, rows=[row.cells for row in found], numbers=NUMBERS, outcomes=outcomes)


def coverage_line(result: TaskResult) -> str | None:
    coverage = result.coverage
    parts = [f"{count} {what}" for count, what in _parts(result)]
    note = f"; {result.task.note}" if result.task.note else ""
    if not parts and not note:
        return None
    reason = _skipped(result) + _unscored([result]) + _yes_or_no([result], 1)
    counts = f"; {', '.join(parts)}" if parts else ""
    return f"{result.task.id}: {coverage.judged} of {coverage.cases} cases judged{counts}{reason}{note}"


def coverage_lines(run: RunResult) -> list[str]:
    tasks: dict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    notes: dict[str, list[str]] = defaultdict(list)
    for result in run.results:
        for count, what in _parts(result):
            tasks[what].append(result.task.id)
            counts[what] += count
        if result.task.note:
            notes[result.task.note].append(result.task.id)
    more = {
        "unscored": _unscored(run.results),
        "skipped": next(filter(None, map(_skipped, run.results)), ""),
        "with a tie": _yes_or_no(run.results, len(tasks.get("with a tie", ()))),
    }
    lines = [
        f"{what}: {counts[what]:,} case{'s' if counts[what] > 1 else ''} in {_tasks(ids)}{more.get(what, '')}"
        for what, ids in tasks.items()
    ]
    return [*lines, *(f"{named(ids)}: {note}" for note, ids in notes.items())]


def _yes_or_no(results: Sequence[TaskResult], tied: int) -> str:
    # What to do about ties that come of replies which are a yes or a no only; ``tied`` counts the tasks with ties
    only = [result.task.id for result in results if result.yes_or_no]
    where = "" if len(only) == tied else f" in {_tasks(only)}"
    return f"; every reply{where} is {YES_OR_NO}" if only else ""


def _tasks(ids: list[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} tasks ({named(ids)})"


def _parts(result: TaskResult) -> list[tuple[int, str]]:
    coverage, table = result.coverage, verdicts_of(result.verdicts)
    neither = len({table.row_of(place) for place in table.replies.neither})
    parts = (
        (coverage.unscored, "unscored"),
        (coverage.skipped, "skipped"),
        (coverage.deselected, "deselected"),
        (result.tied, "with a tie"),
        (result.unread, "with an unread answer"),
        (result.cut, "with a text that the model did not read to the end"),
        (neither, "with a score although yes and no have less than half of the first word"),
        (result.task.corrected, "corrected because of a dispute"),
        *((count, reason) for reason, count in result.task.left_out.items()),
    )
    return [(count, what) for count, what in parts if count]


def named(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are.

    >>> named(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _unscored(results: Sequence[TaskResult]) -> str:
    found = causes(result.verdicts for result in results if result.coverage.unscored)
    if not any(len(one.reasons) > 1 for one in found):
        return ""
    if len(found) == 1:
        return f": {found[0].sentence}"
    more = f", and {len(found) - NAMED} more causes" if len(found) > NAMED else ""
    return f": {', '.join(f'{len(one.reasons):,} x {one.sentence}' for one in found[:NAMED])}{more}"


def _skipped(result: TaskResult) -> str:
    table = verdicts_of(result.verdicts)
    if "skipped" not in table.states:
        return ""
    skipped = table[table.states.index("skipped")]
    problem = next((reply.problem for reply in skipped.predictions if reply.skipped and reply.problem), skipped.why)
    return f" (first: {problem.partition(';')[0]})"


def unit_line(run: RunResult) -> str:
    """Count the cases of a run, whatever a pytest item holds."""
    coverages = [result.coverage for result in run.results]
    judged = sum(coverage.judged for coverage in coverages)
    right = sum(int(verdicts_of(result.verdicts).judged.right.sum()) for result in run.results)
    unscored, skipped = (sum(getattr(one, name) for one in coverages) for name in ("unscored", "skipped"))
    more = (f", {unscored:,} unscored" if unscored else "") + (f", {skipped:,} skipped" if skipped else "")
    return f"{judged + unscored + skipped:,} cases: {right:,} right, {judged - right:,} missed{more}"


def by_reason(gates: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, why in gates:
        found.setdefault(why, []).append(name)
    return found


def outcome_lines(decisions: Iterable[Decision], outcome: Outcome, but: Collection[str] = ()) -> list[str]:
    chosen = (one for one in decisions if one.outcome == outcome and one.gate.id not in but)
    alike = by_reason((one.gate.id, one.why) for one in chosen)
    return [f"{outcome}: {named(ids)}: {why}" for why, ids in alike.items()]


def blind_line(run: RunResult, decision: Decision) -> str | None:
    gate = decision.gate
    blind = next((result.blind.get(gate.metric) for result in run.results if result.task.id == gate.task), None)
    if blind is None or gate.min is None or gate.min > blind.value:
        return None
    reached = f"a text-only model reaches {blind.value:.3f}"
    return f"{gate.id}: {reached}, so min = {gate.min:g} can be reached without the image"


def chance_line(run: RunResult, decision: Decision) -> str | None:
    gate = decision.gate
    if gate.metric in DIFFERENCES and gate.min is not None and gate.min <= 0:
        return f"{gate.id}: min = {gate.min:g} is not above 0, what a model gains that does not look"
    chance = next((result.chance.get(gate.metric) for result in run.results if result.task.id == gate.task), None)
    if chance is None or gate.min is None or gate.min > chance:
        return None
    return f"{gate.id}: min = {gate.min:g} is not above chance, {chance:.3f}"


def warning_lines(run: RunResult) -> list[str]:
    lines = (say(run, decision) for decision in run.decisions for say in (chance_line, blind_line))
    return [line for line in lines if line is not None]


def _row(result: TaskResult, name: str, metric: Metric | None, decision: Decision | None) -> ResultRow:
    chance, blind = result.chance.get(name), result.blind.get(name)
    change = None if decision is None else decision.difference
    if change is not None and decision is not None and decision.counted is not None:
        counted, n = decision.counted
        measured = str(n), count_words(decision.gate.kind, counted), "-"
    elif change is not None:
        measured = str(change.n), *difference_words(change.value, change.low, change.high)
    elif metric is not None:
        bounds = () if decision is None else (decision.gate.min, decision.gate.max)
        value, low, high = (figure(one, *bounds) for one in (metric.value, metric.low, metric.high))
        measured = str(metric.n), value, f"{low} - {high}"
    else:  # a control that was not asked is about no case
        measured = "-" if name in CONTROLLED else str(result.coverage.judged), "-", "-"
    holds = decision is not None and decision.outcome == "cannot"
    cells = (
        result.task.capability,
        result.task.id,
        name,
        *measured,
        "-" if chance is None or change is not None else f"{chance:.3f}",
        "-" if blind is None or change is not None else f"{blind.value:.3f}",
        *(("-", "-") if decision is None else (threshold(decision), HOLDS if holds else decision.outcome)),
    )
    if decision is None:
        return ResultRow(cells=cells, outcome=None)
    return ResultRow(cells=cells, outcome=decision.outcome, gate=decision.gate.id)


def difference_words(value: float, low: float, high: float) -> tuple[str, str]:
    return f"{value:+.3f}", f"{low:+.3f} to {high:+.3f}"


def threshold_words(kind: GateKind, least: float | None, most: float | None, basis: str) -> str:
    if kind not in ("gate", "limit"):
        return f"{kind} = {most or 0:g}" + (" (value)" if kind == "max_drop" and basis == "value" else "")
    ends = [f">= {least:g}"] if least is not None else []
    ends += [f"<= {most:g}"] if most is not None else []
    return " and ".join(ends) + (" (value)" if ends and basis == "value" else "")


def count_words(kind: GateKind, counted: int) -> str:
    return f"{counted:,} {'broken' if kind == 'max_broken' else 'changed'}"


def threshold(decision: Decision) -> str:
    gate = decision.gate
    return threshold_words(gate.kind, gate.min, gate.max, gate.basis)


def judged_by(gate: Mapping[str, Any]) -> tuple[str, str]:
    """Return the task and the metric of a gate of ``metrics.json``; its name is that of both, with its kind.

    >>> judged_by({"gate": "scenes/relations:acc_r:max_drop", "kind": "max_drop"})
    ('scenes/relations', 'acc_r')
    """
    task, _, metric = gate["gate"].removeprefix("limit:").removesuffix(f":{gate['kind']}").rpartition(":")
    return task, metric
