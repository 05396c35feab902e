"""The controls of a run in controls.json and metrics.json, written and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.probes.controls.control import Controlled, of_task
from vlgate.record.folder import AGAIN, CONTROLS, METRICS, RecordedRun, content_of, held_to, refuse_other_schema
from vlgate.record.schema import schema_of
from vlgate.record.whole_file import write_whole
from vlgate.types import FloatArray, Metric

# Read ``controls.json`` of a finished run: what its controls measured, case by case.

SCHEMA = 1
"""The version of the format of ``controls.json``."""
_Compared = tuple[float, ...]


def read_controls(run: RecordedRun) -> dict[str, dict[str, ControlledTask]]:
    """Return what the controls of a run measured, by task and by the name of the control; empty if none was asked."""
    if not run.figures.get("controls"):
        return {}
    content = content_of(run.folder / CONTROLS, run.named)
    refuse_other_schema(content, SCHEMA, CONTROLS, run.named)
    content = held_to(content, schema_of(CONTROLS), CONTROLS, run.named)
    found: dict[str, dict[str, ControlledTask]] = {}
    for name, one in content["controls"].items():
        for task, measured in one["tasks"].items():
            found.setdefault(task, {})[name] = _task(run, measured, f"controls.{name}.tasks.{task}")
    _refuse_other_figures(run, found)
    return found


def _refuse_other_figures(run: RecordedRun, found: Mapping[str, Mapping[str, ControlledTask]]) -> None:
    told = {task: one.get("controls", {}) for task, one in run.figures["tasks"].items()}
    for task in dict.fromkeys((*told, *found)):
        given, measured = told.get(task, {}), found.get(task, {})
        for name in dict.fromkeys((*given, *measured)):
            has = _figures(given[name]["cases"], given[name]["figures"]) if name in given else {}
            gives = _of_values(measured[name]) if name in measured else {}
            key = next((key for key in dict.fromkeys((*has, *gives)) if not _same(has.get(key), gives.get(key))), None)
            if key is not None:
                said = f"{_said(has.get(key))}, but {CONTROLS} gives {_said(gives.get(key))}"
                problem = f"{METRICS} has {key} of the control {name} of {task} as {said}"
                raise run.wrong(problem, "name a folder whose files are of one run")


def _of_values(one: ControlledTask) -> dict[str, _Compared]:
    return _figures(len(one.cases), {name: asdict(metric) for name, metric in one.metrics().items()})


def _figures(cases: int, figures: Mapping[str, Mapping[str, Any]]) -> dict[str, _Compared]:
    found = {name: tuple(one[key] for key in ("value", "low", "high", "n")) for name, one in figures.items()}
    return {"the number of cases": (cases,), **found}


def _same(one: _Compared | None, other: _Compared | None) -> bool:
    return one is not None and other is not None and bool(np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True))


def _said(figure: _Compared | None) -> str:
    if figure is None or len(figure) == 1:
        return "none" if figure is None else f"{figure[0]:,}"
    value, low, high, n = figure
    return f"{value:.6f} ({low:.6f} - {high:.6f}) of {n:,}"


def _task(run: RecordedRun, measured: Mapping[str, Any], place: str) -> ControlledTask:
    columns = {name: np.array(values, dtype=np.float64) for name, values in measured["columns"].items()}
    figures = {
        name: Figure(**{**figure, "others": tuple(figure.get("others", ()))})
        for name, figure in measured["figures"].items()
    }
    lengths = {len(measured["cases"]), len(measured["images"]), *map(len, columns.values())}
    if len(lengths) > 1 or not _named(figures.values()) <= columns.keys():
        raise run.wrong(f"{CONTROLS} is damaged: the columns of {place} do not belong together", AGAIN)
    texts = {name: tuple(measured[name]) for name in ("cases", "images", "notes")}
    return ControlledTask(**{**measured, **texts, "columns": columns, "figures": figures})


def _named(figures: Iterable[Figure]) -> set[str]:
    return {name for one in figures for name in (one.column, one.before, *one.others) if name}


# The controls of a run in ``metrics.json``, and ``controls.json``, which holds their values case by case.


def of_run(found: Iterable[Controlled]) -> dict[str, Any]:
    """Return what ``metrics.json`` has of the controls of a run, by name; empty if none was asked."""
    return {
        one.name: {
            "limit": one.limit,
            "requests": one.requests,
            "lacking": one.lacking,
            **({} if one.model is None else {"model": _measured(one.model)}),
        }
        for one in found
    }


def metric_record(metric: Metric) -> dict[str, float | int]:
    """Return what ``metrics.json`` has of a metric."""
    return {name: getattr(metric, name) for name in ("value", "low", "high", "n", "deff")}


def of_one_task(found: Iterable[Controlled], task: str) -> dict[str, Any]:
    """Return what ``metrics.json`` has of the controls of a task, by name."""
    return {name: _measured(one) for name, one in of_task(found, task).items()}


def write_controls(file: Path, found: Iterable[Controlled]) -> None:
    """Write ``controls.json``: the values of each case, from which every figure can be computed again."""
    controls = {
        one.name: {
            "limit": one.limit,
            "lacking": one.lacking,
            "tasks": {task: _columns(measured) for task, measured in one.tasks.items()},
            "model": None if one.model is None else _columns(one.model),
        }
        for one in found
    }
    write_whole(file, json.dumps({"schema": SCHEMA, "controls": controls}, ensure_ascii=False, allow_nan=False) + "\n")


def _measured(one: ControlledTask) -> dict[str, Any]:
    # The figures of a control with their intervals of 95 %
    metrics = one.metrics()
    return {
        "cases": len(one.cases),
        "requests": one.requests,
        "left_out": dict(one.left_out),
        "notes": list(one.notes),
        "beside": dict(one.beside),
        "figures": {
            name: {**metric_record(metric), "difference": bool(one.figures[name].before)}
            for name, metric in metrics.items()
        },
    }


def _columns(one: ControlledTask) -> dict[str, Any]:
    return {**asdict(one), "columns": {name: _plain(values) for name, values in one.columns.items()}}


def _plain(values: FloatArray) -> list[float | None]:
    # The values as JSON holds them: whole numbers without a point, None if there is none
    return [None if np.isnan(value) else int(value) if value == int(value) else value for value in values.tolist()]
