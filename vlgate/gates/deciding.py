"""Decide every gate of a thresholds file, from the figures of tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vlgate.gates.allowed import FIRST_WORD
from vlgate.gates.decide import Coverage, decide, idle
from vlgate.gates.expanding import expand
from vlgate.gates.records import Decision, Gate
from vlgate.gates.tails import tail
from vlgate.gates.thresholds import Thresholds
from vlgate.metrics.compute import Columns, at_confidence, at_most, metrics
from vlgate.metrics.controlled import ControlledTask
from vlgate.metrics.names import CONTROLLED
from vlgate.types import Metric, Shape, Ties

CONFIDENCE = 0.95
"""The confidence of the intervals of ``Judged.metrics``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the gates of a task are decided from: its shape, the counts of its cases, and the judged ones.

    ``columns`` is None if none of its cases was selected. ``metrics`` have intervals of 95 %; those of another
    confidence are computed from the columns. ``controls`` holds what each control measured, by the control's name, and
    ``lacking`` why a control was not asked to its end.
    """

    shape: Shape
    coverage: Coverage
    columns: Columns | None = field(default=None, repr=False)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    controls: Mapping[str, ControlledTask] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    def at(self, gate: Gate) -> Mapping[str, Metric]:
        """Return the metrics, or the figures of the control that a gate is about, with intervals of its confidence."""
        if gate.metric in CONTROLLED:
            control = self.controls.get(CONTROLLED[gate.metric])
            return {} if control is None else control.metrics(gate.confidence)
        if gate.confidence == CONFIDENCE or self.columns is None:
            return self.metrics
        return metrics(self.columns, confidence=gate.confidence)


def decide_all(
    thresholds: Thresholds, tasks: Mapping[str, Judged], ties: Ties = "strict", model: str = ""
) -> tuple[Decision, ...]:
    """Decide every gate and every known limit of a thresholds file.

    Args:
        thresholds: the gates.
        tasks: all tasks of the plan, by id. A gate of one that was not asked is inconclusive, because all of its cases
            were deselected.
        ties: what an exact tie of two scores counts.
        model: what ``--model`` names; a known limit of another model is not run.

    Returns: the decisions; a rule that matches no task of the plan is listed as not run.
    """
    gates, rules = expand(thresholds, {name: task.shape for name, task in tasks.items()}, model)
    made = [_decided(gate, tasks[gate.task], ties) for gate in gates]
    return (*made, *(idle(rule, why) for rule, why in rules))


def without_scores(
    made: Sequence[Decision], neither: Mapping[str, tuple[int, int]], thresholds: Thresholds
) -> list[Decision]:
    """Return decisions in which no gate of a task whose scores mean nothing passes, fails, or is a known limit.

    Args:
        made: the decisions.
        neither: in how many of the scored replies of each task yes and no together have less than half of the
            probability of the first word, and of how many.
        thresholds: the thresholds file; if it allows the check ``first_word``, a line says so, and nothing changes.
    """
    doubts = _doubts(neither)
    judged = [one for one in made if one.gate.task in doubts and one.outcome != "not run"]
    if FIRST_WORD in thresholds.allowed:
        tasks = ", ".join(dict.fromkeys(one.gate.task for one in judged))
        why = (
            f"{tasks}: {doubts[judged[0].gate.task]}; allowed because {thresholds.allowed[FIRST_WORD]}"
            if judged
            else ""
        )
        about = Gate(task="model", metric=FIRST_WORD)
        return [*([Decision(gate=about, outcome="not run", why=why)] if judged else []), *made]
    remedy = f"; [checks] in {thresholds.file.name} can allow it as {FIRST_WORD}"
    return [
        replace(one, outcome="inconclusive", why=doubts[one.gate.task] + remedy, p=None) if one in judged else one
        for one in made
    ]


def tasks_without_scores(neither: Mapping[str, tuple[int, int]], thresholds: Thresholds) -> frozenset[str]:
    """Return the tasks whose scores mean nothing, unless the thresholds file allows that; see ``without_scores``."""
    return frozenset() if FIRST_WORD in thresholds.allowed else frozenset(_doubts(neither))


def _doubts(neither: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    return {task: why for task, (weak, scored) in neither.items() if (why := first_word_doubt(weak, scored))}


def first_word_doubt(weak: int, scored: int) -> str:
    """Return why the scores of a task mean nothing; empty if they do, or if there are none.

    >>> first_word_doubt(40, 80), first_word_doubt(41, 80).partition(",")[0]
    ('', 'in 41 of 80 replies yes and no together have less than half of the probability of the first word')
    """
    if 2 * weak <= scored:
        return ""
    said = "yes and no together have less than half of the probability of the first word"
    remedy = "a service can be asked with ?logprobs=0"
    return f"in {weak:,} of {scored:,} replies {said}, so the probability of yes tells nothing; {remedy}"


def _decided(gate: Gate, task: Judged, ties: Ties) -> Decision:
    """The decision of one gate; one that fails on an interval has its p-value."""
    found = decide(gate, task.coverage, task.at(gate), ties)
    if gate.metric in CONTROLLED:
        found = _doubted(found, CONTROLLED[gate.metric], task)
    elif found.outcome == "pass" and task.columns is not None:
        found = _refused(found, task, task.columns, ties)
    if found.outcome != "fail" or not found.tested or task.columns is None:
        return found
    return replace(found, p=tail(gate, _at_confidence(gate, task, task.columns)))


def _refused(found: Decision, task: Judged, cases: Columns, ties: Ties) -> Decision:
    """The decision of a gate that passes; it is inconclusive if cases without an answer could change that."""
    gate = found.gate
    most = at_most(cases, gate.metric, gate.confidence)
    if most is None or decide(gate, task.coverage, {gate.metric: most}, ties).outcome == "pass":
        return found
    why = f"{found.why}, but it could be {most.value:.4f} if the cases without an answer counted as well"
    return replace(found, outcome="inconclusive", why=f"{why}: replies that could not be read, and ties")


def _doubted(found: Decision, control: str, task: Judged) -> Decision:
    """The decision of a gate on a control; a pass without all of it, or on figures without meaning, is inconclusive."""
    lacking = task.lacking.get(control)
    if found.metric is None and lacking:
        why = f"the control {control} has no {found.gate.metric} of this task, because {lacking}"
        return replace(found, why=f"{why}; correct the model, and ask again")
    doubt = task.controls[control].doubt if control in task.controls else ""
    if found.metric is None and doubt:
        return replace(found, why=f"the control {control} has no {found.gate.metric} of this task: {doubt}")
    doubt = f"not all of the control {control} was asked: {lacking}" if lacking else doubt
    if found.outcome == "pass" and doubt:
        return replace(found, outcome="inconclusive", why=f"{found.why}, but {doubt}")
    return found


def _at_confidence(gate: Gate, task: Judged, cases: Columns) -> Callable[[float], Metric]:
    """A function that gives what a gate judges, with its interval of any confidence."""
    if gate.metric in CONTROLLED:
        return lambda confidence: task.at(replace(gate, confidence=confidence))[gate.metric]
    return at_confidence(cases, gate.metric)
