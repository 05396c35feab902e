"""List the models that --model takes: what each can do, its default weights, their licence and size, and what is here.

Nothing is loaded and no network is asked. A licence or size is that of the default weights, as their card on the hub
says; other weights have others.
"""

from __future__ import annotations

import argparse
import json
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from vlgate.errors import ModelLoadError, nearest

if TYPE_CHECKING:
    from vlgate.models.catalogue import Entry

HELP = "list the models that --model takes"
_HEADINGS = ("model", "can", "default weights", "licence", "parameters", "here")
_BESIDE = "in the hub's cache besides"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="these models only, with all that is known of them")
    parser.add_argument("--json", action="store_true", help="as a JSON list of objects")


def run(given: argparse.Namespace) -> int:
    """Print the list: a row a model, or a paragraph where a row is wider than the terminal or a model is named.

    Returns: the exit status, 0.
    Raises: ModelLoadError where no model has a name that was given.
    """
    from vlgate.models.catalogue import cached_weights, catalogue

    here = cached_weights()
    entries = _named(given.names, catalogue(here))
    beside = {} if given.names else _beside(entries, here or {})
    if given.json:
        lines = [json.dumps([asdict(entry) for entry in entries], indent=1)]
    else:
        width = shutil.get_terminal_size((0, 0)).columns  # 0: nothing is known of it, as in a pipe
        table = _table(entries, beside)
        fits = not given.names and (not width or max(map(len, table)) <= width)
        lines = table if fits else _paragraphs(entries, beside, width or 80, full=bool(given.names))
    print("\n".join(lines))  # noqa: T201  # what a command is for
    return 0


def _named(names: Sequence[str], entries: list[Entry]) -> list[Entry]:
    for name in names:
        if name not in (known := [entry.name for entry in entries]):
            raise ModelLoadError(f"there is no model {name!r}; {nearest(name, known)}")
    return [entry for entry in entries if not names or entry.name in names]


def _beside(entries: Sequence[Entry], here: dict[str, int]) -> dict[str, int]:
    """The repositories whose weights are in the cache and no model's default, which one of the models may take."""
    defaults = {entry.weights for entry in entries}
    return {name: size for name, size in sorted(here.items()) if name not in defaults}


def _table(entries: Sequence[Entry], beside: dict[str, int]) -> list[str]:
    rows = [_HEADINGS, *(_cells(entry) for entry in entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [f"{entry.name}: {remark}" for entry in entries for remark in _remarks(entry)]
    return lines + [f"{_BESIDE}: {name}, {_gigabytes(size)}" for name, size in beside.items()]


def _paragraphs(entries: Sequence[Entry], beside: dict[str, int], width: int, *, full: bool) -> list[str]:
    lines: list[str] = []
    for entry in entries:
        name, ways, *_ = _cells(entry)
        lines += _wrapped([f"{name}: {ways}"], "", width)
        lines += _wrapped([*_facts(entry), *_remarks(entry), *(_origin(entry) if full else [])], "    ", width)
    return lines + _wrapped([f"{_BESIDE}: {name}, {_gigabytes(size)}" for name, size in beside.items()], "", width)


def _facts(entry: Entry) -> list[str]:
    _, _, weights, licence, size, here = _cells(entry)
    if entry.offered_by:
        return [f"offered by {entry.offered_by}"]
    if not entry.weights:
        return [here] if entry.lacking else []
    return [f"weights: {weights}", f"licence: {licence}; parameters: {size}; {here}"]


def _wrapped(paragraphs: Sequence[str], indent: str, width: int) -> list[str]:
    wrapper = textwrap.TextWrapper(
        width, initial_indent=indent, subsequent_indent=indent or "    ", break_long_words=False, break_on_hyphens=False
    )
    return [line for paragraph in paragraphs for line in wrapper.wrap(paragraph)]


def _origin(entry: Entry) -> list[str]:
    card = [f"card: {entry.source}"] if entry.source else []
    return [*card, f"built by {entry.target}"]


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
    return f"in the cache, {_gigabytes(entry.cached)}" if entry.cached else "not in the cache"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _remarks(entry: Entry) -> list[str]:
    form = f"--model={entry.name}:WEIGHTS, where WEIGHTS is {entry.form}" if entry.form else ""
    return [remark for remark in (form, entry.note) if remark]
