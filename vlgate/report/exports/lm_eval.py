"""The files of lm-evaluation-harness: ``results_*.json``, and ``samples_*.jsonl`` with one line per case (0.4.13)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.record.cases import CaseTable
from vlgate.report.exports.rows import Exported, replies

_FILTER = "none"


def files(run: Exported) -> Iterator[tuple[str, str]]:
    date = run.time.isoformat().replace(":", "-")
    folder = re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model_id)
    hashes: dict[str, str] = {}
    stems: dict[str, int] = {}
    for task in run.run.figures["tasks"]:
        samples = [_sample(number, row) for number, row in enumerate(run.rows(task))]
        joined = "".join(one["doc_hash"] + one["prompt_hash"] + one["target_hash"] for one in samples)
        hashes[task] = _hash(joined)
        lines = "".join(json.dumps(one) + "\n" for one in samples)
        stem = re.sub(r"[^A-Za-z0-9_]", "_", task)
        stems[stem] = stems.get(stem, 0) + 1
        number = f"_{stems[stem]}" if stems[stem] > 1 else ""  # two tasks may differ only in other characters
        yield f"{folder}/samples_{stem}{number}_{date}.jsonl", lines
    yield f"{folder}/results_{date}.json", json.dumps({**_results(run), "task_hashes": hashes}, indent=2) + "\n"


def _results(run: Exported) -> dict[str, Any]:
    figures, tasks = run.run.figures, run.run.figures["tasks"]
    return {
        "results": {name: _metrics(name, task, _standard_errors(run.tasks[name])) for name, task in tasks.items()},
        "group_subtasks": {name: [] for name in tasks},
        "configs": {name: _config(name, task) for name, task in tasks.items()},
        "versions": dict.fromkeys(tasks, run.run.version or None),
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {
            name: {metric: metric not in LOWER_IS_BETTER for metric in task["metrics"]} for name, task in tasks.items()
        },
        "n-samples": {
            name: {"original": task["cases"] + task["deselected"], "effective": task["judged"]}
            for name, task in tasks.items()
        },
        "config": {
            "model": "vlgate",
            "model_args": {"model": figures["model"]["name"], "weights": figures["model"]["weights"]},
            "model_sha": figures["model"]["fingerprint"],
            "limit": figures["run"]["limit"],
            "random_seed": figures["run"]["seed"],
        },
        "date": run.time.timestamp(),
        "model_source": "vlgate",
        "model_name": run.model_id,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model_id),
    }


def _metrics(name: str, task: Mapping[str, Any], errors: Mapping[str, float]) -> dict[str, Any]:
    found: dict[str, Any] = {"alias": name, "sample_len": task["judged"]}
    for metric, given in task["metrics"].items():
        error = errors.get(metric)
        found[f"{metric},{_FILTER}"] = given["value"]
        found[f"{metric}_stderr,{_FILTER}"] = "N/A" if error is None else error * given["deff"] ** 0.5
    return found


def _config(name: str, task: Mapping[str, Any]) -> dict[str, Any]:
    counts = ("cases", "judged", "unscored", "skipped", "deselected", "unread")
    return {
        "task": name,
        "output_type": "multiple_choice",
        "num_fewshot": 0,
        "repeats": 1,
        "metadata": {"capability": task["capability"], **{key: task[key] for key in counts}},
    }


def _standard_errors(table: CaseTable) -> dict[str, float]:
    """The standard error of each mean over the judged cases, as if they were independent."""
    errors = {}
    for name, column in table.case_metrics.items():
        values = column[np.isfinite(column)]
        if values.size > 1:
            errors[name] = float(values.std(ddof=1) / values.size**0.5)
    return errors


def _sample(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    # A case; one without a verdict has no metrics, and its document says why
    doc = {
        name: row[name] for name in ("case", "state", "images", "texts", "truths", "tags", "origin", "why", "unread")
    }
    pairs = list(zip(row["texts"], row["images"], strict=True))
    said = [[reply] for reply in replies(row)]
    target = json.dumps(row["truths"])
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {f"gen_args_{n}": {"arg_0": text, "arg_1": image} for n, (text, image) in enumerate(pairs)},
        "resps": said,
        "filtered_resps": [reply for [reply] in said],
        "filter": _FILTER,
        "metrics": list(row["facts"]),
        "doc_hash": _hash(json.dumps(doc, sort_keys=True)),
        "prompt_hash": _hash(json.dumps(pairs)),
        "target_hash": _hash(target),
        **row["facts"],
    }


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
