"""The controls of a run in ``metrics.json``, and ``controls.json``, which holds their values case by case."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.controls.record import Controlled, of_task
from vlgate.metrics.controlled import ControlledTask
from vlgate.recorded.controls import SCHEMA
from vlgate.report.whole_file import write_whole
from vlgate.types import FloatArray


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


def of_one_task(found: Iterable[Controlled], task: str) -> dict[str, Any]:
    """Return what ``metrics.json`` has of the controls of a task, by name."""
    return {name: _measured(one) for name, one in of_task(found, task).items()}


def write_controls(file: Path, found: Iterable[Controlled]) -> None:
    """Write ``controls.json``: the values of each case, from which every figure can be computed again.

    Raises: OSError if the file cannot be written.
    """
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
    """The figures of a control with their intervals of 95 %."""
    metrics = one.metrics()
    return {
        "cases": len(one.cases),
        "requests": one.requests,
        "left_out": dict(one.left_out),
        "notes": list(one.notes),
        "beside": dict(one.beside),
        "figures": {
            name: {
                "value": metric.value,
                "low": metric.low,
                "high": metric.high,
                "n": metric.n,
                "deff": metric.deff,
                "difference": bool(one.figures[name].before),
            }
            for name, metric in metrics.items()
        },
    }


def _columns(one: ControlledTask) -> dict[str, Any]:
    return {
        "cases": list(one.cases),
        "images": list(one.images),
        "columns": {name: _plain(values) for name, values in one.columns.items()},
        "figures": {name: asdict(figure) for name, figure in one.figures.items()},
        "left_out": dict(one.left_out),
        "notes": list(one.notes),
        "beside": dict(one.beside),
        "requests": one.requests,
        "doubt": one.doubt,
    }


def _plain(values: FloatArray) -> list[float | None]:
    """The values as JSON holds them: whole numbers without a point, None if there is none."""
    return [None if np.isnan(value) else int(value) if value == int(value) else value for value in values.tolist()]
