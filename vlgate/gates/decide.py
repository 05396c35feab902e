"""From metrics to decisions: the rules of a thresholds file to gates, and whether a model passes each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import ceil

from vlgate.gates.p_values import exact, near_an_end, tail
from vlgate.gates.records import Decision, Gate, Outcome, Reason, Step
from vlgate.gates.thresholds import FIRST_WORD, Thresholds
from vlgate.metrics.compute import at_confidence, at_most, metrics
from vlgate.metrics.controlled import ControlledTask
from vlgate.metrics.measures import Columns
from vlgate.metrics.names import CONTROLLED, PARTIAL, applies
from vlgate.metrics.paired import POWER, cases_for_bound
from vlgate.metrics.sentences import figure
from vlgate.metrics.shapes import headlines
from vlgate.metrics.stats import worth
from vlgate.types import Metric, Shape, Ties

NO_TASK = "none of its tasks is in this run"  # why a rule that matches no task of a run is not run

_TIES = {
    "strict": "",
    "half": "; an exact tie counts 1/2 (--ties half)",
    "credit": "; an exact tie counts 1 (--ties credit)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The counts of a task's cases: of the selected ``cases``, these are judged, unscored or skipped."""

    # ``deselected`` counts the cases that the user's selection (``-k``, a node id) leaves out, ``undrawn`` those that
    # ``--limit`` and ``--quick`` leave out. ``distinct`` counts the judged cases with different requests, None if all
    # differ; ``copies`` names those whose pixels alone say that they ask what others ask. ``disputed`` cases are left
    # out, ``corrected`` ones have other truths. ``unread`` answers name no choice, or several; ``unreadable`` records
    # could not be read, and a gate takes each for a skipped case.

    cases: int
    judged: int
    unscored: int
    skipped: int
    deselected: int = 0
    distinct: int | None = None
    disputed: int = 0
    corrected: int = 0
    unread: int = 0
    unreadable: int = 0
    undrawn: int = 0
    copies: str = ""


def decide(gate: Gate, coverage: Coverage, metrics: Mapping[str, Metric], ties: Ties = "strict") -> Decision:
    """Decide one gate of one task.

    With basis ``lower`` the unfavourable end of the interval decides: a ``min`` passes if ``low`` reaches it, fails if
    even ``high`` does not reach it, and is inconclusive otherwise. Near 0 and 1 intervals miss too often on that side,
    so a share fails only if the exact binomial test says so, too. With basis ``value`` the value alone
    decides. A gate cannot pass if cases are unscored or deselected, if the share of skipped cases, including those lost
    to records that cannot be read, is above ``max_skipped``, if that of disputed ones is above ``max_disputed``, if
    there are fewer than ``min_cases`` different cases, or for an ``auroc`` of statements cases of the rarer truth, or
    if the model gives the metric for none of the cases or only for some of them. A figure of a control is about a
    sample of the cases.

    A known limit fails if the model is better than ``max``: if even the lower end of the interval is above it.
    Otherwise the outcome is ``cannot``, or inconclusive for the same reasons as that of a gate.
    """
    metric = metrics.get(gate.metric)
    if metric is None:
        why, step = _without(gate, coverage, metrics)
        return Decision(gate=gate, outcome="inconclusive", why=why + _disputed(coverage), step=step)
    outcome, why, step = _compared(gate, metric)
    why += _TIES[ties]
    if outcome != "pass" and coverage.unread == coverage.judged > 0:
        why += "; no case has answers that could all be read: see the answers in summary.md"
    elif outcome != "pass" and coverage.unread:
        counted = f"{coverage.unread:,} of {coverage.judged:,} cases have an answer that could not be read"
        why += f"; {counted}: see summary.md"
    doubt = _doubt(gate, coverage, metric)
    if doubt is not None and (outcome != "fail" or coverage.deselected):
        outcome, (why, step) = "inconclusive", doubt
    if step is not None and step.needs == "controls limit" and metric.n >= coverage.judged:
        step = Step(needs="cases")
    if step is not None and step.needs == "cases" and coverage.undrawn:
        step = Step(needs="all cases")
    return Decision(gate=gate, outcome=outcome, why=why + _disputed(coverage), step=step, metric=metric)


def _disputed(coverage: Coverage) -> str:
    parts = ((coverage.disputed, "left out"), (coverage.corrected, "corrected"))
    counts = [f"{number:,} disputed case{'s' if number > 1 else ''} {what}" for number, what in parts if number]
    return "".join(f"; with {count}" for count in counts)


