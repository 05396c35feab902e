"""Reports of the smallest changes that break cases: in the terminal, in ``summary.md`` and in ``shrunk.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from vlgate.report.whole_file import write_whole
from vlgate.shrink.record import Shrunk

_COUNTED = {
    "whole": "not broken within their budget",
    "wrong": "not searched, because they are wrong unchanged",
    "unscored": "not searched, because they have no reply",
    "skipped": "not searched, because they have no image, or no reply to any change",
}


def shrunk_lines(searches: Sequence[Shrunk]) -> list[str]:
    """Return one line per broken case, by task and the smallest change first, and a line that counts all cases."""
    if not searches:
        return []
    broken = sorted(
        (search for search in searches if search.ending == "broken"),
        key=lambda search: (search.task, len(search.steps), search.distance or 0.0, search.case),
    )
    lines = [f"{search.task}:{search.case}: {search.says}" for search in broken]
    endings = [search.ending for search in searches]
    others = [f"{endings.count(ending)} {words}" for ending, words in _COUNTED.items() if ending in endings]
    return [*lines, "; ".join([f"{len(broken)} of {len(searches)} cases broken", *others])]


def write_shrunk(file: Path, searches: Sequence[Shrunk]) -> None:
    """Write ``shrunk.jsonl``, with one line per search that found a change."""
    lines = [json.dumps(asdict(search), ensure_ascii=False) for search in searches if search.ending == "broken"]
    write_whole(file, "".join(f"{line}\n" for line in lines))
