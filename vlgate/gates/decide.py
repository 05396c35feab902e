"""From metrics to decisions: does a model pass the gate of a task?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil

from vlgate.gates.records import Decision, Gate, Outcome
from vlgate.gates.tails import exact, near_an_end
from vlgate.metrics.names import CONTROLLED, PARTIAL
from vlgate.metrics.paired import POWER, cases_for_bound
from vlgate.metrics.stats import worth
from vlgate.types import Metric, Ties

NO_TASK = "none of its tasks is in this run"
"""Why a rule that matches no task of a run is not run."""

_TIES = {
    "strict": "",
    "half": "; an exact tie counts 1/2 (--ties half)",
    "credit": "; an exact tie counts 1 (--ties credit)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The counts of a task's cases: of the selected ``cases``, these are judged, unscored or skipped.

    ``deselected`` counts the cases of the task that the user's selection (``-k``, a node id) leaves out. ``distinct``
    counts the judged cases with different requests; None means that all of them differ. ``copies`` names those that
    ask what others ask, if they are known by their pixels only. ``disputed`` counts the cases
    that disputes left out, ``corrected`` those with truths that disputes changed, ``unread`` the judged cases with an
    answer that names none of the choices, or several. ``unreadable`` counts the records of the benchmark that could not
    be read; a gate takes each for a skipped case. ``undrawn`` counts the cases that ``--limit`` and ``--quick`` leave
    out.
    """

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
    so a share fails only if the exact binomial test says so, too; see ``tails``. With basis ``value`` the value alone
    decides. A gate cannot pass if cases are unscored or deselected, if the share of skipped cases, including those lost
    to records that cannot be read, is above ``max_skipped``, if that of disputed ones is above ``max_disputed``, if
    there are fewer than ``min_cases`` different cases, or for an ``auroc`` of statements cases of the rarer truth, if
    the model gives the metric for none of the cases or only for some of them, or if exact ties count as right. A figure
    of a control is about a sample of the cases.

    A known limit fails if the model is better than ``max``: if even the lower end of the interval is above it.
    Otherwise the outcome is ``cannot``, or inconclusive for the same reasons as that of a gate.

    Args:
        gate: the threshold.
        coverage: the counts of the task's cases.
        metrics: the task's metrics by name, with intervals of the gate's confidence.
        ties: what an exact tie of two scores counts.

    Returns: the decision with its reason.
    """
    metric = metrics.get(gate.metric)
    if metric is None:
        return _decision(gate, "inconclusive", None, _without(gate, coverage) + _disputed(coverage))
    outcome, why = _compared(gate, metric)
    why += _TIES[ties] + ("" if outcome == "pass" else _unread(coverage))
    doubt = _doubt(gate, coverage, metric)
    if doubt is None and ties == "credit" and outcome == "pass":
        doubt = f"{why}, so no gate can pass; use --ties strict or half"
    if doubt is not None and (outcome != "fail" or coverage.deselected):
        return _decision(gate, "inconclusive", metric, doubt + _disputed(coverage))
    return _decision(gate, outcome, metric, why + _disputed(coverage))


def _unread(coverage: Coverage) -> str:
    """How many answers could not be read: a likelier cause of a miss than what the task asks about."""
    if not coverage.unread:
        return ""
    if coverage.unread == coverage.judged:
        return "; no case has answers that could all be read: see the answers in summary.md"
    return f"; {coverage.unread:,} of {coverage.judged:,} cases have an answer that could not be read: see summary.md"


def _disputed(coverage: Coverage) -> str:
    """How many cases of a task are disputed, which no decision may hide."""
    parts = ((coverage.disputed, "left out"), (coverage.corrected, "corrected"))
    said = [f"with {number:,} disputed case{'s' if number > 1 else ''} {what}" for number, what in parts if number]
    return "".join(f"; {one}" for one in said)


def idle(rule: Gate, why: str = NO_TASK) -> Decision:
    """Return the decision of a rule that does not apply to the run, with the reason."""
    return Decision(gate=rule, outcome="not run", why=why)


def _without(gate: Gate, coverage: Coverage) -> str:
    if gate.metric in CONTROLLED:
        control = CONTROLLED[gate.metric]
        return f"the control {control} has no {gate.metric} of this task; ask it with --controls {control}"
    if coverage.judged:
        return f"the model has no {gate.metric}, because it does not say yes or no"
    counts = f"{coverage.unscored} unscored, {coverage.skipped} skipped, {coverage.deselected} deselected"
    return f"none of {coverage.cases + coverage.deselected} cases was judged ({counts})"


def _doubt(gate: Gate, coverage: Coverage, metric: Metric) -> str | None:
    """Why the cases of a task do not allow a decision, whatever the metric is; None if they do."""
    if coverage.deselected:
        return f"{coverage.deselected} of the task's {coverage.cases + coverage.deselected} cases were deselected"
    if coverage.unscored:
        return f"{coverage.unscored} of {coverage.cases} cases are unscored"
    if metric.n < coverage.judged and gate.metric not in CONTROLLED and gate.metric not in PARTIAL:
        return f"the model gives {gate.metric} for only {metric.n} of {coverage.judged} judged cases"
    lost, cases = coverage.skipped + coverage.unreadable, coverage.cases + coverage.unreadable
    if lost and lost / cases > gate.max_skipped:  # a product would be rounded: 0.29 * 100 is below 29
        how = "skipped" if not coverage.unreadable else "skipped or lost to records that cannot be read"
        return f"{lost} of {cases} cases are {how}, more than max_skipped = {gate.max_skipped:g}"
    return too_disputed(gate, coverage) or too_few(gate, coverage, metric.n, metric.rarer)


def too_disputed(gate: Gate, coverage: Coverage) -> str | None:
    """Return why a gate decides nothing: disputes left out or corrected too many cases; None if they did not."""
    disputed = coverage.disputed + coverage.corrected
    cases = coverage.cases + coverage.deselected + coverage.undrawn + coverage.unreadable + coverage.disputed
    if not disputed or disputed / cases <= gate.max_disputed:
        return None
    return f"{disputed:,} of {cases:,} cases are disputed, more than max_disputed = {gate.max_disputed:g}"


def too_few(gate: Gate, coverage: Coverage, n: int, rarer: int | None = None) -> str | None:
    """Return why ``n`` cases, of which ``rarer`` have the rarer truth, are too few for a gate; None if they are not."""
    if n < gate.min_cases:
        there = "is only 1 case" if n == 1 else f"are only {n} cases"
        return f"there {there}, fewer than min_cases = {gate.min_cases}"
    if coverage.distinct is not None and coverage.distinct < gate.min_cases:
        copies = f": {coverage.copies}" if coverage.copies else ""
        counted = f"only {coverage.distinct} of {n} cases have different requests"
        return f"{counted}, fewer than min_cases = {gate.min_cases}{copies}"
    if rarer is not None and rarer < gate.min_cases:
        return f"only {rarer} of {n} cases have the rarer truth, fewer than min_cases = {gate.min_cases}"
    return None


def _compared(gate: Gate, metric: Metric) -> tuple[Outcome, str]:
    point = gate.basis == "value"
    low, high = (metric.value, metric.value) if point else (metric.low, metric.high)
    said = f"{gate.metric} is {metric.value:.4f}"
    said += "" if point else f" ({100 * gate.confidence:g} % interval {metric.low:.4f} to {metric.high:.4f})"
    chance = 0.0 if point or not near_an_end(gate, metric) else exact(gate, metric)
    by_chance = f"; but p = {chance:.2g} by the exact binomial test" if chance > (1 - gate.confidence) / 2 else ""
    if gate.kind == "limit":
        return _limited(said, low, 1.0 if gate.max is None else gate.max, by_chance)
    lowest = -1.0 if gate.metric in CONTROLLED else 0.0  # a difference may be negative
    least, most = lowest if gate.min is None else gate.min, 1.0 if gate.max is None else gate.max
    for beyond, side in ((high < least, f"below min = {least:g}"), (low > most, f"above max = {most:g}")):
        if beyond and by_chance:
            return "inconclusive", f"{said}, {side}{by_chance}, so a decision needs more cases"
        if beyond:
            return "fail", f"{said}, {side}"
    inside = {"min": least} if low < least else {}
    inside |= {"max": most} if high > most else {}
    if inside:
        held = " and ".join(f"{name} = {bound:g}" for name, bound in inside.items())
        sampled = gate.metric in CONTROLLED
        needs = ": raise --controls-limit" if sampled else _more_cases(gate, metric, inside.values())
        return (
            "inconclusive",
            f"{said}: the interval contains {held}; a decision needs more cases{needs}{_alike(gate, metric)}",
        )
    bounds = [f"{name} = {bound:g}" for name, bound in (("min", gate.min), ("max", gate.max)) if bound is not None]
    return "pass", f"{said}, within {' and '.join(bounds)}"


def _alike(gate: Gate, metric: Metric) -> str:
    """How many independent cases those of a metric are worth, if that is fewer than a gate needs."""
    worth_of = metric.n / metric.deff
    if worth_of >= gate.min_cases or metric.deff <= 1.0:
        return ""
    return f"; as they share images or classes, the {metric.n:,} cases are worth about {max(1, round(worth_of)):,}"


def _more_cases(gate: Gate, metric: Metric, bounds: Collection[float]) -> str:
    """How many more cases decide with ``POWER``, if the metric stays as it is and cases repeat images as often."""
    needed = [cases_for_bound(metric.value, bound, gate.confidence) for bound in bounds]
    if None in needed:
        return ", but none decides if the metric stays on the threshold"
    independent = max(number for number in needed if number is not None)
    more = independent * metric.n / worth(metric, gate.confidence) - metric.n
    return f": about {_rounded_up(more):,} more decide with {POWER:.0%} power if the metric stays as it is"


def _rounded_up(number: float) -> int:
    """Round up to two digits.

    >>> _rounded_up(131.5), _rounded_up(3.2)
    (140, 4)
    """
    step: int = 10 ** max(0, len(str(ceil(number))) - 2)
    return max(1, ceil(number / step)) * step


def _limited(said: str, low: float, most: float, by_chance: str) -> tuple[Outcome, str]:
    if low > most and by_chance:
        return "cannot", f"{said}, above the known limit max = {most:g}{by_chance}"
    if low > most:
        return "fail", f"{said}, better than the known limit max = {most:g}; raise the limit, or make it a gate"
    return "cannot", f"{said}, not above the known limit max = {most:g}"


def _decision(gate: Gate, outcome: Outcome, metric: Metric | None, why: str) -> Decision:
    return Decision(gate=gate, outcome=outcome, why=why, metric=metric)
