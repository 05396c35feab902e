"""``badge.json``: whether the model may be released, for a badge in a README."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.gates.records import JUDGED
from vlgate.report.whole_file import write_whole
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.run.verdict import Word, outcome_of

BADGE = "badge.json"
_COLOURS: Mapping[Word, str] = MappingProxyType(
    {
        "pass": "brightgreen",
        "broken": "lightgrey",
        "fail": "red",
        "inconclusive": "yellow",
        "incomplete": "lightgrey",
        "not gated": "lightgrey",
    }
)


def badge_content(run: RunResult, model: ModelCard) -> dict[str, object]:
    """Return the badge of a run, as the endpoint of shields.io takes it (https://shields.io/badges/endpoint-badge)."""
    outcome = outcome_of(run, model)
    word, passed = outcome.verdict, outcome.outcomes.count("pass")
    judged = sum(one in JUDGED for one in outcome.outcomes)
    counts = f", {passed} of {judged} gates" if word in {"pass", "fail", "inconclusive"} else ""
    return {
        "schemaVersion": 1,
        "label": "vlgate",
        "message": f"{word}{counts if run.part is None else f', {run.part}'}",
        "color": _COLOURS[word],
        "isError": word in {"broken", "fail", "incomplete"},
    }


def write_badge(folder: Path, run: RunResult, model: ModelCard) -> None:
    """Write ``badge.json`` into the folder of a run.

    Raises: OSError if it cannot be written.
    """
    write_whole(folder / BADGE, json.dumps(badge_content(run, model), indent=1) + "\n")