def idle(rule: Gate, why: str = NO_TASK) -> Decision:
    return Decision(gate=rule, outcome="not run", why=why)


def instead(why: str, metrics: Collection[str]) -> Reason:
    name = next((name for name in (*headlines(), *metrics) if name in metrics), "")
    return (f"{why}; write {name} instead", Step(needs="metric", name=name)) if name else (why, None)


def _without(gate: Gate, coverage: Coverage, metrics: Collection[str]) -> Reason:
    if gate.metric in CONTROLLED:
        control = CONTROLLED[gate.metric]
        why = f"the control {control} has no {gate.metric} of this task; ask it with --controls {control}"
        return why, Step(needs="control", name=control)
    if coverage.judged:
        return instead(f"the model has no {gate.metric}, because it does not say yes or no", metrics)
    counts = f"{coverage.unscored} unscored, {coverage.skipped} skipped, {coverage.deselected} deselected"
    return f"none of {coverage.cases + coverage.deselected} cases was judged ({counts})", None


def left_out(gate: Gate, coverage: Coverage) -> Reason | None:
    if coverage.deselected:
        of = coverage.cases + coverage.deselected
        return f"{coverage.deselected} of the task's {of} cases were deselected", Step(needs="all cases")
    if coverage.unscored:
        return f"{coverage.unscored} of {coverage.cases} cases are unscored", None
    lost, cases = coverage.skipped + coverage.unreadable, coverage.cases + coverage.unreadable
    if lost and lost / cases > gate.max_skipped:  # a product would be rounded: 0.29 * 100 is below 29
        how = "skipped" if not coverage.unreadable else "skipped or lost to records that cannot be read"
        return f"{lost} of {cases} cases are {how}, more than max_skipped = {gate.max_skipped:g}", None
    return too_disputed(gate, coverage)


def _doubt(gate: Gate, coverage: Coverage, metric: Metric) -> Reason | None:
    if (doubt := left_out(gate, coverage)) is not None:
        return doubt
    if metric.n < coverage.judged and gate.metric not in CONTROLLED and gate.metric not in PARTIAL:
        return f"the model gives {gate.metric} for only {metric.n} of {coverage.judged} judged cases", None
    return too_few(gate, coverage, metric.n, metric.rarer)


def too_disputed(gate: Gate, coverage: Coverage) -> Reason | None:
    disputed = coverage.disputed + coverage.corrected
    cases = coverage.cases + coverage.deselected + coverage.undrawn + coverage.unreadable + coverage.disputed
    if not disputed or disputed / cases <= gate.max_disputed:
        return None
    return f"{disputed:,} of {cases:,} cases are disputed, more than max_disputed = {gate.max_disputed:g}", None


def too_few(gate: Gate, coverage: Coverage, n: int, rarer: int | None = None) -> Reason | None:
    fewer, copies = f"fewer than min_cases = {gate.min_cases}", ""
    if n < gate.min_cases:
        counted = "there is only 1 case" if n == 1 else f"there are only {n} cases"
    elif coverage.distinct is not None and coverage.distinct < gate.min_cases:
        copies = f": {coverage.copies}" if coverage.copies else ""
        counted = f"only {coverage.distinct} of {n} cases have different requests"
    elif rarer is not None and rarer < gate.min_cases:
        counted = f"only {rarer} of {n} cases have the rarer truth"
    else:
        return None
    return f"{counted}, {fewer}{copies}", Step(needs="controls limit" if gate.metric in CONTROLLED else "cases")


