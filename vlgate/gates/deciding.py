"""Decide every gate of a thresholds file, from the figures of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vlgate.gates.decide import Coverage, decide, idle
from vlgate.gates.expanding import expand
from vlgate.gates.records import Decision, Gate
from vlgate.gates.tails import tail
from vlgate.gates.thresholds import Thresholds
from vlgate.metrics.compute import Columns, at_confidence, metrics
from vlgate.types import Metric, Shape, Ties

CONFIDENCE = 0.95
"""The confidence of the intervals of ``Judged.metrics``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the gates of a task are decided from: its shape, the counts of its cases, and the judged ones.

    ``columns`` is None if none of its cases was selected. ``metrics`` have intervals of 95 %; those of another
    confidence are computed from the columns.
    """

    shape: Shape
    coverage: Coverage
    columns: Columns | None = field(default=None, repr=False)
    metrics: Mapping[str, Metric] = field(default_factory=dict)

    def at(self, gate: Gate) -> Mapping[str, Metric]:
        """Return the metrics with intervals of a gate's confidence."""
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


def _decided(gate: Gate, task: Judged, ties: Ties) -> Decision:
    """The decision of one gate; one that fails on an interval has its p-value."""
    found = decide(gate, task.coverage, task.at(gate), ties)
    if found.outcome != "fail" or not found.tested or task.columns is None:
        return found
    return replace(found, p=tail(gate, at_confidence(task.columns, gate.metric)))
