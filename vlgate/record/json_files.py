"""Write metrics.json, verdict.json and environment.json, for programs to read."""

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vlgate import __version__
from vlgate.gates.records import OUTCOMES, Decision
from vlgate.models.checkpoints.fingerprint import installed_version
from vlgate.probes.controls.control import Controlled
from vlgate.record.comparison import Comparison, comparison_record
from vlgate.record.controls import metric_record, of_one_task, of_run
from vlgate.record.digests import thresholds_digests
from vlgate.record.folder import SCHEMA
from vlgate.record.judging_again import JudgedAgain
from vlgate.record.model_card import CacheUse, ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, TaskResult
from vlgate.record.run_gates import FIRST_RUN
from vlgate.record.verdict import VERDICT_SCHEMA, RunOutcome, outcome_of
from vlgate.record.whole_file import write_whole
from vlgate.sources.scenes.scenes import SHIPPED_SEED, shipped_version

_PACKAGES = (
    "vlgate pytest pytest-xdist numpy pillow opencv-python pyarrow torch torchvision transformers open_clip_torch "
    "allure-pytest hypothesis"
).split()


def write_environment(file: Path, options: Options, workers: int, use: CacheUse) -> None:
    write_whole(file, json.dumps(environment_content(options, workers, use), indent=1) + "\n")


def environment_content(options: Options, workers: int, use: CacheUse) -> dict[str, Any]:
    def plain(value: object) -> object:
        return sorted(value) if isinstance(value, frozenset) else str(value)

    content = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "workers": workers,
        "cache": asdict(use),
        "packages": {name: number for name in _PACKAGES if (number := installed_version(name))},
        "options": asdict(options),
    }
    as_read: dict[str, Any] = json.loads(json.dumps(content, default=plain))
    return as_read


def write_metrics(file: Path, run: RunResult, model: ModelCard, options: Options) -> None:
    """Write ``metrics.json``; if two runs have the same results, ``tasks`` and ``gates`` have the same bytes."""
    write_whole(file, as_written(metrics_content(run, model, options)))


