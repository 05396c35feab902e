"""Decide the gates of a thresholds file again, from the files of a finished run, without its model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.errors import VlgateError
from vlgate.gates.decide import Judged, decide_all, tasks_without_scores, without_scores
from vlgate.gates.error_rates import ErrorRates, error_rates
from vlgate.gates.must_hold import must_hold_decision
from vlgate.gates.p_values import corrected
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.record.cases import judged_tasks, read_cases
from vlgate.record.comparison import Comparison, EarlierRun, LaterRun, compare, judged_rows
from vlgate.record.folder import METRICS, RecordedRun
from vlgate.record.model_card import card_from
from vlgate.record.options import Options
from vlgate.record.run_gates import change_decisions, doubts, refuse_blunt, required, unjudged_gates, without_passes
from vlgate.record.verdict import RunOutcome, recorded_outcome
from vlgate.sources.registry import shapes
from vlgate.types import Shape

ABOUT_REPLIES = ("same-model", "asked-once", "same-data")
"""Decisions against a run that no thresholds file makes: they are taken over as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAgain:
    """The decisions of a thresholds file about a finished run, and how it ends with them."""

    thresholds: Thresholds
    decisions: tuple[Decision, ...]
    comparison: Comparison | None
    error_rates: ErrorRates | None
    outcome: RunOutcome


def judge_again(
    run: RecordedRun,
    file: Path,
    earlier: EarlierRun | None = None,
    *,
    first: bool = False,
    require_gates: bool = True,
) -> JudgedAgain:
    """Decide every gate of a thresholds file about a finished run, as the run itself would.

    Args:
        run: the run.
        file: the thresholds file.
        earlier: the run to compare with; without one, the gates that need it are inconclusive.
        first: whether there is no earlier run, so that these gates are not run.
        require_gates: whether a run of which no gate is judged is inconclusive.

    Returns: the decisions, in the order in which a run makes them.
    Raises: OptionError if a file of a run cannot be used, or if the runs cannot be compared; ThresholdsError if the
        thresholds file cannot be used.
    """
    if "unasked" not in run.figures:
        raise run.wrong(f"{METRICS} is of an earlier version: unasked is missing")
    table = read_cases(run)
    tasks = judged_tasks(run, table)
    kinds = {name: task.shape for name, task in tasks.items()}
    known = {**_known(run), **kinds}
    thresholds = read_thresholds(file, known)
    counts = {name: (one.coverage.cases, one.coverage.cases + one.coverage.deselected) for name, one in tasks.items()}
    told, model = run.figures["run"], str(run.options.get("model") or run.model)
    quick = bool(told.get("quick"))
    refuse_blunt(thresholds, {name: (kinds[name], cases) for name, (_, cases) in counts.items()}, quick=quick)
    asked = _options(run, file, require_gates=require_gates)
    comparison = None if earlier is None else compare(earlier, _later(run, table, tasks, model))
    left_out = {name: cases - selected for name, (selected, cases) in counts.items()}
    coverages = {name: one.coverage for name, one in tasks.items()}
    every = [
        *decide_all(thresholds, tasks, told["ties"], model),
        *change_decisions(thresholds, comparison, kinds, left_out, coverages, first=first),
    ]
    neither = {
        name: (one["replies"], one["of"]) for name, task in run.figures["tasks"].items() if (one := task.get("neither"))
    }
    right = _right(table, tasks, tasks_without_scores(neither, thresholds))
    whole_run = require_gates and not asked.suite
    held = [] if thresholds.must_hold is None else [must_hold_decision(thresholds.must_hold, right, whole=whole_run)]
    made = corrected((*held, *without_scores(every, neither, thresholds)), thresholds.fail_correction)
    made = without_passes(made) if quick else made
    card = card_from(run.figures["model"])
    whole = [*required(thresholds, counts, asked, known), *unjudged_gates(made, thresholds, asked)]
    decisions = (*doubts(card, [card], thresholds), *_taken_over(run), *whole, *made)
    return JudgedAgain(
        thresholds=thresholds,
        decisions=decisions,
        comparison=comparison,
        error_rates=error_rates(made, thresholds.fail_correction),
        outcome=recorded_outcome(run, decisions),
    )


def _known(run: RecordedRun) -> dict[str, Shape]:
    """The shape of every task that a source can make, with the user's own if the data folders are still there."""
    named = run.options.get("data", ())
    folders = tuple(folder for folder in map(Path, named) if folder.is_dir())
    try:
        return dict(shapes(folders))
    except VlgateError:  # the data changed after the run, and its gates do not depend on them
        return dict(shapes(()))


def _options(run: RecordedRun, file: Path, *, require_gates: bool) -> Options:
    suite = tuple(run.figures["run"]["suite"])
    return Options(folder=run.folder, suite=suite, thresholds=file, results=run.folder, require_gates=require_gates)


def _later(run: RecordedRun, table: Any, tasks: Mapping[str, Judged], model: str) -> LaterRun:
    return LaterRun(
        name=model,
        fingerprint=run.figures["model"]["fingerprint"],
        seed=run.figures["run"]["seed"],
        ties=run.figures["run"]["ties"],
        version=run.version,
        tasks=judged_rows(run, table),
        shapes={name: task.shape for name, task in tasks.items()},
        partial=frozenset(name for name, task in tasks.items() if task.coverage.deselected),
    )


def _right(table: Any, tasks: Iterable[str], doubted: Collection[str]) -> dict[str, dict[str, bool | None]]:
    """Whether each case is right, None if it is not judged, or of a task whose scores mean nothing."""
    found: dict[str, dict[str, bool | None]] = {task: {} for task in tasks}
    columns = (table.column(name).to_pylist() for name in ("task", "case", "state", "right"))
    for task, case, state, right in zip(*columns, strict=True):
        found[task][case] = bool(right) if state == "judged" and task not in doubted else None
    return found


def _taken_over(run: RecordedRun) -> list[Decision]:
    """The decisions about the replies as such, which the run made and no thresholds file changes."""
    found = []
    for gate in run.figures["gates"]:
        task, _, name = gate["gate"].rpartition(":")
        if name in ABOUT_REPLIES:
            found.append(Decision(gate=Gate(task=task, metric=name), outcome=gate["decision"], why=gate["why"]))
    return found
