"""The smallest changes that break a model: lines for the terminal and ``summary.md``, and ``shrunk.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from vlgate.shrink.record import Shrunk

_COUNTED = {
    "whole": "not broken within their calls",
    "wrong": "not searched, being wrong as they stand",
    "unscored": "not searched, having no reply",
    "skipped": "not searched, having no picture or no reply to a changed case",
}


def shrunk_lines(searches: Sequence[Shrunk]) -> list[str]:
    """A line a broken case, those of a table together and the nearest first, and a line that counts the others."""
    if not searches:
        return []
    broken = sorted(
        (search for search in searches if search.ending == "broken"),
        key=lambda search: (search.table, len(search.steps), search.distance or 0.0, search.case),
    )
    lines = [f"{search.table}:{search.case}: {search.says}" for search in broken]
    endings = [search.ending for search in searches]
    others = [f"{endings.count(ending)} {words}" for ending, words in _COUNTED.items() if ending in endings]
    return [*lines, "; ".join([f"{len(broken)} of {len(searches)} cases broken", *others])]


def write_shrunk(file: Path, searches: Sequence[Shrunk]) -> None:
    """Write ``shrunk.jsonl``: a line a change that was found, none for the other searches."""
    lines = [json.dumps(asdict(search), ensure_ascii=False) for search in searches if search.ending == "broken"]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
