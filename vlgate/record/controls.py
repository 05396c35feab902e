"""The controls of a run in controls.json and metrics.json, written and read back."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.probes.controls.control import Controlled, of_task
from vlgate.record.folder import CONTROLS, METRICS, OF_ONE_RUN, RecordedRun, content_of, held_to, refuse_other_schema
from vlgate.record.schema import schema_of
from vlgate.record.whole_file import write_whole
from vlgate.types import Metric

SCHEMA = 1
_Compared = tuple[float, ...]


def read_controls(run: RecordedRun) -> dict[str, dict[str, ControlledTask]]:
    if not run.figures.get("controls"):
        return {}
    content = content_of(run.folder / CONTROLS, run.named)
    refuse_other_schema(content, SCHEMA, CONTROLS, run.named)
    content = held_to(content, schema_of(CONTROLS), CONTROLS, run.named)
    controls: dict[str, dict[str, ControlledTask]] = {}
    for name, one in content["controls"].items():
        for task, measured in one["tasks"].items():
            columns = {column: np.array(values, dtype=np.float64) for column, values in measured["columns"].items()}
            figures = {
                figure: Figure(**{**values, "others": tuple(values.get("others", ()))})
                for figure, values in measured["figures"].items()
            }
            needed = {column for of in figures.values() for column in (of.column, of.before, *of.others) if column}
            lengths = {len(measured["cases"]), len(measured["images"]), *map(len, columns.values())}
            if len(lengths) > 1 or not needed <= columns.keys():
                place = f"controls.{name}.tasks.{task}"
                raise run.wrong(f"{CONTROLS} is damaged: the columns of {place} do not belong together")
            texts = {key: tuple(measured[key]) for key in ("cases", "images", "notes")}
            made = ControlledTask(**{**measured, **texts, "columns": columns, "figures": figures})
            controls.setdefault(task, {})[name] = made
    _refuse_other_figures(run, controls)
    return controls


def _refuse_other_figures(run: RecordedRun, measured_by_task: Mapping[str, Mapping[str, ControlledTask]]) -> None:
    stated = {task: figure.get("controls", {}) for task, figure in run.figures["tasks"].items()}
    for task in dict.fromkeys((*stated, *measured_by_task)):
        given, measured = stated.get(task, {}), measured_by_task.get(task, {})
        for name in dict.fromkeys((*given, *measured)):
            has = _figures(given[name]["cases"], given[name]["figures"]) if name in given else {}
            gives: dict[str, _Compared] = {}
            if name in measured:
                metrics = measured[name].metrics()
                gives = _figures(len(measured[name].cases), {key: asdict(metric) for key, metric in metrics.items()})
            for key in dict.fromkeys((*has, *gives)):
                one, other = has.get(key), gives.get(key)
                if one and other and np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True):
                    continue
                compared = f"{_shown(one)}, but {CONTROLS} gives {_shown(other)}"
                raise run.wrong(f"{METRICS} has {key} of the control {name} of {task} as {compared}", OF_ONE_RUN)


def _figures(cases: int, figures: Mapping[str, Mapping[str, Any]]) -> dict[str, _Compared]:
    compared = {name: tuple(figure[key] for key in ("value", "low", "high", "n")) for name, figure in figures.items()}
    return {"the number of cases": (cases,), **compared}


def _shown(figure: _Compared | None) -> str:
    if figure is None or len(figure) == 1:
        return "none" if figure is None else f"{figure[0]:,}"
    value, low, high, n = figure
    return f"{value:.6f} ({low:.6f} - {high:.6f}) of {n:,}"


def of_run(controls: Iterable[Controlled]) -> dict[str, Any]:
    return {
        control.name: {
            "limit": control.limit,
            "requests": control.requests,
            "lacking": control.lacking,
            **({} if control.model is None else {"model": _measured(control.model)}),
        }
        for control in controls
    }


def metric_record(metric: Metric) -> dict[str, float | int]:
    return {name: getattr(metric, name) for name in ("value", "low", "high", "n", "deff")}


def of_one_task(controls: Iterable[Controlled], task: str) -> dict[str, Any]:
    return {name: _measured(one) for name, one in of_task(controls, task).items()}


def write_controls(file: Path, controls: Iterable[Controlled]) -> None:
    content = {
        control.name: {
            "limit": control.limit,
            "lacking": control.lacking,
            "tasks": {task: _columns(measured) for task, measured in control.tasks.items()},
            "model": None if control.model is None else _columns(control.model),
        }
        for control in controls
    }
    write_whole(file, json.dumps({"schema": SCHEMA, "controls": content}, ensure_ascii=False, allow_nan=False) + "\n")


def _measured(controlled_task: ControlledTask) -> dict[str, Any]:
    metrics = controlled_task.metrics()
    return {
        "cases": len(controlled_task.cases),
        "requests": controlled_task.requests,
        "left_out": dict(controlled_task.left_out),
        "notes": list(controlled_task.notes),
        "beside": dict(controlled_task.beside),
        "figures": {
            name: {**metric_record(metric), "difference": bool(controlled_task.figures[name].before)}
            for name, metric in metrics.items()
        },
    }


def _columns(controlled_task: ControlledTask) -> dict[str, Any]:
    # Whole numbers without a point keep the file small
    columns = {
        name: [None if np.isnan(value) else int(value) if value == int(value) else value for value in values.tolist()]
        for name, values in controlled_task.columns.items()
    }
    return {**asdict(controlled_task), "columns": columns}
