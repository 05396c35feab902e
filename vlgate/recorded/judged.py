"""What the gates of a finished run are decided from again: the judged cases of each task, from its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vlgate.gates.decide import Coverage
from vlgate.gates.deciding import Judged
from vlgate.metrics.clusters import clusters, recorded_clusters
from vlgate.metrics.compute import Columns, metrics
from vlgate.metrics.grouped import group_codes
from vlgate.metrics.names import HEADLINE
from vlgate.recorded.cases import fact_names, tags_of
from vlgate.recorded.controls import read_controls
from vlgate.recorded.folder import CASES, METRICS, RecordedRun
from vlgate.types import UNREADABLE, FloatArray, Shape, undrawn

_SHAPES: tuple[Shape, ...] = ("pair", "quad", "active_passive_set", "questions")  # those of files that name no shape


def shape_of(facts: Iterable[str]) -> Shape:
    """Return the shape of a task by the facts that its cases have; a task without judged cases counts as pairs.

    >>> shape_of(["acc_r", "tied"]), shape_of(["set_acc"])
    ('pair', 'active_passive_set')
    """
    known = set(facts)
    return next((shape for shape in _SHAPES if HEADLINE[shape] in known), "pair")


def judged_tasks(run: RecordedRun, table: Any) -> dict[str, Judged]:
    """Return what the gates of each task are decided from.

    Args:
        run: the run.
        table: its rows; see ``read_cases``.

    Raises: OptionError if a metric that the rows give is not that of ``metrics.json``.
    """
    names = table.column("task").combine_chunks().dictionary_encode()
    codes, known = names.indices.to_numpy(), names.dictionary.to_pylist()
    controls = read_controls(run)
    lacking = {name: one["lacking"] for name, one in run.figures.get("controls", {}).items() if one.get("lacking")}
    found: dict[str, Judged] = {}
    for task, told in run.figures["tasks"].items():
        places = np.flatnonzero(codes == known.index(task)) if task in known else np.array([], dtype=np.intp)
        judged = _judged(run, table.take(places), told)
        found[task] = replace(judged, controls=controls.get(task, {}), lacking=lacking)
        _refuse_other_figures(run, task, found[task], told["metrics"])
    for task, told in run.figures.get("unasked", {}).items():
        coverage = Coverage(cases=0, judged=0, unscored=0, skipped=0, deselected=told["cases"], distinct=0)
        found[task] = Judged(shape=told["shape"], coverage=coverage)
    return found


def _judged(run: RecordedRun, rows: Any, told: Mapping[str, Any]) -> Judged:
    """What the gates of a task are decided from, from all its rows and its part of ``metrics.json``."""
    states = np.array(rows.column("state").to_pylist(), dtype=str)
    kept = rows.take(np.flatnonzero(states == "judged"))
    facts = {name: _numbers(kept, name) for name in fact_names(kept)}
    facts = {name: values for name, values in facts.items() if not np.isnan(values).all()}
    images, texts = (kept.column(name).to_pylist() for name in ("images", "texts"))
    named = len({(tuple(keys), tuple(said)) for keys, said in zip(images, texts, strict=True)})
    coverage = Coverage(
        cases=len(states),
        judged=len(images),
        unscored=int((states == "unscored").sum()),
        skipped=int((states == "skipped").sum()),
        deselected=told["deselected"],
        distinct=told.get("distinct", {}).get("cases", named),
        copies=told.get("distinct", {}).get("copies", ""),
        disputed=told.get("disputed", {}).get("left_out", 0),
        corrected=told.get("disputed", {}).get("corrected", 0),
        unread=int((facts["read"] < 1.0).sum()) if "read" in facts else 0,
        unreadable=told["left_out"].get(UNREADABLE, 0),
        undrawn=undrawn(told["left_out"]),
    )
    shape: Shape = told.get("shape") or shape_of(facts)
    together = told.get("ask") == "together"
    columns = Columns(
        shape=shape,
        scores=_scores(kept),
        accepted=_accepted(facts, len(images)),
        facts=facts,
        images=clusters(recorded_clusters(kept.column("case").to_pylist(), images, together=together)).codes,
        groups=group_codes(tags_of(run, kept)),
    )
    return Judged(shape=shape, coverage=coverage, columns=columns, metrics=metrics(columns))


def _numbers(rows: Any, name: str) -> FloatArray:
    return np.asarray(rows.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)


def _scores(rows: Any) -> FloatArray:
    """The scores of each case, shape (n, k); NaN behind the last one of a case that has fewer than others."""
    import pyarrow.compute as pc

    sizes = np.asarray(pc.list_value_length(rows.column("scores")).to_numpy(zero_copy_only=False), dtype=np.intp)
    found = np.full((rows.num_rows, int(sizes.max(initial=0))), np.nan)
    flat = pc.list_flatten(rows.column("scores")).to_numpy(zero_copy_only=False)
    found[np.arange(found.shape[1]) < sizes[:, None]] = np.asarray(flat, dtype=np.float64)
    return found


def _accepted(facts: Mapping[str, FloatArray], n: int) -> FloatArray:
    """Whether the model accepts the caption and the foil of each pair, from the facts that say so."""
    unknown = np.full(n, np.nan)
    return np.stack([facts.get("p_c", unknown), 1.0 - facts.get("p_f", unknown)], axis=1)


def _refuse_other_figures(run: RecordedRun, task: str, found: Judged, told: Mapping[str, Any]) -> None:
    """Refuse rows whose metrics are not those of the figures: one of the files is of another run, or was changed."""
    for name, metric in found.metrics.items():
        given = told.get(name)
        if given is None or given["n"] != metric.n or abs(given["value"] - metric.value) > 1e-9:
            said = "no value" if given is None else f"{given['value']:.6f} of {given['n']:,}"
            problem = f"{METRICS} has {name} of {task} as {said}, but {CASES} gives {metric.value:.6f} of {metric.n:,}"
            raise run.wrong(problem, "name a folder whose files are of one run")
