"""The format of ``.eval_results/*.yaml`` in a model's repository on the Hugging Face Hub (docs/hub/eval-results)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from vlgate.errors import OptionError
from vlgate.gates.deciding import first_word_doubt
from vlgate.report.exports.rows import Exported
from vlgate.report.page.sections import headline_of
from vlgate.types import UNREADABLE

DATASETS = {"winoground": "facebook/winoground"}
"""The datasets of benchmarks that their authors released on the Hub."""


def entries(run: Exported) -> tuple[list[dict[str, object]], list[str]]:
    """Return an entry for the headline metric of each task, and a sentence for each benchmark that has none.

    Raises: OptionError if there is no entry.
    """
    known = {**DATASETS, **run.datasets}
    found: list[dict[str, object]] = []
    left_out: dict[str, None] = {}
    for name, task in run.run.figures["tasks"].items():
        benchmark, _, part = name.partition("/")
        metric = headline_of(task)
        if benchmark not in known:
            left_out[f"the tasks of {benchmark} are left out: name their dataset with --dataset {benchmark}=ID"] = None
        elif task.get("ask") == "together":
            why = "its cases were asked with all their images in one prompt, which is another task than the dataset's"
            left_out[f"{name} is left out: {why}"] = None
        elif not metric:
            left_out[f"{name} is left out: none of its {task['cases']:,} cases was judged"] = None
        else:
            given = task["metrics"][metric]
            said = f"vlgate {run.run.version or 'unknown'}: {metric}, 95 % interval {given['low']:.4f} to "
            said += f"{given['high']:.4f}, {task['judged']} of {task['cases'] + task['deselected']} cases judged, "
            said += f"{task['unscored']} unscored, {task['skipped']} skipped, {task['unread']} unread"
            said += f", {lost} records that cannot be read" if (lost := task["left_out"].get(UNREADABLE)) else ""
            said += ", most first words neither yes nor no" if _meaningless(task) else ""
            entry: dict[str, object] = {"dataset": {"id": known[benchmark], "task_id": part}, "value": given["value"]}
            entry |= {"date": run.time.isoformat()}
            entry |= {"source": {"url": run.source, "name": "vlgate"}} if run.source else {}
            found.append(
                {**entry, "notes": said + (f"; incomplete: {run.run.incomplete}" if run.run.incomplete else "")}
            )
    if not found:
        raise OptionError(f"{run.run.named}: nothing to export: {next(iter(left_out), 'the run has no tasks')}")
    return found, list(left_out)


def _meaningless(task: Mapping[str, Any]) -> bool:
    weak = task.get("neither", {"replies": 0, "of": 0})
    return bool(first_word_doubt(weak["replies"], weak["of"]))


def yaml_lines(found: list[dict[str, object]]) -> Iterator[str]:
    """Yield the lines of a YAML file, whose texts are quoted as in JSON, which YAML reads alike."""
    for entry in found:
        for number, (key, value) in enumerate(entry.items()):
            begin = "- " if number == 0 else "  "
            if isinstance(value, dict):
                yield f"{begin}{key}:\n"
                yield from (f"    {name}: {json.dumps(inner)}\n" for name, inner in value.items())
            else:
                yield f"{begin}{key}: {json.dumps(value)}\n"
