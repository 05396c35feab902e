"""The end of a run: compute the figures, compare them with the text-only model, and decide the gates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from vlgate import __version__
from vlgate.comparing.cases import judged_cases
from vlgate.comparing.changes import change_decisions
from vlgate.comparing.earlier import EarlierRun
from vlgate.comparing.pairing import LaterRun, compare
from vlgate.gates.correcting import corrected
from vlgate.gates.deciding import tasks_without_scores, without_scores
from vlgate.gates.error_rates import error_rates
from vlgate.gates.must_hold import must_hold_decision
from vlgate.gates.records import Decision
from vlgate.gates.thresholds import Thresholds
from vlgate.inference.predictor import score
from vlgate.judging.judged import verdicts_of
from vlgate.judging.verdicts import judge
from vlgate.run.examining import UNEXAMINED, examined, without_copies
from vlgate.run.held import required, unjudged_gates
from vlgate.run.loading import blind_predictor
from vlgate.run.options import FIRST, Options, meant_folder
from vlgate.run.planning import sample
from vlgate.run.quick import without_passes
from vlgate.run.results import RunResult, TaskResult, averages, decisions, tabulate
from vlgate.run.verdict import digests
from vlgate.sources.registry import shapes
from vlgate.types import Batch, Task, Verdict

BLIND_CASES = 20_000  # per task: the blind figure is then within 0.007 of that of all cases, 19 times in 20


def conclude(
    tasks: Sequence[Task],
    verdicts: Mapping[str, Sequence[Verdict]],
    thresholds: Thresholds,
    options: Options,
    objections: Sequence[Decision] = (),
    earlier: EarlierRun | None = None,
) -> RunResult:
    """Compute the figures of all tasks that have verdicts, and decide the gates.

    Args:
        tasks: the tasks of the plan.
        verdicts: the verdicts of the selected cases, by task id, in the task's order; a task without verdicts has no
            figures, and its gates are inconclusive.
        thresholds: the gates.
        options: the options of the run.
        objections: decisions against the run as a whole, which come before the gates.
        earlier: the run to compare with.

    Returns: the result of the run.
    """
    asked = [task for task in tasks if verdicts.get(task.id)]
    blind = _blind(asked, verdicts, options)
    figures = tuple(tabulate(task, verdicts[task.id], blind[task.id], options.protocols) for task in asked)
    figures = tuple(without_copies(one, thresholds) for one in figures)
    results = examined(figures, options)
    comparison = None if earlier is None else compare(earlier, _later(results, options, _partial(tasks, verdicts)))
    unexamined = UNEXAMINED if results is figures and options.health == "auto" else ""
    rows, gaps = averages(results, shapes(options.data))
    run = RunResult(
        results=results,
        decisions=(),
        notes=tuple(filter(None, (unexamined, meant_folder(options)))),
        averages=rows,
        gaps=gaps,
        comparison=comparison,
        digests=digests(thresholds, tasks, verdicts),
        unasked=tuple(task for task in tasks if not verdicts.get(task.id)),
    )
    return decided(run, tasks, thresholds, options, objections)


def decided(
    run: RunResult,
    tasks: Sequence[Task],
    thresholds: Thresholds,
    options: Options,
    objections: Sequence[Decision] = (),
) -> RunResult:
    """Decide the gates of a run from its figures, and from what its controls found.

    The arguments are those of ``conclude``; ``run`` has the figures, and its decisions are replaced.
    """
    verdicts = {task.id: () for task in tasks} | {result.task.id: result.verdicts for result in run.results}
    made = decisions(thresholds, run.results, tasks, options.ties, options.model, run.controls)
    left_out = {task.id: len(task.cases) - len(verdicts.get(task.id, ())) for task in tasks}
    coverages = {result.task.id: result.coverage for result in run.results}
    kinds, first = {task.id: task.shape for task in tasks}, options.baseline == FIRST
    changes = change_decisions(thresholds, run.comparison, kinds, left_out, coverages, first=first)
    neither = {result.task.id: result.neither for result in run.results}
    right = _right(verdicts, tasks_without_scores(neither, thresholds))
    whole_run = options.require_gates and not options.suite
    held = [] if thresholds.must_hold is None else [must_hold_decision(thresholds.must_hold, right, whole=whole_run)]
    made = corrected((*held, *without_scores((*made, *changes), neither, thresholds)), thresholds.fail_correction)
    made = without_passes(made) if options.quick else made
    counts = {task.id: (len(verdicts.get(task.id, ())), len(task.cases)) for task in tasks}
    known = shapes(options.data)
    whole = [*required(thresholds, counts, options, known), *unjudged_gates(made, thresholds, options)]
    return replace(
        run,
        decisions=(*objections, *whole, *made),
        error_rates=error_rates(made, thresholds.fail_correction),
    )


def unjudged(thresholds: Thresholds, options: Options) -> RunResult:
    """Return the result of a session that only searched, without figures: every gate is listed as not run."""
    made = decisions(thresholds, ())
    return RunResult(results=(), decisions=(*unjudged_gates(made, thresholds, options, searched=True), *made))


def _partial(tasks: Sequence[Task], verdicts: Mapping[str, Sequence[Verdict]]) -> frozenset[str]:
    """The tasks that are asked only in part, because cases were deselected."""
    return frozenset(task.id for task in tasks if len(verdicts.get(task.id, ())) < len(task.cases))


def _later(results: Sequence[TaskResult], options: Options, partial: frozenset[str]) -> LaterRun:
    return LaterRun(
        name=options.model,
        fingerprint="",
        seed=options.seed,
        ties=options.ties,
        version=__version__,
        tasks={result.task.id: judged_cases(result.verdicts) for result in results},
        shapes={result.task.id: result.task.shape for result in results},
        partial=partial,
    )


def _right(
    verdicts: Mapping[str, Sequence[Verdict]], doubted: Collection[str] = ()
) -> dict[str, dict[str, bool | None]]:
    """Whether each case is right, None if it is not judged, or of a task whose scores mean nothing."""
    return {
        task: {one.case.id: one.right if one.state == "judged" and task not in doubted else None for one in said}
        for task, said in verdicts.items()
    }


def _blind(
    tasks: Sequence[Task], verdicts: Mapping[str, Sequence[Verdict]], options: Options
) -> dict[str, Sequence[Verdict]]:
    """The text-only model's verdicts of the judged cases, or of a seeded sample of them if there are very many."""
    judged = {task.id: verdicts_of(verdicts[task.id]).judged.cases for task in tasks}
    reduced = [
        sample(replace(task, cases=tuple(judged[task.id])), BLIND_CASES, f"{options.seed}:blind:{task.id}")
        for task in tasks
    ]
    predictor = blind_predictor(options, reduced)
    batches = [Batch(task=task, positions=tuple(range(len(task.cases))), ties=options.ties) for task in reduced]
    return {batch.task.id: judge(batch, score(predictor, batch)) for batch in batches}
