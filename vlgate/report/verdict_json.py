"""``verdict.json``: what was decided about a run, in a form that can be signed.

The file is canonical JSON after RFC 8785 with one line break behind it: keys sorted, no spaces, UTF-8, and no floats,
which are the part of JSON that programs write differently. Figures are texts with six decimals. It holds no time, path
or name of a machine, so the same replies give the same bytes, in one process or several.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate import __version__
from vlgate.comparing.changes import FIRST_RUN
from vlgate.comparing.pairing import Comparison
from vlgate.gates.records import OUTCOMES, Decision
from vlgate.recorded.verdict import SCHEMA
from vlgate.report.whole_file import write_whole
from vlgate.run.judging_again import JudgedAgain
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.results import RunResult
from vlgate.run.verdict import Digests, RunOutcome, outcome_of


def write_verdict(file: Path, run: RunResult, model: ModelCard, options: Options) -> None:
    """Write ``verdict.json``; without a judged task there is no file, and an earlier one is removed.

    Args:
        file: where to write.
        run: the result of the run.
        model: its model.
        options: its options.

    Raises: OSError if the file cannot be written or removed.
    """
    if run.digests is None:
        file.unlink(missing_ok=True)
        return
    write_whole(file, canonical(_content(run, model, options, run.digests)) + "\n")


def canonical(content: object) -> str:
    """Return JSON after RFC 8785, for content without floats and with keys of ASCII.

    Raises: TypeError if there is a float in it.

    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"é","b":[1,null]}'
    """
    _refuse_floats(content)
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise TypeError(f"canonical({value!r}): expected no floats; write a text, f'{value:.6f}'")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_floats(inner)


def _content(run: RunResult, model: ModelCard, options: Options, digests: Digests) -> dict[str, Any]:
    covered = [result.coverage for result in run.results]
    return {
        "schema": SCHEMA,
        "vlgate": __version__,
        **_ended(outcome_of(run, model)),
        **_decided(run.decisions),
        "cases": {
            name: sum(getattr(coverage, name) for coverage in covered)
            for name in ("cases", "judged", "unscored", "skipped", "deselected")
        },
        "model": {"name": model.name, "fingerprint": model.fingerprint},
        "baseline": _baseline(run.comparison),
        "run": {
            "seed": options.seed,
            "limit": options.limit,
            "ties": options.ties,
            **({} if options.shard is None else {"shard": f"{options.shard.number}/{options.shard.of}"}),
            **_first(run.decisions),
        },
        "digests": {
            "thresholds": digests.thresholds,
            "must_hold": digests.must_hold,
            "plan": digests.plan,
            "rows": digests.rows,
        },
    }


def content_again(content: Mapping[str, Any], judged: JudgedAgain) -> dict[str, Any]:
    """Return the content of ``verdict.json`` of a run whose gates were decided again.

    Args:
        content: that of the run; its cases, model, plan and rows stay as they are.
        judged: the new decisions.
    """
    made = {"thresholds": f"sha256:{judged.thresholds.digest}", "must_hold": None}
    if judged.thresholds.must_hold is not None:
        made["must_hold"] = f"sha256:{judged.thresholds.must_hold.digest}"
    return {
        **content,
        "vlgate": __version__,
        **_ended(judged.outcome),
        **_decided(judged.decisions),
        "baseline": _baseline(judged.comparison),
        "run": {name: value for name, value in content["run"].items() if name != "baseline"} | _first(judged.decisions),
        "digests": {**content["digests"], **made},
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
    """What tells that gates on a comparison were not run, because there is no earlier run."""
    return {"baseline": "first"} if any(one.why == FIRST_RUN for one in decisions) else {}


def _baseline(comparison: Comparison | None) -> dict[str, str] | None:
    earlier = None if comparison is None else comparison.earlier
    return None if earlier is None else {"name": earlier.model, "fingerprint": earlier.fingerprint}


def _decision(decision: Decision) -> dict[str, Any]:
    gate, found = decision.gate, decision.metric or decision.difference
    return {
        "gate": gate.id,
        "kind": gate.kind,
        "decision": decision.outcome,
        "min": _text(gate.min),
        "max": _text(gate.max),
        "basis": gate.basis,
        "confidence": _text(gate.confidence),
        "value": found and _text(found.value),
        "low": found and _text(found.low),
        "high": found and _text(found.high),
        "n": found and found.n,
    }


def _text(number: float | None) -> str | None:
    """A number with six decimals, and none if it is whole by its type; zero has no sign."""
    if number is None or isinstance(number, int):
        return None if number is None else str(number)
    return f"{number:.6f}".replace("-0.000000", "0.000000")
