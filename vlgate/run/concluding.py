"""The end of a run, or of one part: compute the figures, compare with the text-only model, decide the gates."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from vlgate import __version__
from vlgate.asking.predictor import score
from vlgate.audit.blind_baseline import probe
from vlgate.audit.flaws import Flaw, examine, true_texts
from vlgate.audit.near_copies import copied, near_copies
from vlgate.errors import OptionError
from vlgate.gates.decide import decide_all
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.judging.verdicts import judge
from vlgate.record.comparison import FinishedRun, compare, refuse_unlike
from vlgate.record.digests import digests
from vlgate.record.judging_again import ABOUT_REPLIES
from vlgate.record.options import Options, Shard, meant_folder
from vlgate.record.parquet import case_table
from vlgate.record.results import NOT_JUDGED, RunResult, TaskResult, averages, judged_tasks_of, task_metrics
from vlgate.record.run_gates import JudgedRun, decide_run, refuse_blunt, unjudged_gates
from vlgate.run.loading import blind_predictor
from vlgate.run.planning import Plan, sample
from vlgate.sources.registry import shapes
from vlgate.types import Batch, Task, Verdict

BLIND_CASES = 20_000  # per task: the blind figure is then within 0.007 of that of all cases, 19 times in 20
EXAMINED_CASES = 20_000  # in all tasks: with more, the text-only probes would take longer than a quick model
PROBED_CASES = 5_000  # per task: a probe's share is then within 0.014 of that of all cases, 19 times in 20
_NAMED = 3  # copies in a message
_USUAL = Gate(task="", metric="").min_cases
UNEXAMINED = (
    "the tasks were not examined for flaws and text-only shortcuts, because they have more than "
    f"{EXAMINED_CASES:,} cases; examine them with --health=on"
)


def refuse_gates(tasks: Sequence[Task], thresholds: Thresholds, options: Options, earlier: FinishedRun | None) -> None:
    cases = {task.id: (task.shape, len(task.cases)) for task in tasks}
    refuse_blunt(thresholds, cases, quick=options.quick)
    if earlier is not None:
        refuse_unlike(earlier, tasks, options.ties)


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
    figures = tuple(without_copies(figure, thresholds) for figure in figures)
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
    unexamined = UNEXAMINED if figures and results is figures and options.health == "auto" else ""
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
    right: dict[str, dict[str, bool | None]] = {task.id: {} for task in tasks}
    held = {} if thresholds.must_hold is None else thresholds.must_hold.cases
    for result in run.results:
        rows, wanted = verdicts_of(result.verdicts), frozenset(held.get(result.task.id, ()))
        for case, state, is_right in zip(rows.cases, rows.states, rows.right, strict=True) if wanted else ():
            if case.id in wanted:
                right[result.task.id][case.id] = bool(is_right) if state == "judged" else None
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


def flaws_of(tasks: Sequence[Task]) -> dict[str, tuple[Flaw, ...]]:
    copies = near_copies(tasks)
    known = {
        name: true_texts(task for task in tasks if task.benchmark == name)
        for name in {task.benchmark for task in tasks}
    }
    by_task = {task.id: (*examine(task, known[task.benchmark]), copies.get(task.id)) for task in tasks}
    return {name: tuple(flaw for flaw in flaws if flaw is not None) for name, flaws in by_task.items()}


def examined(results: tuple[TaskResult, ...], options: Options) -> tuple[TaskResult, ...]:
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
    # Flaws and the comparison with a baseline are left to the run that joins the parts
    plain = replace(options, health="off", require_gates=False)
    figures = conclude(tasks, verdicts, thresholds, plain)
    gates = [decision.gate for decision in figures.decisions if decision.gate.metric not in _ABOUT_THE_WHOLE]
    why = f"{shard}, of which {NOT_JUDGED}"
    decisions = tuple(Decision(gate=gate, outcome="not run", why=why) for gate in gates)
    return replace(figures, decisions=decisions, error_rates=None, part=shard)


def lacks_of_part(plan: Plan, asked: Collection[str], decisions: Sequence[Decision]) -> list[str]:
    sizes = {name: len(batch.positions) for name, batch in plan.batches.items()}
    left = sum(size for name, size in sizes.items() if name not in asked)
    reasons = [f"{decision.gate.id}: {decision.why}" for decision in decisions if decision.gate.metric in ABOUT_REPLIES]
    if left:
        remedy = "select tasks with --suite instead"
        reasons.append(f"{left:,} of the {sum(sizes.values()):,} cases of the part were deselected; {remedy}")
    return reasons
