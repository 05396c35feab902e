"""Read the tasks of a finished run again, for their images, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate.errors import VlgateError
from vlgate.run.options import Options
from vlgate.run.planning import make_plan
from vlgate.types import Task


def tasks_again(
    figures: Mapping[str, Any], environment: Mapping[str, Any], data: Sequence[Path] = ()
) -> tuple[tuple[Task, ...], str]:
    """Read the tasks of a run again.

    Args:
        figures: the content of ``metrics.json``.
        environment: the content of ``environment.json``, which names the data folders and the options.
        data: the data folders; by default those that the run names.

    Returns: the tasks, and why there are none; one of them is empty.
    """
    known = environment.get("options", {})
    if not known:
        return (), "environment.json is not there, so the images cannot be found again"
    options = Options(
        folder=Path(known["folder"]),
        suite=tuple(figures["tasks"]),
        data=tuple(data) or tuple(Path(folder) for folder in known["data"]),
        pairs=known["pairs"],
        missing_images="skip",
        protocols=frozenset(known["protocols"]),
        ask=known.get("ask", "apart"),
        seed=figures["run"]["seed"],
        thresholds=None,
        results=Path(),
    )
    try:
        return make_plan(options).tasks, ""
    except VlgateError as error:
        return (), f"the images cannot be found again: {error}"