def as_written(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def metrics_content(run: RunResult, model: ModelCard, options: Options) -> dict[str, Any]:
    shown = any(result.task.benchmark == "scenes" for result in run.results)
    return {
        "schema": SCHEMA,
        "complete": not run.unfinished,
        **({"why": run.unfinished} if run.unfinished else {}),
        "model": {name: value for name, value in asdict(model).items() if name not in {"device", "cache"}},
        "run": {
            **{name: getattr(options, name) for name in ("seed", "limit", "quick", "ties", "missing_images")},
            "suite": list(options.suite),
            **({} if options.shard is None else {"shard": f"{options.shard.number}/{options.shard.of}"}),
            "thresholds": None if options.thresholds is None else str(options.thresholds),
            "protocols": sorted(options.protocols),
            **({"disputes": [str(file) for file in options.disputes]} if options.disputes else {}),
            "scenes": shipped_version() if shown and options.seed == SHIPPED_SEED else None,
        },
        "tasks": {result.task.id: _task(result, run.controls) for result in run.results},
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


_COUNTS = ("cases", "judged", "unscored", "skipped", "deselected")


def _task(result: TaskResult, controls: Iterable[Controlled]) -> dict[str, object]:
    coverage = result.coverage
    metrics: dict[str, dict[str, object]] = {}
    for name, metric in result.metrics.items():
        metrics[name] = {**metric_record(metric), **({"chance": result.chance[name]} if name in result.chance else {})}
        if name in result.blind:
            metrics[name]["blind"] = {key: getattr(result.blind[name], key) for key in ("value", "low", "high")}
    content: dict[str, object] = {
        "capability": result.task.capability,
        "shape": result.task.shape,
        **{name: getattr(coverage, name) for name in _COUNTS},
        **{name: getattr(result, name) for name in ("images", "tied", "unread", "cut")},
        "left_out": dict(result.task.left_out),
        "note": result.task.note,
        "metrics": metrics,
        "slices": {
            name: {metric: metric_record(value) for metric, value in part.items()}
            for name, part in result.slices.items()
        },
    }
    disputed = {"left_out": coverage.disputed, "corrected": coverage.corrected}
    optional: dict[str, object] = {
        "ask": "together" if result.task.together else "",
        "distinct": {"cases": coverage.distinct, "copies": coverage.copies} if coverage.copies else None,
        "disputed": disputed if any(disputed.values()) else None,
        "neither": dict(zip(("replies", "of"), result.neither, strict=True)) if result.neither[0] else None,
        "yes_or_no": result.yes_or_no,
        "responses": result.responses,
    }
    content |= {name: value for name, value in optional.items() if value}
    if result.probes or result.flaws:
        content["flaws"] = {
            flaw.name: {"count": flaw.count, "examples": flaw.examples, "why": flaw.why} for flaw in result.flaws
        }
        content["probes"] = {probe.name: {"value": probe.shown, "n": probe.n} for probe in result.probes}
    if measured := of_one_task(controls, result.task.id):
        content["controls"] = measured
    return content


def gate_record(decision: Decision) -> dict[str, object]:
    gate, metric = decision.gate, decision.metric
    return {
        "gate": gate.id,
        "kind": gate.kind,
        **{name: metric and getattr(metric, name) for name in ("value", "low", "high", "n")},
        **{name: getattr(gate, name) for name in ("min", "max", "basis", "confidence")},
        "decision": decision.outcome,
        "why": decision.why,
        "reason": gate.why,
        **({} if decision.step is None else {"step": asdict(decision.step)}),
        **({} if decision.p is None else {"p": decision.p}),
        **({} if decision.counted is None else {"counted": decision.counted[0]}),
        **({} if decision.difference is None else {"difference": asdict(decision.difference)}),
    }


# ``verdict.json`` is canonical JSON after RFC 8785 with one line break behind it: keys sorted, no spaces, UTF-8, and no
# floats, which are the part of JSON that programs write differently. Figures are texts with six decimals. It holds no
# time, path or name of a machine, so the same replies give the same bytes, in one process or several.


def write_verdict(file: Path, run: RunResult, model: ModelCard, options: Options) -> None:
    if run.digests is None:
        file.unlink(missing_ok=True)
        return
    covered = [result.coverage for result in run.results]
    content = {
        "schema": VERDICT_SCHEMA,
        "vlgate": __version__,
        **_ended(outcome_of(run, model)),
        **_decided(run.decisions),
        "cases": {name: sum(getattr(coverage, name) for coverage in covered) for name in _COUNTS},
        "model": {"name": model.name, "fingerprint": model.fingerprint},
        "baseline": _baseline(run.comparison),
        "run": {
            "seed": options.seed,
            "limit": options.limit,
            "ties": options.ties,
            **({} if options.shard is None else {"shard": f"{options.shard.number}/{options.shard.of}"}),
            **_first(run.decisions),
        },
        "digests": asdict(run.digests),
    }
    write_whole(file, canonical(content) + "\n")


def canonical(content: object) -> str:
    """Return JSON after RFC 8785, for content without floats and with keys of ASCII."""

    def refuse_floats(value: object) -> None:
        if isinstance(value, float):
            raise TypeError(f"canonical({value!r}): expected no floats; write a text, f'{value:.6f}'")
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            refuse_floats(inner)

    refuse_floats(content)
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def content_again(content: Mapping[str, Any], judged: JudgedAgain) -> dict[str, Any]:
    return {
        **content,
        "vlgate": __version__,
        **_ended(judged.outcome),
        **_decided(judged.decisions),
        "baseline": _baseline(judged.comparison),
        "run": {name: value for name, value in content["run"].items() if name != "baseline"} | _first(judged.decisions),
        "digests": {**content["digests"], **thresholds_digests(judged.thresholds)},
    }


def _ended(outcome: RunOutcome) -> dict[str, Any]:
    word = outcome.verdict
    return {"verdict": word, "status": int(word != "pass") and (outcome.status or 1), "tests": outcome.tests}


def _decided(decisions: Sequence[Decision]) -> dict[str, Any]:
    counted = Counter(decision.outcome for decision in decisions)
    return {
        "gates": {outcome: counted[outcome] for outcome in OUTCOMES},
        "decisions": [_decision(decision) for decision in decisions],
    }


def _first(decisions: Sequence[Decision]) -> dict[str, str]:
    # Gates on a comparison were not run, because there is no earlier run
    return {"baseline": "first"} if any(decision.why == FIRST_RUN for decision in decisions) else {}


def _baseline(comparison: Comparison | None) -> dict[str, str] | None:
    earlier = None if comparison is None else comparison.earlier
    return None if earlier is None else {"name": earlier.model, "fingerprint": earlier.fingerprint}


def _decision(decision: Decision) -> dict[str, Any]:
    gate, figure = decision.gate, decision.metric or decision.difference
    return {
        "gate": gate.id,
        "kind": gate.kind,
        "decision": decision.outcome,
        "min": _text(gate.min),
        "max": _text(gate.max),
        "basis": gate.basis,
        "confidence": _text(gate.confidence),
        **{name: figure and _text(getattr(figure, name)) for name in ("value", "low", "high")},
        "n": figure and figure.n,
    }


def _text(number: float | None) -> str | None:
    if number is None or isinstance(number, int):
        return None if number is None else str(number)
    return f"{number:.6f}".replace("-0.000000", "0.000000")
