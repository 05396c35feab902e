"""The files of lm-evaluation-harness: ``results_*.json``, and ``samples_*.jsonl`` with one line per case (0.4.13)."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.record.cases import CaseTable
from vlgate.report.exports.rows import Exported, beside_the_cases, replies, whole

_FILTER = "none"


def files(run: Exported) -> Iterator[tuple[str, str]]:
    date = run.time.isoformat().replace(":", "-")
    name = re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model_id)
    hashes: dict[str, str] = {}
    stems: Counter[str] = Counter()
    for task in run.run.figures["tasks"]:
        samples = [_sample(number, row) for number, row in enumerate(run.rows(task))]
        parts = ("doc_hash", "prompt_hash", "target_hash")
        hashes[task] = _hash("".join(sample[part] for sample in samples for part in parts))
        stem = re.sub(r"[^A-Za-z0-9_]", "_", task)
        stems[stem] += 1
        number = f"_{stems[stem]}" if stems[stem] > 1 else ""  # two tasks may differ only in other characters
        yield f"{name}/samples_{stem}{number}_{date}.jsonl", "".join(json.dumps(sample) + "\n" for sample in samples)
    yield f"{name}/results_{date}.json", json.dumps({**_results(run, name), "task_hashes": hashes}, indent=2) + "\n"


def _results(run: Exported, sanitized: str) -> dict[str, Any]:
    model, settings, tasks = (run.run.figures[name] for name in ("model", "run", "tasks"))
    counts = ("cases", "judged", "unscored", "skipped", "deselected", "unread")
    asked = {"output_type": "multiple_choice", "num_fewshot": 0, "repeats": 1}
    about = {
        name: {"capability": t["capability"], **{key: t[key] for key in counts}, **beside_the_cases(t)}
        for name, t in tasks.items()
    }
    configs = {name: {"task": name, **asked, "metadata": metadata} for name, metadata in about.items()}
    samples = {name: {"original": whole(t), "effective": t["judged"]} for name, t in tasks.items()}
    higher = {name: {metric: metric not in LOWER_IS_BETTER for metric in t["metrics"]} for name, t in tasks.items()}
    arguments = {"model": model["name"], "weights": model["weights"]}
    config = {"model": "vlgate", "model_args": arguments, "model_sha": model["fingerprint"]}
    return {
        "results": {name: _metrics(name, task, run.tasks[name]) for name, task in tasks.items()},
        "group_subtasks": {name: [] for name in tasks},
        "configs": configs,
        "versions": dict.fromkeys(tasks, run.run.version or None),
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": higher,
        "n-samples": samples,
        "config": {**config, "limit": settings["limit"], "random_seed": settings["seed"]},
        "date": run.time.timestamp(),
        "model_source": "vlgate",
        "model_name": run.model_id,
        "model_name_sanitized": sanitized,
    }


def _metrics(name: str, task: Mapping[str, Any], table: CaseTable) -> dict[str, Any]:
    metrics: dict[str, Any] = {"alias": name, "sample_len": task["judged"]}
    for metric, given in task["metrics"].items():
        column = table.case_metrics.get(metric, np.empty(0))
        values = column[np.isfinite(column)]
        # The standard error of the mean over the judged cases, as if they were independent, and that of the design.
        error = float(values.std(ddof=1) / values.size**0.5) * given["deff"] ** 0.5 if values.size > 1 else "N/A"
        metrics |= {f"{metric},{_FILTER}": given["value"], f"{metric}_stderr,{_FILTER}": error}
    return metrics


def _sample(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    # A case; one without a verdict has no metrics, and its document says why
    doc = {
        name: row[name] for name in ("case", "state", "images", "texts", "truths", "tags", "origin", "why", "unread")
    }
    pairs = list(zip(row["texts"], row["images"], strict=True))
    target, answers = json.dumps(row["truths"]), replies(row)
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {f"gen_args_{n}": {"arg_0": text, "arg_1": image} for n, (text, image) in enumerate(pairs)},
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "filter": _FILTER,
        "metrics": list(row["facts"]),
        "doc_hash": _hash(json.dumps(doc, sort_keys=True)),
        "prompt_hash": _hash(json.dumps(pairs)),
        "target_hash": _hash(target),
        **row["facts"],
    }


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
