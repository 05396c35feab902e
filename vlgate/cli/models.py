"""List the models that --model takes: what each can do, its default weights, their licence and size, and what is here.

Nothing is loaded and no network is asked. A licence or size is that of the default weights, as their card on the hub
says; other weights have others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vlgate.models.catalogue import Entry

HELP = "list the models that --model takes"
_HEADINGS = ("model", "can", "default weights", "licence", "parameters", "here")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--json", action="store_true", help="as a JSON list of objects")


def run(given: argparse.Namespace) -> int:
    """Print the list.

    Returns: the exit status, 0.
    """
    from vlgate.models.catalogue import catalogue

    entries = catalogue()
    if given.json:
        _say(json.dumps([asdict(entry) for entry in entries], indent=1))
        return 0
    for line in _lines([_HEADINGS, *(_cells(entry) for entry in entries)]):
        _say(line)
    for entry in entries:
        for remark in _remarks(entry):
            _say(f"{entry.name}: {remark}")
    return 0


def _cells(entry: Entry) -> tuple[str, ...]:
    if entry.offered_by:
        return entry.name, "unknown", f"of {entry.offered_by}", "unknown", "unknown", "not looked at"
    ways = ", ".join(entry.ways) or "unknown"
    if not entry.weights:
        return entry.name, ways, "to be named" if entry.form else "none", "-", "-", _packages(entry) or "-"
    size = "unknown" if entry.millions is None else f"{entry.millions:,} M"
    return entry.name, ways, entry.weights, entry.licence or "unknown", size, _packages(entry) or _cache(entry)


def _packages(entry: Entry) -> str:
    return f"no {', '.join(entry.lacking)}: pip install 'vlgate[{entry.extra}]'" if entry.lacking else ""


def _cache(entry: Entry) -> str:
    if entry.cached is None:
        return "the hub's cache cannot be read"
    return f"in the cache, {entry.cached / 1e9:.2f} GB" if entry.cached else "not in the cache"


def _remarks(entry: Entry) -> list[str]:
    form = f"--model={entry.name}:WEIGHTS, where WEIGHTS is {entry.form}" if entry.form else ""
    return [remark for remark in (form, entry.note) if remark]


def _lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _say(line: str) -> None:
    print(line)  # noqa: T201  # what a command is for
