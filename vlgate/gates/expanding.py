"""From the rules of a thresholds file, whose tasks may be patterns, to the gates of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from vlgate.gates.decide import NO_TASK
from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.metrics.names import applies
from vlgate.types import Shape


def expand(
    thresholds: Thresholds, tasks: Mapping[str, Shape], model: str = ""
) -> tuple[list[Gate], list[tuple[Gate, str]]]:
    """Make one gate per rule and task of the run, if the rule matches the task and the task has the rule's metric.

    If several rules match the same task and metric, an exact task id wins over a pattern. Two patterns that match the
    same task and metric are an error in the file, unless a rule names the task by its id.

    Args:
        thresholds: the rules.
        tasks: the shape of each task of the run, by id.
        model: what ``--model`` names, with or without ``?options``.

    Returns: the gates and limits, in the order of the rules and tasks, and the rules that match no task of the run or
        are about another model, each with the reason.
    """
    return _expanded(thresholds.rules, tasks, model.partition("?")[0])


def expand_changes(thresholds: Thresholds, tasks: Mapping[str, Shape]) -> tuple[list[Gate], list[Gate]]:
    """Do as ``expand`` does with the rules that compare with an earlier run.

    Returns: the gates, and the rules that match no task of the run.
    """
    gates, idle = _expanded(thresholds.changes, tasks, "")
    return gates, [rule for rule, _ in idle]


def _expanded(
    rules: Sequence[Gate], tasks: Mapping[str, Shape], name: str
) -> tuple[list[Gate], list[tuple[Gate, str]]]:
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
