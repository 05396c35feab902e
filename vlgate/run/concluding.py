"""The end of a run, or of one part: compute the figures, compare with the text-only model, decide the gates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from vlgate import __version__
from vlgate.asking.predictor import score
from vlgate.errors import OptionError
from vlgate.gates.decide import decide_all
from vlgate.gates.records import Decision
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.judging.verdicts import judge
from vlgate.record.comparison import FinishedRun, compare
from vlgate.record.digests import digests
from vlgate.record.judging_again import ABOUT_REPLIES
from vlgate.record.options import Options, Shard, meant_folder
from vlgate.record.parquet import case_table
from vlgate.record.results import NOT_JUDGED, RunResult, averages, judged_tasks_of, task_metrics
from vlgate.record.run_gates import JudgedRun, decide_run, unjudged_gates
from vlgate.run.examining import UNEXAMINED, examined, without_copies
from vlgate.run.loading import blind_predictor
from vlgate.run.planning import Plan, sample
from vlgate.sources.registry import shapes
from vlgate.types import Batch, Task, Verdict

BLIND_CASES = 20_000  # per task: the blind figure is then within 0.007 of that of all cases, 19 times in 20


def conclude(
    tasks: Sequence[Task],
    verdicts: Mapping[str, Sequence[Verdict]],
    thresholds: Thresholds,
    options: Options,
    integrity_failures: Sequence[Decision] = (),
    earlier: FinishedRun | None = None,
) -> RunResult:
    asked = [task for task in tasks if verdicts.get(task.id)]
    blind = _blind(asked, verdicts, options)
    figures = tuple(task_metrics(task, verdicts[task.id], blind[task.id], options.protocols) for task in asked)
    figures = tuple(without_copies(one, thresholds) for one in figures)
    results = examined(figures, options)
    comparison = None
    if earlier is not None:
        cases = {result.task.id: result.coverage.cases for result in results}
        later = FinishedRun(
            model=options.model,
            seed=options.seed,
            ties=options.ties,
            version=__version__,
            tasks={result.task.id: case_table(result.task, result.verdicts) for result in results},
            partial=frozenset(task.id for task in tasks if cases.get(task.id, 0) < len(task.cases)),
        )
        comparison = compare(earlier, later)
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
    return decided(run, tasks, thresholds, options, integrity_failures)


def decided(
    run: RunResult,
    tasks: Sequence[Task],
    thresholds: Thresholds,
    options: Options,
    integrity_failures: Sequence[Decision] = (),
) -> RunResult:
    """Decide the gates of a run from its figures, and from what its controls found."""
    right: dict[str, dict[str, bool | None]] = {task.id: {} for task in tasks}
    for result in run.results:
        rows = verdicts_of(result.verdicts)
        for case, state, is_right in zip(rows.cases, rows.states, rows.right.tolist(), strict=True):
            right[result.task.id][case.id] = is_right if state == "judged" else None
    judged = JudgedRun(
        tasks=judged_tasks_of(run.results, tasks, run.controls),
        right=right,
        neither={one.task.id: one.neither for one in run.results},
        comparison=run.comparison,
        known=shapes(options.data),
    )
    made, rates = decide_run(judged, thresholds, options)
    return replace(run, decisions=(*integrity_failures, *made), error_rates=rates)


def unjudged(thresholds: Thresholds, options: Options) -> RunResult:
    """Return the result of a session that only searched, without figures: every gate is listed as not run."""
    made = decide_all(thresholds, {})
    return RunResult(results=(), decisions=(*unjudged_gates(made, thresholds, options, searched=True), *made))


def _blind(
    tasks: Sequence[Task], verdicts: Mapping[str, Sequence[Verdict]], options: Options
) -> dict[str, Sequence[Verdict]]:
    judged = {task.id: verdicts_of(verdicts[task.id]).judged.cases for task in tasks}
    reduced = [
        sample(replace(task, cases=tuple(judged[task.id])), BLIND_CASES, f"{options.seed}:blind:{task.id}")
        for task in tasks
    ]
    predictor = blind_predictor(options, reduced)
    batches = [Batch(task=task, positions=tuple(range(len(task.cases))), ties=options.ties) for task in reduced]
    return {batch.task.id: judge(batch, score(predictor, batch)) for batch in batches}


_ABOUT_THE_WHOLE = frozenset({*ABOUT_REPLIES, "required", "require-gates"})


def refuse_for_a_part(options: Options, *, searches: bool) -> None:
    why = ""
    if options.explain:
        why = "--explain explains the worst missed cases of a whole run, which a part does not know"
    elif options.controls and options.controls_named:
        why = "--controls asks about a sample of the whole run, and a part has some of its cases only"
    elif searches:
        why = "-m shrink searches a sample of the whole run"
    if options.shard is not None and why:
        raise OptionError(f"--shard={options.shard.number}/{options.shard.of}: {why}; leave one of the two out")


def conclude_part(
    tasks: Sequence[Task],
    verdicts: Mapping[str, Sequence[Verdict]],
    thresholds: Thresholds,
    options: Options,
    shard: Shard,
) -> RunResult:
    """Compute the figures of a part; every gate is listed as not run."""
    # Flaws and the comparison with a baseline are left to the run that joins the parts
    plain = replace(options, health="off", require_gates=False)
    figures = conclude(tasks, verdicts, thresholds, plain)
    gates = [one.gate for one in figures.decisions if one.gate.metric not in _ABOUT_THE_WHOLE]
    why = f"{shard}, of which {NOT_JUDGED}"
    decisions = tuple(Decision(gate=gate, outcome="not run", why=why) for gate in gates)
    return replace(figures, decisions=decisions, error_rates=None, part=shard)


def lacks_of_part(plan: Plan, asked: Collection[str], decisions: Sequence[Decision]) -> list[str]:
    """Return why a part cannot be joined with others, in sentences."""
    sizes = {name: len(batch.positions) for name, batch in plan.batches.items()}
    left = sum(size for name, size in sizes.items() if name not in asked)
    reasons = [f"{one.gate.id}: {one.why}" for one in decisions if one.gate.metric in ABOUT_REPLIES]
    if left:
        remedy = "select tasks with --suite instead"
        reasons.append(f"{left:,} of the {sum(sizes.values()):,} cases of the part were deselected; {remedy}")
    return reasons