def _compared(gate: Gate, metric: Metric) -> tuple[Outcome, str, Step | None]:
    point = gate.basis == "value"
    low, high = (metric.value, metric.value) if point else (metric.low, metric.high)
    value, *ends = (figure(one, gate.min, gate.max) for one in (metric.value, metric.low, metric.high))
    said = f"{gate.metric} is {value}"
    said += "" if point else f" ({100 * gate.confidence:g} % interval {' to '.join(ends)})"
    chance = 0.0 if point or not near_an_end(gate, metric) else exact(gate, metric)
    by_chance = f"; but p = {chance:.2g} by the exact binomial test" if chance > (1 - gate.confidence) / 2 else ""
    if gate.kind == "limit":
        most = 1.0 if gate.max is None else gate.max
        limit = f"the known limit max = {most:g}"
        if low > most and not by_chance:
            return "fail", f"{said}, better than {limit}; raise the limit, or make it a gate", None
        return "cannot", f"{said}, above {limit}{by_chance}" if low > most else f"{said}, not above {limit}", None
    lowest = -1.0 if gate.metric in CONTROLLED else 0.0  # a difference may be negative
    least, most = lowest if gate.min is None else gate.min, 1.0 if gate.max is None else gate.max
    more = Step(needs="controls limit" if gate.metric in CONTROLLED else "cases")
    for beyond, side in ((high < least, f"below min = {least:g}"), (low > most, f"above max = {most:g}")):
        if beyond and by_chance:
            return "inconclusive", f"{said}, {side}{by_chance}, so a decision needs more cases", more
        if beyond:
            return "fail", f"{said}, {side}", None
    inside = {"min": least} if low < least else {}
    inside |= {"max": most} if high > most else {}
    if inside:
        held = " and ".join(f"{name} = {bound:g}" for name, bound in inside.items())
        how = ": raise --controls-limit" if gate.metric in CONTROLLED else _more_cases(gate, metric, inside.values())
        contains = f"the interval contains {held}; a decision needs more cases{how}"
        independent = metric.n / metric.deff
        if independent < gate.min_cases and metric.deff > 1.0:
            worth_of = f"the {metric.n:,} cases are worth about {max(1, round(independent)):,}"
            contains += f"; as they share images or classes, {worth_of}"
        return "inconclusive", f"{said}: {contains}", more
    bounds = [f"{name} = {bound:g}" for name, bound in (("min", gate.min), ("max", gate.max)) if bound is not None]
    return "pass", f"{said}, within {' and '.join(bounds)}", None


def _more_cases(gate: Gate, metric: Metric, bounds: Collection[float]) -> str:
    """How many more cases decide with ``POWER``, if the metric stays as it is and cases repeat images as often."""
    needed = [cases_for_bound(metric.value, bound, gate.confidence) for bound in bounds]
    if None in needed:
        return ", but none decides if the metric stays on the threshold"
    independent = max(number for number in needed if number is not None)
    more = independent * metric.n / worth(metric, gate.confidence) - metric.n
    step: int = 10 ** max(0, len(str(ceil(more))) - 2)  # rounded up to two digits
    rounded = max(1, ceil(more / step)) * step
    return f": about {rounded:,} more decide with {POWER:.0%} power if the metric stays as it is"


def expand(
    rules: Sequence[Gate], tasks: Mapping[str, Shape], model: str = ""
) -> tuple[list[Gate], list[tuple[Gate, str]]]:
    """Make one gate per rule and task of the run, if the rule matches the task and the task has the rule's metric.

    If several rules match the same task and metric, an exact task id wins over a pattern. Two patterns that match the
    same task and metric are an error in the file, unless a rule names the task by its id.

    Returns: the gates and limits, in the order of the rules and tasks, and the rules that match no task of the run or
        are about another model, each with the reason.
    """
    name = model.partition("?")[0]
    found: dict[tuple[str, str, str], tuple[bool, Gate]] = {}
    idle = []
    for rule in rules:
        if rule.model and not fnmatchcase(name, rule.model):
            idle.append((rule, f"it is about the model {rule.model}"))
            continue
        matched = [
            task for task, shape in tasks.items() if fnmatchcase(task, rule.task) and applies(rule.metric, shape)
        ]
        if not matched:
            idle.append((rule, NO_TASK))
        for task in matched:
            exact = task == rule.task
            before = found.get((rule.kind, task, rule.metric))
            if before is None or exact or not before[0]:
                found[rule.kind, task, rule.metric] = (exact, replace(rule, task=task))
    return [gate for _, gate in found.values()], idle


