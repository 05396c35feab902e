"""Read an earlier run from its results folder, to compare another one with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.comparing.cases import JudgedCases, digest_of
from vlgate.metrics.clusters import recorded_clusters
from vlgate.recorded.cases import fact_names, read_cases
from vlgate.recorded.folder import RecordedRun, read_run, refuse_incomplete
from vlgate.recorded.judged import shape_of
from vlgate.types import Shape, Ties

_COLUMNS = ("task", "case", "state", "images", "texts", "truths", "answers")
NEEDED = frozenset({"model", "run", "tasks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """An earlier run: its model, what it was asked for, and its cases and their shape by task.

    ``named`` is how the user named its folder. ``version`` is that of vlgate, empty if it is unknown.
    """

    folder: Path
    named: str
    model: str
    fingerprint: str
    seed: int
    ties: Ties
    version: str
    tasks: Mapping[str, JudgedCases] = field(repr=False)
    shapes: Mapping[str, Shape] = field(repr=False)


def read_earlier(folder: Path, named: str) -> EarlierRun:
    """Read a complete run.

    Args:
        folder: its results folder.
        named: how the user named the folder, such as ``--baseline before``; messages begin with it.

    Raises: OptionError if the folder holds no run, an incomplete or damaged one or one of another format, or if a file
        cannot be read; the message names the file and the remedy.
    """
    return earlier_of(read_run(folder, named, NEEDED))


def earlier_of(run: RecordedRun) -> EarlierRun:
    """Return a run as what another one is compared with.

    Raises: OptionError if the run is incomplete, or if its cases cannot be read.
    """
    refuse_incomplete(run)
    figures = run.figures
    tasks = judged_rows(run, read_cases(run))
    told = {name: figures["tasks"].get(name, {}).get("shape") for name in tasks}
    return EarlierRun(
        folder=run.folder,
        named=run.named,
        model=run.model,
        fingerprint=figures["model"]["fingerprint"],
        seed=figures["run"]["seed"],
        ties=figures["run"]["ties"],
        version=run.version,
        tasks=tasks,
        shapes={name: told[name] or shape_of(cases.facts) for name, cases in tasks.items()},
    )


def judged_rows(run: RecordedRun, table: Any) -> dict[str, JudgedCases]:
    """Return the rows of ``cases.parquet`` of a run by task; see ``read_cases``."""
    columns = {name: table.column(name).to_pylist() for name in _COLUMNS}
    facts = {name: table.column(name).to_numpy(zero_copy_only=False).astype(np.float64) for name in fact_names(table)}
    rows: dict[str, list[int]] = {}
    for row, task in enumerate(columns["task"]):
        rows.setdefault(task, []).append(row)
    return {task: _one(columns, facts, found, run.figures["tasks"].get(task, {})) for task, found in rows.items()}


def _one(
    columns: Mapping[str, list[Any]], facts: Mapping[str, Any], rows: list[int], told: Mapping[str, Any]
) -> JudgedCases:
    judged = [row for row in rows if columns["state"][row] == "judged"]
    kept = {name: values[judged] for name, values in facts.items()}
    kept = {name: values for name, values in kept.items() if not np.isnan(values).all()}
    asked = [(columns["images"][row], columns["texts"][row], columns["truths"][row]) for row in judged]
    ids = tuple(columns["case"][row] for row in judged)
    return JudgedCases(
        ids=ids,
        asked=tuple(digest_of(*one) for one in asked),
        images=recorded_clusters(ids, [images for images, _, _ in asked], together=told.get("ask") == "together"),
        facts=kept,
        answers=tuple(tuple(columns["answers"][row]) for row in judged),
        unjudged=tuple(columns["case"][row] for row in rows if columns["state"][row] != "judged"),
    )
