"""``badge.json``: whether the model may be released, for a badge in a README."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.report.ci.release import ReleaseWord, release
from vlgate.report.whole_file import write_whole
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult

BADGE = "badge.json"
_COLOURS: Mapping[ReleaseWord, str] = MappingProxyType(
    {
        "PASS": "brightgreen",
        "BROKEN": "lightgrey",
        "FAIL": "red",
        "INCONCLUSIVE": "yellow",
        "INCOMPLETE": "lightgrey",
        "NOT GATED": "lightgrey",
    }
)


def badge_content(run: RunResult, model: ModelCard, failures: int = 0) -> dict[str, object]:
    """Return the badge of a run, with ``failures`` of other tests, as the endpoint of shields.io takes it (https://shields.io/badges/endpoint-badge)."""
    word = release(run, model, failures).word
    outcomes = [decision.outcome for decision in run.decisions]
    passed = outcomes.count("pass")
    judged = passed + outcomes.count("fail") + outcomes.count("inconclusive")
    counts = f", {passed} of {judged} gates" if word in {"PASS", "FAIL", "INCONCLUSIVE"} else ""
    return {
        "schemaVersion": 1,
        "label": "vlgate",
        "message": f"{word.lower()}{counts if run.part is None else f', {run.part}'}",
        "color": _COLOURS[word],
        "isError": word in {"BROKEN", "FAIL", "INCOMPLETE"},
    }


def write_badge(folder: Path, run: RunResult, model: ModelCard, failures: int = 0) -> None:
    """Write ``badge.json`` into the folder of a run; see ``release`` for the arguments.

    Raises: OSError if it cannot be written.
    """
    write_whole(folder / BADGE, json.dumps(badge_content(run, model, failures), indent=1) + "\n")