CONFIDENCE = 0.95  # the confidence of the intervals of ``Judged.metrics``


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the gates of a task are decided from: its shape, the counts of its cases, and the judged ones."""

    # ``metrics`` have intervals of 95 %; those of another confidence are computed from the ``columns``, None if no case
    # was selected. ``lacking`` says why a control was not asked to its end.

    shape: Shape
    coverage: Coverage
    columns: Columns | None = field(default=None, repr=False)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    controls: Mapping[str, ControlledTask] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    def at(self, gate: Gate) -> Mapping[str, Metric]:
        if gate.metric in CONTROLLED:
            control = self.controls.get(CONTROLLED[gate.metric])
            return {} if control is None else control.metrics(gate.confidence)
        if gate.confidence == CONFIDENCE or self.columns is None:
            return self.metrics
        return metrics(self.columns, confidence=gate.confidence)


def decide_all(
    thresholds: Thresholds, tasks: Mapping[str, Judged], ties: Ties = "strict", model: str = ""
) -> tuple[Decision, ...]:
    gates, rules = expand(thresholds.rules, {name: task.shape for name, task in tasks.items()}, model)
    made = [_decided(gate, tasks[gate.task], ties) for gate in gates]
    return (*made, *(idle(rule, why) for rule, why in rules))


def without_scores(
    made: Sequence[Decision], neither: Mapping[str, tuple[int, int]], thresholds: Thresholds
) -> list[Decision]:
    doubts = _doubts(neither)
    judged = [one for one in made if one.gate.task in doubts and one.outcome != "not run"]
    if FIRST_WORD in thresholds.allowed:
        if not judged:
            return list(made)
        tasks = ", ".join(dict.fromkeys(one.gate.task for one in judged))
        why = f"{tasks}: {doubts[judged[0].gate.task]}; allowed because {thresholds.allowed[FIRST_WORD]}"
        return [idle(Gate(task="model", metric=FIRST_WORD), why), *made]
    remedy = f"; [checks] in {thresholds.file.name} can allow it as {FIRST_WORD}"
    return [
        replace(one, outcome="inconclusive", why=doubts[one.gate.task] + remedy, step=None, p=None)
        if one in judged
        else one
        for one in made
    ]


def tasks_without_scores(neither: Mapping[str, tuple[int, int]], thresholds: Thresholds) -> frozenset[str]:
    return frozenset() if FIRST_WORD in thresholds.allowed else frozenset(_doubts(neither))


def _doubts(neither: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    return {task: why for task, (weak, scored) in neither.items() if (why := first_word_doubt(weak, scored))}


def first_word_doubt(weak: int, scored: int) -> str:
    """Why the scores of a task mean nothing; empty if they do, or if there are none.

    >>> first_word_doubt(40, 80), first_word_doubt(41, 80).partition(",")[0]
    ('', 'in 41 of 80 replies yes and no together have less than half of the probability of the first word')
    """
    if 2 * weak <= scored:
        return ""
    said = "yes and no together have less than half of the probability of the first word"
    remedy = "a service can be asked with ?logprobs=0"
    return f"in {weak:,} of {scored:,} replies {said}, so the probability of yes tells nothing; {remedy}"


def _decided(gate: Gate, task: Judged, ties: Ties) -> Decision:
    decision = decide(gate, task.coverage, task.at(gate), ties)
    if gate.metric in CONTROLLED:
        decision = _doubted(decision, CONTROLLED[gate.metric], task)
    elif decision.outcome == "pass" and task.columns is not None:
        # it is inconclusive if cases without an answer could change that
        most = at_most(task.columns, gate.metric, gate.confidence)
        if most is not None and decide(gate, task.coverage, {gate.metric: most}, ties).outcome != "pass":
            could = figure(most.value, gate.min)
            why = f"{decision.why}, but it could be {could} if the cases without an answer counted as well"
            decision = replace(decision, outcome="inconclusive", why=f"{why}: replies that could not be read, and ties")
    if decision.outcome != "fail" or not decision.tested or task.columns is None:
        return decision
    if gate.metric in CONTROLLED:
        return replace(decision, p=tail(gate, lambda c: task.at(replace(gate, confidence=c))[gate.metric]))
    return replace(decision, p=tail(gate, at_confidence(task.columns, gate.metric)))


def _doubted(decision: Decision, control: str, task: Judged) -> Decision:
    lacking = task.lacking.get(control)
    if decision.metric is None and lacking:
        why = f"the control {control} has no {decision.gate.metric} of this task, because {lacking}"
        return replace(decision, why=f"{why}; correct the model, and ask again", step=None)
    doubt = task.controls[control].doubt if control in task.controls else ""
    if decision.metric is None and doubt:
        why = f"the control {control} has no {decision.gate.metric} of this task: {doubt}"
        return replace(decision, why=why, step=None)
    doubt = f"not all of the control {control} was asked: {lacking}" if lacking else doubt
    if decision.outcome == "pass" and doubt:
        return replace(decision, outcome="inconclusive", why=f"{decision.why}, but {doubt}")
    return decision
