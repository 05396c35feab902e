"""The health of the data of a run: the flaws of its tasks, and what rules that see the texts only reach on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from vlgate.audit.blind_baseline import probe
from vlgate.audit.flaws import Flaw, examine, true_texts
from vlgate.audit.near_copies import copied, near_copies
from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.record.options import Options
from vlgate.record.results import TaskResult
from vlgate.types import Task

EXAMINED_CASES = 20_000  # in all tasks: with more, the text-only probes would take longer than a quick model
PROBED_CASES = 5_000  # per task: a probe's share is then within 0.014 of that of all cases, 19 times in 20
_NAMED = 3  # copies in a message
_USUAL = Gate(task="", metric="").min_cases
UNEXAMINED = (
    "the tasks were not examined for flaws and text-only shortcuts, because they have more than "
    f"{EXAMINED_CASES:,} cases; examine them with --health=on"
)


def flaws_of(tasks: Sequence[Task]) -> dict[str, tuple[Flaw, ...]]:
    """Return the flaws of tasks by id: those within a task, those between tasks of a benchmark, and near-copies."""
    copies = near_copies(tasks)
    known = {
        name: true_texts(task for task in tasks if task.benchmark == name)
        for name in {task.benchmark for task in tasks}
    }
    by_task = {task.id: (*examine(task, known[task.benchmark]), copies.get(task.id)) for task in tasks}
    return {name: tuple(flaw for flaw in flaws if flaw is not None) for name, flaws in by_task.items()}


def examined(results: tuple[TaskResult, ...], options: Options) -> tuple[TaskResult, ...]:
    """Return the results with the flaws and shortcuts of their tasks, unless that is off or would take long."""
    # Texts of cases that are asked with their images together name positions
    cases = sum(result.coverage.cases for result in results)
    if options.health == "off" or (options.health == "auto" and cases > EXAMINED_CASES):
        return results
    flaws = flaws_of([result.task for result in results if not result.task.together])
    return tuple(
        result
        if result.task.together
        else replace(result, flaws=flaws[result.task.id], probes=probe(result.task, PROBED_CASES))
        for result in results
    )


def without_copies(result: TaskResult, thresholds: Thresholds) -> TaskResult:
    """Return the result of a task whose coverage counts copies of a case once, if a gate may need to know."""
    # The pixels of as many cases as the largest min_cases are compared, at least that of a gate that names none,
    # because other gates may be decided from the files of the run
    rules = [rule for rule in (*thresholds.rules, *thresholds.changes) if fnmatchcase(result.task.id, rule.task)]
    cases = verdicts_of(result.verdicts).judged.cases
    copies = copied(cases, max([_USUAL, *(rule.min_cases for rule in rules)]))
    if not copies:
        return result
    named = ", ".join(copies[:_NAMED]) + (f" and {len(copies) - _NAMED:,} more" if len(copies) > _NAMED else "")
    why = f"{named} ask what other cases ask, of images that look the same"
    return replace(result, coverage=replace(result.coverage, distinct=len(cases) - len(copies), copies=why))
