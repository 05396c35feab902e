"""Read ``controls.json`` of a finished run: what its controls measured, case by case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.recorded.folder import AGAIN, CONTROLS, RecordedRun, content_of
from vlgate.types import FloatArray

SCHEMA = 1
"""The version of the format of ``controls.json``."""


def read_controls(run: RecordedRun) -> dict[str, dict[str, ControlledTask]]:
    """Return what the controls of a run measured, by task and by the name of the control; empty if none was asked.

    Raises: OptionError if ``metrics.json`` has controls and the file is missing, or if it is damaged or of another
        version; the message names the file and the remedy.
    """
    if not run.figures.get("controls"):
        return {}
    content = content_of(run.folder / CONTROLS, run.named)
    if content.get("schema") != SCHEMA:
        raise run.wrong(f"{CONTROLS} has schema {content.get('schema')!r}, expected {SCHEMA}", AGAIN)
    found: dict[str, dict[str, ControlledTask]] = {}
    try:
        for name, one in content["controls"].items():
            for task, measured in one["tasks"].items():
                found.setdefault(task, {})[name] = _task(measured)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise run.wrong(f"{CONTROLS} is damaged ({error})", AGAIN) from None
    return found


def _task(measured: Mapping[str, Any]) -> ControlledTask:
    n = len(measured["cases"])
    columns = {name: _values(values, n) for name, values in measured["columns"].items()}
    figures = {name: Figure(**figure) for name, figure in measured["figures"].items()}
    if len(measured["images"]) != n or not {one.column for one in figures.values()} <= columns.keys():
        raise ValueError("its columns do not belong together")
    return ControlledTask(
        cases=tuple(measured["cases"]),
        images=tuple(measured["images"]),
        columns=columns,
        figures=figures,
        left_out=measured["left_out"],
        notes=tuple(measured["notes"]),
        beside=measured["beside"],
        requests=measured["requests"],
    )


def _values(values: list[float | None], n: int) -> FloatArray:
    found = np.array(values, dtype=np.float64)
    known = found[np.isfinite(found)]
    if found.shape != (n,) or bool(((known < 0) | (known > 1)).any()):
        raise ValueError(f"expected {n} values from 0 to 1")
    return found
