"""``metrics.json``: the figures and decisions of a run, for programs to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vlgate.gates.records import Decision
from vlgate.recorded.folder import SCHEMA
from vlgate.report.comparison import comparison_record
from vlgate.report.controlled.files import of_one_task, of_run
from vlgate.report.whole_file import write_whole
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.results import RunResult, TaskResult
from vlgate.sources.benchmarks.scenes import SHIPPED_SEED
from vlgate.sources.benchmarks.scenes_shipped import version
from vlgate.types import Metric


def write_metrics(file: Path, run: RunResult, model: ModelCard, options: Options) -> None:
    """Write ``metrics.json``; if two runs have the same results, ``tasks`` and ``gates`` have the same bytes."""
    content = metrics_content(run, model, options)
    write_whole(file, as_written(content))


def as_written(content: Mapping[str, Any]) -> str:
    """Return the text of ``metrics.json``."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def metrics_content(run: RunResult, model: ModelCard, options: Options) -> dict[str, Any]:
    """Return the content of ``metrics.json``."""
    shown = any(result.task.benchmark == "scenes" for result in run.results)
    return {
        "schema": SCHEMA,
        "complete": not run.unfinished,
        **({"why": run.unfinished} if run.unfinished else {}),
        "model": {
            "name": model.name,
            "weights": model.weights,
            "fingerprint": model.fingerprint,
            "adapters": dict(model.adapters),
            "notes": list(model.notes),
            "checks": [asdict(check) for check in model.checks],
        },
        "run": {
            "seed": options.seed,
            "limit": options.limit,
            "quick": options.quick,
            "ties": options.ties,
            "missing_images": options.missing_images,
            "suite": list(options.suite),
            **({} if options.shard is None else {"shard": f"{options.shard.number}/{options.shard.of}"}),
            "thresholds": None if options.thresholds is None else str(options.thresholds),
            "protocols": sorted(options.protocols),
            **({"disputes": [str(file) for file in options.disputes]} if options.disputes else {}),
            "scenes": version() if shown and options.seed == SHIPPED_SEED else None,
        },
        "tasks": {result.task.id: {**_task(result), **_controls(run, result)} for result in run.results},
        "unasked": {task.id: {"shape": task.shape, "cases": len(task.cases)} for task in run.unasked},
        "averages": {
            name: {"value": mean.value, "tasks": mean.tasks, "of": mean.of} for name, mean in run.averages.items()
        },
        "gaps": {name: {"value": gap.value, "tasks": gap.tasks} for name, gap in run.gaps.items()},
        "gates": [gate_record(decision) for decision in run.decisions],
        **({"controls": of_run(run.controls)} if run.controls else {}),
        **({} if run.error_rates is None else {"error_rates": asdict(run.error_rates)}),
        **({} if run.comparison is None else {"baseline": comparison_record(run.comparison)}),
    }


def _task(result: TaskResult) -> dict[str, object]:
    coverage = result.coverage
    found: dict[str, object] = {
        "capability": result.task.capability,
        "shape": result.task.shape,
        "cases": coverage.cases,
        "judged": coverage.judged,
        "unscored": coverage.unscored,
        "skipped": coverage.skipped,
        "deselected": coverage.deselected,
        "images": result.images,
        "tied": result.tied,
        "unread": result.unread,
        "cut": result.cut,
        "left_out": dict(result.task.left_out),
        "note": result.task.note,
        "metrics": {name: {**_metric(metric), **_beside(result, name)} for name, metric in result.metrics.items()},
        "slices": {
            name: {metric: _metric(value) for metric, value in part.items()} for name, part in result.slices.items()
        },
    }
    if result.task.together:
        found["ask"] = "together"
    if coverage.copies:
        found["distinct"] = {"cases": coverage.distinct, "copies": coverage.copies}
    if coverage.disputed or coverage.corrected:
        found["disputed"] = {"left_out": coverage.disputed, "corrected": coverage.corrected}
    if result.neither[0]:
        found["neither"] = dict(zip(("replies", "of"), result.neither, strict=True))
    if result.yes_or_no:
        found["yes_or_no"] = True
    if result.responses:
        found["responses"] = result.responses
    if result.probes or result.flaws:
        found["flaws"] = {
            flaw.name: {"count": flaw.count, "examples": flaw.examples, "why": flaw.why} for flaw in result.flaws
        }
        found["probes"] = {probe.name: {"value": probe.shown, "n": probe.n} for probe in result.probes}
    return found


def _controls(run: RunResult, result: TaskResult) -> dict[str, object]:
    found = of_one_task(run.controls, result.task.id)
    return {"controls": found} if found else {}


def _metric(metric: Metric) -> dict[str, float | int]:
    return {"value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n, "deff": metric.deff}


def _beside(result: TaskResult, name: str) -> dict[str, object]:
    found: dict[str, object] = {"chance": result.chance[name]} if name in result.chance else {}
    if name in result.blind:
        blind = result.blind[name]
        found["blind"] = {"value": blind.value, "low": blind.low, "high": blind.high}
    return found


def gate_record(decision: Decision) -> dict[str, object]:
    """Return what ``metrics.json`` has of a decision."""
    gate, metric = decision.gate, decision.metric
    return {
        "gate": gate.id,
        "kind": gate.kind,
        "value": metric and metric.value,
        "low": metric and metric.low,
        "high": metric and metric.high,
        "n": metric and metric.n,
        "min": gate.min,
        "max": gate.max,
        "basis": gate.basis,
        "confidence": gate.confidence,
        "decision": decision.outcome,
        "why": decision.why,
        "reason": gate.why,
        **({} if decision.p is None else {"p": decision.p}),
        **({} if decision.counted is None else {"counted": decision.counted[0]}),
        **({} if decision.difference is None else {"difference": asdict(decision.difference)}),
    }
