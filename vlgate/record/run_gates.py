"""Gates beyond the tasks: on a comparison with a baseline, and on the run as a whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from vlgate.errors import ThresholdsError
from vlgate.gates.decide import (
    NO_TASK,
    Coverage,
    Judged,
    decide_all,
    expand,
    idle,
    instead,
    left_out,
    tasks_without_scores,
    too_disputed,
    too_few,
    without_scores,
)
from vlgate.gates.error_rates import ErrorRates, error_rates
from vlgate.gates.must_hold import must_hold_decision
from vlgate.gates.p_values import corrected, tail
from vlgate.gates.records import JUDGED, Decision, Gate, Outcome, Reason, Step
from vlgate.gates.thresholds import CHECKS, NO_BOUND, Thresholds
from vlgate.metrics.names import PARTS
from vlgate.metrics.paired import POWER, cases_for_margin, worth_of_difference
from vlgate.metrics.sentences import figure
from vlgate.metrics.shapes import headlines
from vlgate.record.comparison import Comparison, TaskChange
from vlgate.record.model_card import ModelCard
from vlgate.record.options import FIRST, QUICK_CASES, Options
from vlgate.types import Difference, Shape, Ties

NO_BASELINE = "compares with an earlier run, and none is given; name one with --baseline DIR"
FIRST_RUN = "not compared: first run; vlgate baseline keeps it for --baseline"
"""Why a gate on a comparison is not run if ``--baseline=first`` says that there is no earlier run."""
MOST_NAMED = 3


def refuse_blunt(thresholds: Thresholds, cases: Mapping[str, tuple[Shape, int]], *, quick: bool) -> None:
    if quick or not thresholds.changes:
        return
    shapes = {name: shape for name, (shape, _) in cases.items()}
    for gate in expand(thresholds.changes, shapes)[0]:
        if _allows_all(gate, cases[gate.task][1]):
            named = f'gate."{gate.task}".{gate.metric}: max_broken = {gate.max:g} of {cases[gate.task][1]:,} cases'
            remedy = "write a smaller number, or a share below 1"
            raise ThresholdsError(f"{thresholds.file}: {named}: every model {NO_BOUND}; {remedy}")
        if gate.kind != "max_drop" or gate.basis == "value" or gate.max is None:
            continue
        needed, parts = None, PARTS.get(gate.metric, 1)
        if gate.max:
            churn = min(1.0, gate.expected_churn * parts)
            needed = cases_for_margin(min(1.0, gate.max * parts), churn, gate.confidence)
        if needed is None or cases[gate.task][1] < needed:
            takes = "no number of cases shows a drop of 0" if needed is None else f"it takes {needed:,} cases"
            raise ThresholdsError(
                f'{thresholds.file}: gate."{gate.task}".{gate.metric}: max_drop = {gate.max:g} cannot be shown by '
                f"{cases[gate.task][1]:,} cases: {takes} at {POWER:.0%} power if {gate.expected_churn:.0%} of the "
                'verdicts change; raise max_drop, add cases, lower expected_churn, or write basis = "value"'
            )


def _allows_all(gate: Gate, cases: int) -> bool:
    return gate.kind == "max_broken" and (gate.max or 0) >= max(cases, 1)  # a share is below 1


def change_decisions(
    thresholds: Thresholds, comparison: Comparison | None, tasks: Mapping[str, Judged], *, first: bool = False
) -> list[Decision]:
    gates, rules = expand(thresholds.changes, {name: task.shape for name, task in tasks.items()})
    if first and comparison is None:
        made = [idle(gate, FIRST_RUN) for gate in gates]
    else:
        made = [_decide(gate, comparison, tasks[gate.task].coverage) for gate in gates]
    return [*made, *(idle(rule, NO_TASK) for rule, _ in rules)]


def _decide(gate: Gate, comparison: Comparison | None, coverage: Coverage) -> Decision:
    if comparison is None:
        return _unsure(gate, NO_BASELINE, Step(needs="baseline"))
    change = comparison.tasks.get(gate.task)
    if change is None or not change.n:
        return _unsure(gate, "the baseline has no judged case of this task", Step(needs="baseline"))
    values = change.values.get(gate.metric)
    if values is None:
        return _unsure(gate, *instead(f"both runs must have {gate.metric} of each case", change.values))
    difference = values.difference(gate.confidence)
    outcome, why = _judged(gate, change, difference, values.part)
    step = Step(needs="cases") if outcome == "inconclusive" else None
    doubt = _doubt(gate, change, difference, coverage.deselected)
    doubt = doubt or too_disputed(gate, coverage) or too_few(gate, coverage, difference.n)
    if doubt is not None and (outcome != "fail" or coverage.deselected):
        outcome, (why, step) = "inconclusive", doubt
    why += f"; {len(change.added)} cases of this run are not in the baseline" if change.added else ""
    counted = {"max_broken": (difference.broken, difference.n), "max_churn": (change.churned, change.n)}.get(gate.kind)
    made = Decision(gate=gate, outcome=outcome, why=why, step=step, difference=difference, part=values.part)
    made = replace(made, counted=counted)
    return replace(made, p=tail(gate, values.difference)) if made.tested and outcome == "fail" else made


def _judged(gate: Gate, change: TaskChange, difference: Difference, part: float) -> tuple[Outcome, str]:
    most = 0.0 if gate.max is None else gate.max
    if gate.kind == "max_drop":
        point = gate.basis == "value"
        low, high = (difference.value, difference.value) if point else (difference.low, difference.high)
        value, *ends = (figure(one, -most, sign="+") for one in (difference.value, low, high))
        said = f"{gate.metric} changed by {value}"
        said += "" if point else f" ({100 * gate.confidence:g} % interval {' to '.join(ends)})"
        said += f", {difference.broken} broken and {difference.fixed} fixed of {difference.n}"
        if low >= -most:
            return "pass", f"{said}, within max_drop = {most:g}"
        if high < -most:
            return "fail", f"{said}, below max_drop = {most:g}"
        why = f"{said}: the interval contains -max_drop = {-most:g}; a decision needs more cases"
        if most:
            changed = (difference.broken + difference.fixed) / difference.n
            independent = cases_for_margin(min(1.0, most / part), changed, gate.confidence)
            needed = round(independent * difference.n / worth_of_difference(difference, part, gate.confidence))
            more = needed - difference.n
            why += f": about {more:,} more if the model is unchanged" if more > 0 else ""
        return "inconclusive", why
    counted, n, what, named = change.churned, change.n, "answered or judged in another way", ""
    if gate.kind == "max_broken":
        counted, n, what = difference.broken, difference.n, f"newly broken in {gate.metric}"
        if gate.metric in headlines() and change.broken:
            others = ", ..." if len(change.broken) > MOST_NAMED else ""
            named = f": {', '.join(change.broken[:MOST_NAMED])}{others}"
    counts = f"{counted} of {n} cases are {what} ({counted / n:.1%}){named}"
    if (counted if isinstance(gate.max, int) else counted / n) > most:
        return "fail", f"{counts}, above {gate.kind} = {most:g}"
    return "pass", f"{counts}, within {gate.kind} = {most:g}"


def _doubt(gate: Gate, change: TaskChange, difference: Difference, deselected: int) -> Reason | None:
    if deselected:
        return f"{deselected} of the task's cases were deselected", Step(needs="all cases")
    if difference.n < change.n:
        return f"the runs give {gate.metric} for only {difference.n} of {change.n} cases", None
    if change.unjudged / (change.n + change.unjudged) > gate.max_skipped:
        counted = f"{change.unjudged} cases were not judged in one of the runs"
        return f"{counted}, more than max_skipped = {gate.max_skipped:g}", None
    if _allows_all(gate, difference.n):
        counted = f"max_broken = {gate.max:g} allows all {difference.n} compared cases to break"
        return f"{counted}; write a smaller number", None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    tasks: Mapping[str, Judged]  # those included of which every case was deselected
    right: Mapping[str, Mapping[str, bool | None]]
    neither: Mapping[str, tuple[int, int]]  # replies of which yes and no have less than half of the first word, of all
    comparison: Comparison | None
    known: Mapping[str, Shape]  # every task that a source can make


def decide_run(
    run: JudgedRun, thresholds: Thresholds, options: Options
) -> tuple[tuple[Decision, ...], ErrorRates | None]:
    changes = change_decisions(thresholds, run.comparison, run.tasks, first=options.baseline == FIRST)
    every = [*decide_all(thresholds, run.tasks, options.ties, options.model), *changes]
    held = []
    if thresholds.must_hold is not None:
        meaningless = tasks_without_scores(run.neither, thresholds)
        right = {name: dict.fromkeys(of) if name in meaningless else of for name, of in run.right.items()}
        whole = options.require_gates and not options.suite
        held = [must_hold_decision(thresholds.must_hold, right, whole=whole)]
    made = corrected((*held, *without_scores(every, run.neither, thresholds)), thresholds.fail_correction)
    made = without_passes(made, options.ties, quick=options.quick)
    about = [*required(run, thresholds, options), *unjudged_gates(made, thresholds, options)]
    return (*about, *made), error_rates(made, thresholds.fail_correction)


def failed_checks(card: ModelCard, cards: Sequence[ModelCard], thresholds: Thresholds) -> list[Decision]:
    decisions = []
    fingerprints = {one.fingerprint for one in cards}
    if len(fingerprints) > 1:
        why = (
            f"{len(cards)} workers loaded {len(fingerprints)} different models: their fingerprints differ, because the "
            "code or the weights changed while the run started, or because the attribute fingerprint of the model is "
            "another one in each process; run it again"
        )
        decisions.append(_about("model", "same-model", "inconclusive", why))
    for check in card.checks:
        if check.name not in CHECKS or check.outcome != "suspect":
            continue
        allowed = thresholds.allowed.get(check.name)
        outcome: Outcome = "inconclusive" if allowed is None else "not run"
        remedy = f"[checks] in {thresholds.file.name} can allow it" if allowed is None else f"allowed because {allowed}"
        decisions.append(_about("model", check.name, outcome, f"{check.why}; {remedy}"))
    return decisions


def required(run: JudgedRun, thresholds: Thresholds, options: Options) -> list[Decision]:
    needed = [task for task in run.known if any(fnmatchcase(task, pattern) for pattern in thresholds.require)]
    file = thresholds.file.name
    decisions = []
    for name in needed:
        if name in run.tasks:
            coverage = run.tasks[name].coverage
            doubt = left_out(thresholds.required, coverage)
            if doubt is None and coverage.undrawn and not options.quick:
                of = coverage.cases + coverage.undrawn
                doubt = f"--limit leaves out {coverage.undrawn} of its {of} cases", Step(needs="all cases")
            elif doubt is None and not coverage.judged:
                doubt = "none of its cases was judged", None
            if doubt is not None:
                why, step = f"{file} requires this task, but {doubt[0]}", doubt[1]
                decisions.append(_unsure(Gate(task=name, metric="required"), why, step))
        elif not options.suite:
            why = f"{file} requires this task in a full run, but the data folders do not hold its data"
            decisions.append(_about(name, "required", "fail", why))
    return decisions


def unjudged_gates(
    decisions: Sequence[Decision], thresholds: Thresholds, options: Options, *, searched: bool = False
) -> list[Decision]:
    if not options.require_gates or any(decision.outcome in JUDGED for decision in decisions):
        return []
    none, remedy = f"no gate of {thresholds.file} is about a task of this run", "add a gate with min"
    remedy += ", or name another file with --thresholds"
    if options.thresholds is None:
        none, remedy = "there is no thresholds file", "write one with vlgate init, or name one with --thresholds"
    elif all(rule.kind == "limit" for rule in (*thresholds.rules, *thresholds.changes)):
        none = f"{thresholds.file} has no gate"
    if searched:
        none, remedy = "the session only searched for smallest changes (-m shrink)", "leave -m shrink out"
    elif any(decision.why == FIRST_RUN for decision in decisions):
        none = f"every gate of {thresholds.file} about this run compares with an earlier run, and this is the first"
    elif thresholds.acuity:
        none += " (those of [acuity] are judged by vlgate analyse acuity)"
    why = f"no gate was judged: {none}; {remedy}, or accept a run without gates with --no-require-gates"
    return [_about("run", "require-gates", "inconclusive", why)]


def _about(task: str, what: str, outcome: Outcome, why: str) -> Decision:
    return Decision(gate=Gate(task=task, metric=what), outcome=outcome, why=why)


def _unsure(gate: Gate, why: str, step: Step | None) -> Decision:
    return Decision(gate=gate, outcome="inconclusive", why=why, step=step)


NO_PASS = f"--quick asks at most {QUICK_CASES} cases of each task, so no gate can pass; run without --quick"
CREDIT = "an exact tie counts 1 (--ties credit), so no gate can pass; use --ties strict or half"


def without_passes(decisions: Iterable[Decision], ties: Ties, *, quick: bool = False) -> tuple[Decision, ...]:
    if not quick and ties != "credit":
        return tuple(decisions)
    why, step = (NO_PASS, Step(needs="full run")) if quick else (CREDIT, Step(needs="ties"))
    return tuple(
        replace(decision, outcome="inconclusive", why=why, step=step) if decision.outcome == "pass" else decision
        for decision in decisions
    )
