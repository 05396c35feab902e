"""From verdicts to the results of a run: each task's coverage, metrics and slices, and the decisions of the gates."""

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vlgate.asking.items import images_of_case
from vlgate.audit.blind_baseline import Probe
from vlgate.audit.flaws import Flaw
from vlgate.audit.label_fixes import disputed
from vlgate.gates.decide import CONFIDENCE, Coverage, Judged
from vlgate.gates.error_rates import ErrorRates
from vlgate.gates.records import Decision
from vlgate.judging.chance import chance
from vlgate.judging.judged import Verdicts, repeated, verdicts_of
from vlgate.judging.normal import normal_answer
from vlgate.metrics.compute import metrics, with_intervals
from vlgate.metrics.macro import Gap, Mean, checklist_gaps, checklist_rows, valse_averages
from vlgate.metrics.measures import GROUPED, Columns
from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.variants import Evidence, measures, names
from vlgate.probes.controls.control import Controlled, of_task
from vlgate.probes.explaining.record import Explained
from vlgate.probes.shrink.record import Shrunk
from vlgate.record.comparison import Comparison
from vlgate.record.digests import Digests
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options, Shard
from vlgate.types import UNREADABLE, Ask, Case, Match, Metric, Task, Verdict, undrawn

NOT_JUDGED = "no gate is judged: vlgate merge joins the parts and judges the gates"
"""What messages say about a part of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    task: Task
    coverage: Coverage
    verdicts: Sequence[Verdict]
    columns: Columns
    metrics: Mapping[str, Metric]
    slices: Mapping[str, Mapping[str, Metric]]
    blind: Mapping[str, Metric]
    chance: Mapping[str, float] = field(default_factory=dict)  # what guessing is expected to reach
    flaws: tuple[Flaw, ...] = ()
    probes: tuple[Probe, ...] = ()
    responses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    images: int = 0
    cut: int = 0  # judged cases with a text that the model did not read to the end
    yes_or_no: bool = False  # scores tie because every reply is 1 or 0

    @property
    def tied(self) -> int:
        return int(np.nansum(self.columns.facts["tied"])) if "tied" in self.columns.facts else 0

    @property
    def neither(self) -> tuple[int, int]:
        """In how many scored replies yes and no have less than half of the first word, and of how many."""
        replies = verdicts_of(self.verdicts).replies
        if not replies.neither:
            return 0, 0
        matched = sum(isinstance(request, Match) for request in replies.requests)
        return len(replies.neither), matched - sum(
            isinstance(replies.requests[problem], Match) for problem in replies.problems
        )

    @property
    def unread(self) -> int:
        return self.coverage.unread


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    results: tuple[TaskResult, ...]
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()
    averages: Mapping[str, Mean] = field(default_factory=dict)
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    shrunk: tuple[Shrunk, ...] = ()
    explained: Explained = field(default_factory=Explained)
    incomplete: str = ""  # what the run lacks
    comparison: Comparison | None = None
    controls: tuple[Controlled, ...] = ()
    error_rates: ErrorRates | None = None
    digests: Digests | None = None
    crashed: bool = False  # a process of the run crashed, or the model could not be loaded
    tests: int = 0  # pytest's exit status if a test that is not a gate fails
    unasked: tuple[Task, ...] = ()  # planned tasks of which every case was deselected
    part: Shard | None = None

    @property
    def unfinished(self) -> str:
        part = "" if self.part is None else f"{self.part}, of which {NOT_JUDGED}"
        return "; ".join(filter(None, [part, self.incomplete]))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    result: RunResult
    card: ModelCard
    options: Options
    tasks: tuple[Task, ...]
    workers: int


def task_metrics(
    task: Task, verdicts: Sequence[Verdict], blind: Sequence[Verdict], variants: Collection[str] = ()
) -> TaskResult:
    table = verdicts_of(verdicts)
    judged = table.judged
    columns = judged.columns(task.shape)
    unread = int((columns.facts["read"] < 1.0).sum()) if "read" in columns.facts else 0
    guessed = chance(task.shape, task.capability, judged.cases) if judged else {}
    return TaskResult(
        task=task,
        coverage=_coverage(task, table, unread),
        verdicts=table,
        columns=columns,
        metrics={**metrics(columns, confidence=CONFIDENCE), **_variants(task, judged, columns, variants)},
        slices=_slices(judged.cases, columns),
        chance=guessed,
        blind=raised(metrics(verdicts_of(blind).columns(task.shape), confidence=CONFIDENCE), guessed) if blind else {},
        responses=_responses(judged) if task.shape == "questions" else {},
        images=len({image.key for case in judged.cases for image in images_of_case(case)}),
        cut=len({judged.cases[judged.row_of(place)].id for place in judged.replies.cut}),
    )


def of_yes_or_no(run: RunResult) -> RunResult:
    matched = {
        result.task.id
        for result in run.results
        if any(isinstance(request, Match) for case in result.task.cases[:1] for request in case.requests)
    }
    return replace(
        run, results=tuple(replace(one, yes_or_no=one.tied > 0 and one.task.id in matched) for one in run.results)
    )


def judged_tasks_of(
    results: Sequence[TaskResult], planned: Sequence[Task] = (), controls: Sequence[Controlled] = ()
) -> dict[str, Judged]:
    none = verdicts_of(())
    tasks = {task.id: Judged(shape=task.shape, coverage=_coverage(task, none)) for task in planned}
    tasks |= {
        result.task.id: Judged(
            shape=result.task.shape,
            coverage=result.coverage,
            columns=result.columns,
            metrics=result.metrics,
            controls=of_task(controls, result.task.id),
            lacking={control.name: control.lacking for control in controls if control.lacking},
        )
        for result in results
    }
    return tasks


def averages(results: Sequence[TaskResult], known: Collection[str]) -> tuple[dict[str, Mean], dict[str, Gap]]:
    values = {r.task.id: {name: metric.value for name, metric in r.metrics.items()} for r in results}
    ranked = {task: value["acc_r"] for task, value in values.items() if "acc_r" in value}
    rows = {f"valse:{metric}": row for metric, row in valse_averages(values, known).items()}
    rows |= {f"{place}:acc_r": row for place, row in checklist_rows(ranked, known).items()}
    return rows, checklist_gaps(ranked)


def _variants(task: Task, judged: Verdicts, columns: Columns, variants: Collection[str]) -> dict[str, Metric]:
    if not judged or task.together or not names(variants, task.id):  # the variants are of cases asked apart
        return {}
    evidence = Evidence(
        scores=columns.scores,
        files=np.array([case.id.partition("/")[0] for case in judged.cases], dtype=str),
        groups=columns.groups,
    )
    if isinstance(judged.cases[0].requests[0], Ask):
        replies = judged.replies.answers or [None] * len(judged.replies.requests)
        truths = np.array([case.truths for case in judged.cases], dtype=object)
        answers = np.array(replies, dtype=object).reshape(truths.shape)
        evidence = replace(evidence, answers=answers, truths=truths)
    given = measures(variants, task.id, evidence)
    return with_intervals(given, columns, CONFIDENCE)


def _responses(judged: Verdicts) -> dict[str, dict[str, float]]:
    # CARETS §6.2, Table 3: shares of first words, over all questions and by type
    first_words: dict[str, list[str]] = {}
    for verdict in judged:
        answers = [normal_answer(reply.answer or "").split(" ")[0].strip(",.;:") for reply in verdict.predictions]
        kinds = {"all", *(f"{tag}={value}" for tag, value in verdict.case.tags.items() if tag == "question_type")}
        for kind in kinds:
            first_words.setdefault(kind, []).extend(word if word in {"yes", "no"} else "other" for word in answers)
    return {
        kind: {answer: answers.count(answer) / len(answers) for answer in ("yes", "no", "other")}
        for kind, answers in sorted(first_words.items())
    }


def _coverage(task: Task, verdicts: Verdicts, unread: int = 0) -> Coverage:
    states, asked = verdicts.states, [case.requests for case in verdicts.judged.cases]
    return Coverage(
        cases=len(states),
        judged=states.count("judged"),
        unscored=states.count("unscored"),
        skipped=states.count("skipped"),
        deselected=len(task.cases) - len(states),
        distinct=len(set(asked) if repeated(asked) else asked),
        disputed=disputed(task.left_out),
        corrected=task.corrected,
        unread=unread,
        unreadable=task.left_out.get(UNREADABLE, 0),
        undrawn=undrawn(task.left_out),
    )


def _slices(cases: Sequence[Case], columns: Columns) -> dict[str, Mapping[str, Metric]]:
    rows: dict[str, array[int]] = {}  # 4 bytes each
    for row, case in enumerate(cases):
        for tag, value in case.tags.items():
            if tag in GROUPED:
                continue
            rows.setdefault(f"{tag}={value}", array("i")).append(row)
    kept = {name: codes for name, codes in columns.groups.items() if GROUPED[name] == "mean"}
    parts = replace(columns, groups=kept)  # a slice may hold a part of a group, all of whose cases must be right
    return {name: metrics(parts.take(np.array(rows[name])), confidence=CONFIDENCE) for name in sorted(rows)}


_UNDIRECTED = LOWER_IS_BETTER.union(*(spec.undirected for spec in SHAPES.values()))


def raised(metrics: Mapping[str, Metric], chance: Mapping[str, float]) -> dict[str, Metric]:
    # It can also guess, so a figure below chance is an accident of ties or of training, and not a finding
    return {
        name: metric
        if name in _UNDIRECTED or metric.value >= chance.get(name, 0.0)
        else replace(metric, low=min(metric.low, chance[name]), value=chance[name], high=max(metric.high, chance[name]))
        for name, metric in metrics.items()
    }
