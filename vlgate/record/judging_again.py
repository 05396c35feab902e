"""Decide the gates of a thresholds file again, from the files of a finished run, without its model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from vlgate.errors import VlgateError
from vlgate.gates.decide import Judged
from vlgate.gates.error_rates import ErrorRates
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.record.cases import CaseTable, case_tables, judged_tasks
from vlgate.record.comparison import Comparison, FinishedRun, compare, finished_run
from vlgate.record.digests import recorded_digest
from vlgate.record.folder import CASES, METRICS, OF_ONE_RUN, VERDICT, RecordedRun
from vlgate.record.model_card import card_from
from vlgate.record.options import FIRST, Options
from vlgate.record.run_gates import JudgedRun, decide_run, failed_checks, refuse_blunt
from vlgate.record.verdict import RunOutcome, read_verdict, recorded_outcome
from vlgate.sources.registry import shapes
from vlgate.types import Shape

ABOUT_REPLIES = ("same-model", "asked-once", "same-data")
"""Decisions against a run that no thresholds file makes: they are taken over as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAgain:
    thresholds: Thresholds
    decisions: tuple[Decision, ...]
    comparison: Comparison | None
    error_rates: ErrorRates | None
    outcome: RunOutcome


def judge_again(
    run: RecordedRun, file: Path, earlier: FinishedRun | None = None, *, first: bool = False, require_gates: bool = True
) -> JudgedAgain:
    tables, tasks = _asked(run)
    kinds = {name: task.shape for name, task in tasks.items()}
    known = {**_known(run), **kinds}
    thresholds = read_thresholds(file, known)
    asked = run.figures["run"]
    options = Options(
        folder=run.folder,
        results=run.folder,
        model=str(run.options.get("model") or run.model),
        suite=tuple(asked["suite"]),
        quick=bool(asked.get("quick")),
        ties=asked["ties"],
        thresholds=file,
        baseline=FIRST if first else None,
        require_gates=require_gates,
    )
    planned = {name: task.coverage.cases + task.coverage.deselected for name, task in tasks.items()}
    refuse_blunt(thresholds, {name: (kinds[name], planned[name]) for name in tasks}, quick=options.quick)
    comparison = None
    if earlier is not None:
        partial = frozenset(name for name, task in tasks.items() if task.coverage.deselected)
        comparison = compare(earlier, replace(finished_run(run, tables), model=options.model, partial=partial))
    judged = JudgedRun(
        tasks=tasks,
        right={name: {} for name in tasks}
        | {name: dict(zip(table.ids, table.right, strict=True)) for name, table in tables.items()},
        neither={
            name: (counts["replies"], counts["of"])
            for name, task in run.figures["tasks"].items()
            if (counts := task.get("neither"))
        },
        comparison=comparison,
        known=known,
    )
    made, rates = decide_run(judged, thresholds, options)
    card = card_from(run.figures["model"])
    decisions = (*failed_checks(card, [card], thresholds), *_taken_over(run), *made)
    return JudgedAgain(
        thresholds=thresholds,
        decisions=decisions,
        comparison=comparison,
        error_rates=rates,
        outcome=recorded_outcome(run, decisions),
    )


def _asked(run: RecordedRun) -> tuple[Mapping[str, CaseTable], Mapping[str, Judged]]:
    """Return the rows and the tasks of a run, whose files must agree with each other."""
    if "unasked" not in run.figures:
        raise run.wrong(f"{METRICS} is of an earlier version: unasked is missing")
    tables = case_tables(run)
    tasks = judged_tasks(run, tables)
    if (verdict := read_verdict(run)) is not None and verdict["digests"]["rows"] != recorded_digest(tables):
        raise run.wrong(f"the rows in {CASES} are not those that {VERDICT} has the digest of", OF_ONE_RUN)
    return tables, tasks


def _known(run: RecordedRun) -> dict[str, Shape]:
    named = run.options.get("data", ())
    folders = tuple(folder for folder in map(Path, named) if folder.is_dir())
    try:
        return dict(shapes(folders))
    except VlgateError:  # the data changed after the run, and its gates do not depend on them
        return dict(shapes(()))


def _taken_over(run: RecordedRun) -> list[Decision]:
    kept = []
    for gate in run.figures["gates"]:
        task, _, name = gate["gate"].rpartition(":")
        if name in ABOUT_REPLIES:
            kept.append(Decision(gate=Gate(task=task, metric=name), outcome=gate["decision"], why=gate["why"]))
    return kept
