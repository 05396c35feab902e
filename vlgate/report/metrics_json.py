"""``metrics.json``: the figures and decisions of a run, for machines."""

from __future__ import annotations

import json
from pathlib import Path

from vlgate.model_card import ModelCard
from vlgate.options import Options
from vlgate.results import RunResult, TableResult
from vlgate.types import Decision, Metric

SCHEMA = 1


def write_metrics(file: Path, result: RunResult, model: ModelCard, options: Options) -> None:
    """Write ``metrics.json``; equal results give equal bytes in ``tables`` and ``gates``."""
    content = {
        "schema": SCHEMA,
        "model": {
            "name": model.name,
            "weights": model.weights,
            "fingerprint": model.fingerprint,
            "replies": dict(model.ways),
            "notes": list(model.notes),
            "checks": [dict(check) for check in model.checks],
        },
        "run": {
            "seed": options.seed,
            "limit": options.limit,
            "ties": options.ties,
            "missing_images": options.missing_images,
            "suite": list(options.suite),
            "thresholds": str(options.thresholds),
            "protocols": sorted(options.protocols),
        },
        "tables": {table.table.id: _table(table) for table in result.tables},
        "averages": {name: {"value": r.value, "tables": r.tables, "of": r.of} for name, r in result.averages.items()},
        "gaps": {name: {"value": gap.value, "tables": gap.tables} for name, gap in result.gaps.items()},
        "gates": [_gate(decision) for decision in result.decisions],
    }
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _table(result: TableResult) -> dict[str, object]:
    coverage = result.coverage
    found: dict[str, object] = {
        "capability": result.table.capability,
        "cases": coverage.cases,
        "judged": coverage.judged,
        "unscored": coverage.unscored,
        "skipped": coverage.skipped,
        "deselected": coverage.deselected,
        "tied": result.tied,
        "cut": result.cut,
        "left_out": dict(result.table.left_out),
        "note": result.table.note,
        "metrics": {name: {**_metric(metric), **_blind(result, name)} for name, metric in result.metrics.items()},
        "slices": {
            name: {metric: _metric(value) for metric, value in part.items()} for name, part in result.slices.items()
        },
    }
    if result.responses:
        found["responses"] = result.responses
    if result.probes:
        found["flaws"] = {flaw.name: {"count": flaw.count, "examples": flaw.examples} for flaw in result.flaws}
        found["probes"] = {probe.name: {"value": probe.value, "n": probe.n} for probe in result.probes}
    return found


def _metric(metric: Metric) -> dict[str, float | int]:
    return {"value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n}


def _blind(result: TableResult, name: str) -> dict[str, float]:
    return {"blind": result.blind[name]} if name in result.blind else {}


def _gate(decision: Decision) -> dict[str, object]:
    gate, metric = decision.gate, decision.metric
    return {
        "gate": gate.id,
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
    }
