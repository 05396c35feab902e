"""Compare a run with an earlier one, case by case: what is newly broken, what is fixed, and the differences."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from vlgate.errors import OptionError
from vlgate.metrics.clusters import Clusters, clusters
from vlgate.metrics.paired import chance_of_change, difference, whole
from vlgate.metrics.shapes import SHAPES
from vlgate.record.cases import CaseTable, asked_of, case_tables
from vlgate.record.folder import RecordedRun, read_run, refuse_incomplete
from vlgate.types import Difference, FloatArray, Task, Ties

NEEDED = frozenset({"model", "run", "tasks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    model: str
    fingerprint: str = ""
    seed: int
    ties: Ties
    version: str = ""
    tasks: Mapping[str, CaseTable] = field(repr=False)
    # Tasks with deselected cases: those cases are not compared, and no gate on such a task can pass
    partial: frozenset[str] = frozenset()
    folder: Path = Path()
    named: str = ""


def read_earlier(folder: Path, named: str) -> FinishedRun:
    return finished_run(read_run(folder, named, NEEDED))


def finished_run(run: RecordedRun, tables: Mapping[str, CaseTable] | None = None) -> FinishedRun:
    refuse_incomplete(run)
    return FinishedRun(
        folder=run.folder,
        named=run.named,
        model=run.model,
        fingerprint=run.figures["model"]["fingerprint"],
        seed=run.figures["run"]["seed"],
        ties=run.figures["run"]["ties"],
        version=run.version,
        tasks=case_tables(run) if tables is None else tables,
    )


SHOWN = 3
_REMEDY = "run the same cases, or name another run"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    before: FloatArray
    after: FloatArray
    images: Clusters

    @property
    def independent(self) -> bool:
        return self.images.single and whole(self.after - self.before)

    @property
    def part(self) -> float:
        """By how much the cases that changed did so, as a root mean square; 1 without a change."""
        change = (self.after - self.before)[self.after != self.before]
        return float(np.sqrt(np.mean(change**2))) if change.size else 1.0

    def difference(self, confidence: float = 0.95) -> Difference:
        return difference(self.before, self.after, self.images, confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    task: str
    n: int
    broken: tuple[str, ...]  # below before in the headline metric
    fixed: tuple[str, ...]
    still_wrong: int
    churned: int  # number of cases whose answer or any metric changed
    added: tuple[str, ...]  # asked by the later run only
    unjudged: int  # in one of the runs
    values: Mapping[str, PairedValues] = field(repr=False)
    headline: str

    @property
    def test(self) -> str:
        values = self.values.get(self.headline)
        return "McNemar p" if values is None or values.independent else "p by image"

    @property
    def p(self) -> float:
        values = self.values.get(self.headline)
        return 1.0 if values is None else chance_of_change(values.before, values.after, values.images)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    earlier: FinishedRun
    tasks: Mapping[str, TaskChange]
    unlike: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # the tasks that only one of the runs has


def refuse_unlike(earlier: FinishedRun, tasks: Sequence[Task], ties: Ties) -> None:
    planned = {
        task.id: {case.id: asked_of(case.requests, case.truths) for case in task.cases}
        for task in tasks
        if task.id in earlier.tasks
    }
    _refuse(earlier, ties, planned)


def compare(earlier: FinishedRun, later: FinishedRun) -> Comparison:
    common = {name: cases for name, cases in later.tasks.items() if name in earlier.tasks}
    planned = {
        name: {**dict.fromkeys(cases.ids, ""), **dict(zip(cases.judged.ids, cases.judged.asked, strict=True))}
        for name, cases in common.items()
    }
    _refuse(earlier, later.ties, planned, later.partial)
    settings = (
        ("the model", earlier.model, later.model),
        ("the model's fingerprint", earlier.fingerprint[:12], later.fingerprint[:12]),
        ("--seed", str(earlier.seed), str(later.seed)),
        ("the version of vlgate", earlier.version, later.version),
    )
    return Comparison(
        earlier=earlier,
        tasks={name: _changed(name, earlier.tasks[name], cases) for name, cases in common.items()},
        unlike=tuple(f"{what} was {was}, is {now}" for what, was, now in settings if was != now and was and now),
        left_out=tuple(sorted(set(earlier.tasks) ^ set(later.tasks))),
    )


def _refuse(
    earlier: FinishedRun, ties: Ties, planned: Mapping[str, Mapping[str, str]], partial: frozenset[str] = frozenset()
) -> None:
    where = earlier.named
    if earlier.ties != ties:
        raise OptionError(
            f"{where}: was judged with --ties {earlier.ties}, the later run with --ties {ties}; use the same"
        )
    if not planned and partial.isdisjoint(earlier.tasks):
        raise OptionError(f"{where}: has no task of the later run; {_REMEDY}")
    for task, asked in planned.items():
        before = earlier.tasks[task]
        gone = [case for case in before.ids if case not in asked]
        if gone and task not in partial:
            raise OptionError(f"{where}: {task} has {_named(gone)} that the later run does not ask; {_REMEDY}")
        other = [
            case
            for case, digest in zip(before.judged.ids, before.judged.asked, strict=True)
            if asked.get(case, "") not in {digest, ""}
        ]
        if other:
            raise OptionError(
                f"{where}: {task} asks something else in {_named(other)}: image names, texts or truths; {_REMEDY}"
            )


def _named(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
    return f"{len(cases)} case{'s' if len(cases) > 1 else ''} ({', '.join(cases[:SHOWN])}{more})"


def _changed(task: str, earlier: CaseTable, later: CaseTable) -> TaskChange:
    headline, rows = SHAPES[later.shape].headline, {case: row for row, case in enumerate(earlier.judged.ids)}
    common = [row for row, case in enumerate(later.judged.ids) if case in rows]
    after = later.judged.take(common)
    before = earlier.judged.take([rows[case] for case in after.ids])
    images = [later.judged.clusters[row] for row in common]  # other cases may connect the images of these
    values: dict[str, PairedValues] = {}
    for name in SHAPES[later.shape].metrics:
        was, now = _column(before, name), _column(after, name)
        both = np.flatnonzero(np.isfinite(was) & np.isfinite(now))
        if both.size:
            groups = clusters([images[row] for row in both.tolist()])
            values[name] = PairedValues(before=was[both], after=now[both], images=groups)
    churned = np.array([one != other for one, other in zip(before.answers, after.answers, strict=True)], dtype=bool)
    for name in {*before.case_metrics, *after.case_metrics}:
        was, now = _column(before, name), _column(after, name)
        churned |= (was != now) & ~(np.isnan(was) & np.isnan(now))
    was, now = _column(before, headline), _column(after, headline)
    unjudged = [set(cases.ids) - set(cases.judged.ids) for cases in (earlier, later)]
    return TaskChange(
        task=task,
        n=len(common),
        broken=tuple(after.ids[row] for row in np.flatnonzero(now < was)),
        fixed=tuple(after.ids[row] for row in np.flatnonzero(now > was)),
        still_wrong=int(((was < 1) & (now < 1) & (was == now)).sum()),
        churned=int(churned.sum()),
        added=tuple(sorted(set(later.judged.ids) - set(earlier.ids))),
        unjudged=len(set.union(*unjudged)),
        values=values,
        headline=headline,
    )


def _column(cases: CaseTable, name: str) -> FloatArray:
    return cases.case_metrics[name] if name in cases.case_metrics else np.full(len(cases), np.nan)


MOST_NAMED = 10  # the most newly broken cases that the terminal names; the files name all


def comparison_lines(comparison: Comparison, most: int | None = MOST_NAMED) -> list[str]:
    tasks = list(comparison.tasks.values())
    broken, fixed = sum(len(task.broken) for task in tasks), sum(len(task.fixed) for task in tasks)
    total, churned = sum(task.n for task in tasks), sum(task.churned for task in tasks)
    wrong = sum(task.still_wrong for task in tasks)
    earlier = comparison.earlier
    counts = f"{broken:,} newly broken, {fixed:,} fixed, {wrong:,} still wrong of {total:,} cases"
    others = f"{churned:,} have another answer or verdict"
    lines = [f"compared with {earlier.folder} ({earlier.model}): {counts}; {others}"]
    lines += [f"unlike: {difference}" for difference in comparison.unlike]
    if comparison.left_out:
        lines.append(f"not compared, because only one of the runs has them: {', '.join(comparison.left_out)}")
    for task in tasks:
        if not (task.churned or task.added or task.unjudged):
            continue
        line = f"{task.task}: {len(task.broken)} broken, {len(task.fixed)} fixed of {task.n}"
        if task.headline in task.values:
            change = task.values[task.headline].difference()
            line += f", {task.headline} {change.value:+.3f} ({change.low:+.3f} to {change.high:+.3f})"
            line += f", {task.test} = {task.p:.3f}" if task.p >= 0.0005 else f", {task.test} < 0.001"
        line += f"; {task.churned} with another answer or verdict" if task.churned else ""
        line += f"; {len(task.added)} new cases" if task.added else ""
        line += f"; {task.unjudged} not judged in one of the runs" if task.unjudged else ""
        lines.append(line)
    named = [f"{task.task}:{case}" for task in tasks for case in task.broken]
    shown = named if most is None else named[:most]
    lines += [f"newly broken: {name}" for name in shown]
    return [*lines, f"and {len(named) - len(shown):,} more"] if len(named) > len(shown) else lines


def comparison_record(comparison: Comparison) -> dict[str, object]:
    return {
        "folder": str(comparison.earlier.folder),
        "model": comparison.earlier.model,
        "fingerprint": comparison.earlier.fingerprint,
        "unlike": list(comparison.unlike),
        "left_out": list(comparison.left_out),
        "tasks": {
            name: {
                "n": change.n,
                "broken": list(change.broken),
                "fixed": list(change.fixed),
                "still_wrong": change.still_wrong,
                "churned": change.churned,
                "added": len(change.added),
                "unjudged": change.unjudged,
                "p": change.p,
                "metric": change.headline,
                "differences": {metric: asdict(values.difference()) for metric, values in change.values.items()},
            }
            for name, change in comparison.tasks.items()
        },
    }
