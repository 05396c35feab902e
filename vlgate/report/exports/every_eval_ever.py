"""The format of Every Eval Ever (github.com/evaleval/every_eval_ever): figures, and one line per case.

Its schemas are ``eval.schema.json`` and ``instance_level_eval.schema.json``, version 0.3.0. There is a file per
benchmark, at the path that its collection asks for.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b, sha256
from typing import Any
from uuid import UUID

from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.metrics.shapes import SHAPES
from vlgate.report.exports.rows import Exported, beside_the_cases, replies
from vlgate.report.page.sections import headline_of
from vlgate.sources.registry import measures

VERSION = "0.3.0"
_UNDIRECTED = frozenset(metric for spec in SHAPES.values() for metric in spec.undirected)


def files(run: Exported) -> Iterator[tuple[str, str]]:
    tasks = run.run.figures["tasks"]
    developer, _, model = run.model_id.rpartition("/")
    for benchmark in dict.fromkeys(name.partition("/")[0] for name in tasks):
        own = {name: task for name, task in tasks.items() if name.partition("/")[0] == benchmark}
        parts = (re.sub(r"[^\w.-]", "_", part).strip(".") for part in (benchmark, developer, model))
        identity = "\0".join((run.run.figures["model"]["fingerprint"], run.run.model, benchmark, run.time.isoformat()))
        uuid = UUID(bytes=blake2b(identity.encode(), digest_size=16).digest(), version=4)
        stem = f"data/{'/'.join(part or 'unknown' for part in parts)}/{uuid}"
        named = f"{benchmark}/{run.model_id}/{int(run.time.timestamp())}"
        rows = ((headline_of(task), row) for name, task in own.items() for row in run.rows(name))
        instances = "".join(json.dumps(_instance(run, named, headline, row)) + "\n" for headline, row in rows)
        results = [_result(name, task, metric) for name, task in own.items() for metric in task["metrics"]]
        details = {"format": "jsonl", "file_path": f"{stem}_samples.jsonl", "hash_algorithm": "sha256"}
        counted = {"checksum": sha256(instances.encode()).hexdigest(), "total_rows": instances.count("\n")}
        figures = {**_head(run, named), "evaluation_results": results}
        figures["detailed_evaluation_results"] = {**details, **counted}
        yield f"{stem}.json", json.dumps(figures, indent=2) + "\n"
        yield f"{stem}_samples.jsonl", instances


def _head(run: Exported, named: str) -> dict[str, Any]:
    model, settings = run.run.figures["model"], run.run.figures["run"]
    details = {"deployment_type": "self_deployed", "model_availability": "unknown", "fingerprint": model["fingerprint"]}
    details |= {f"adapter for {kind}": how for kind, how in model["adapters"].items()}
    source = {"source_name": "vlgate", "source_type": "evaluation_run", "source_organization_name": run.organization}
    source["evaluator_relationship"] = run.relationship
    library = {"seed": str(settings["seed"]), "ties": settings["ties"]}
    return {
        "schema_version": VERSION,
        "evaluation_id": named,
        "evaluation_timestamp": run.time.isoformat(),
        "retrieved_timestamp": str(int(run.time.timestamp())),
        "source_metadata": {**source, "additional_details": {"complete": str(not run.run.incomplete).lower()}},
        "eval_library": {"name": "vlgate", "version": run.run.version or "unknown", "additional_details": library},
        "model_info": {"name": run.run.model, "id": run.model_id, "additional_details": details},
    }


def _result(name: str, task: Mapping[str, Any], metric: str) -> dict[str, Any]:
    figure = task["metrics"][metric]
    counts = ("cases", "judged", "unscored", "skipped", "deselected", "unread", "images")
    counted = {**{key: task[key] for key in counts}, **beside_the_cases(task)}
    details = {**{key: str(count) for key, count in counted.items()}, "chance": str(figure.get("chance", "unknown"))}
    direction = {"additional_details": {"direction": "none: a preference"}} if metric in _UNDIRECTED else {}
    described: dict[str, Any] = {"evaluation_description": measures(name), "metric_id": metric, "metric_name": metric}
    described |= {"metric_unit": "proportion", "lower_is_better": metric in LOWER_IS_BETTER}
    scale = {"score_type": "continuous", "min_score": 0.0, "max_score": 1.0}
    interval = {"lower": figure["low"], "upper": figure["high"], "confidence_level": 0.95}
    return {
        "evaluation_result_id": f"{name}:{metric}",
        "evaluation_name": name,
        "source_data": {"dataset_name": name, "source_type": "other"},
        "metric_config": {**described, **scale, **direction},
        "score_details": {
            "score": figure["value"],
            "details": details,
            "uncertainty": {"confidence_interval": interval, "num_samples": figure["n"]},
        },
    }


def _instance(run: Exported, named: str, headline: str, row: Mapping[str, Any]) -> dict[str, Any]:
    # A case; one without a verdict has an error, because the format has no other way to say that it has no score
    keys = (f"image {key}: " if key is not None else "" for key in row["images"])
    raw = "\n".join(f"{key}{text}" for key, text in zip(keys, row["texts"], strict=True))
    tags = {f"tag {tag}": str(value) for tag, value in row["tags"].items()}
    return {
        "schema_version": VERSION,
        "evaluation_id": named,
        "model_id": run.model_id,
        "evaluation_name": row["task"],
        **({"evaluation_result_id": f"{row['task']}:{headline}"} if headline else {}),
        "sample_id": row["case"],
        "sample_hash": sha256((raw + "".join(row["truths"])).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": row["truths"]},
        "output": {"raw": replies(row)},
        "answer_attribution": [],
        "evaluation": {"score": row["facts"].get(headline, 0.0), "is_correct": bool(row["right"])},
        "error": None if row["state"] == "judged" else f"{row['state']}: {row['why']}",
        "metadata": {"state": row["state"], "unread": str(row["unread"]).lower(), "why": row["why"] or "", **tags},
    }
