"""List the models that --model takes: what each can do, its default weights, their licence and size, and if it is here.

No model is loaded, and the network is not used. The licence and the size are those of the default weights, as their
card on the hub gives them; other weights may have others.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from vlgate.cli import say, say_json
from vlgate.errors import UnknownNameError
from vlgate.report.table import Table

if TYPE_CHECKING:
    from vlgate.models.loading.catalogue import ModelEntry

_HEADINGS = ("model", "can", "default weights", "licence", "parameters", "here")


def run(given: argparse.Namespace) -> int:
    from vlgate.models.loading.catalogue import cached_weights, catalogue

    here = cached_weights()
    entries = catalogue(here)
    known = [entry.spec.name for entry in entries]
    for name in given.names:
        if name not in known:
            raise UnknownNameError("model", name, known)
    entries = [entry for entry in entries if not given.names or entry.spec.name in given.names]
    notes = given.notes or bool(given.names)
    beside: dict[str, int] = {}  # what the cache holds besides default weights; a model may still load it
    if given.notes and not given.names:
        defaults = {entry.spec.weights for entry in entries}
        beside = {name: size for name, size in sorted((here or {}).items()) if name not in defaults}
    if given.json:
        say_json([_in_json(entry) for entry in entries])
    else:
        width = shutil.get_terminal_size((0, 0)).columns  # 0: unknown, as in a pipe
        hub = [f"also in the hub's cache: {name}, {_gigabytes(size)}" for name, size in beside.items()]
        table = Table(headings=_HEADINGS, rows=[_cells(entry) for entry in entries]).text()
        if notes:
            table += [*(f"{entry.spec.name}: {remark}" for entry in entries for remark in _remarks(entry)), *hub]
        else:
            table += ["", "vlgate models NAME tells more of one model, vlgate models --notes of all"]
        fits = not given.names and (not width or max(map(len, table)) <= width)
        say(*(table if fits else _paragraphs(entries, hub, width or 80, notes=notes, full=bool(given.names))))
    return 0


def _in_json(entry: ModelEntry) -> dict[str, object]:
    spec = asdict(entry.spec)
    internal = {name: spec.pop(name) for name in ("build", "files", "classes")}
    ours = {name: value for name, value in asdict(entry).items() if name != "spec"}
    return spec | ours | {"target": entry.offered_by and internal["build"], "card": entry.card}


def _paragraphs(entries: Sequence[ModelEntry], hub: Sequence[str], width: int, *, notes: bool, full: bool) -> list[str]:
    lines: list[str] = []
    for entry in entries:
        name, can, *_ = _cells(entry)
        lines += _wrapped([f"{name}: {can}"], "", width)
        remarks = _remarks(entry) if notes else []
        card = [f"card: {entry.card}"] if entry.card and full else []
        built = [f"built by {entry.spec.build}"] if entry.offered_by and full else []
        lines += _wrapped([*_facts(entry), *remarks, *card, *built], "    ", width)
    return lines + _wrapped(hub, "", width)


def _facts(entry: ModelEntry) -> list[str]:
    _, _, weights, licence, size, here = _cells(entry)
    if entry.offered_by:
        return [f"offered by {entry.offered_by}"]
    if not entry.spec.weights:
        return [here] if entry.lacking else []
    return [f"weights: {weights}", f"licence: {licence}; parameters: {size}; {here}"]


def _wrapped(paragraphs: Sequence[str], indent: str, width: int) -> list[str]:
    wrapper = textwrap.TextWrapper(
        width, initial_indent=indent, subsequent_indent=indent or "    ", break_long_words=False, break_on_hyphens=False
    )
    return [line for paragraph in paragraphs for line in wrapper.wrap(paragraph)]


def _cells(entry: ModelEntry) -> tuple[str, ...]:
    spec = entry.spec
    if entry.offered_by:
        return spec.name, "unknown", f"from {entry.offered_by}", "unknown", "unknown", "not checked"
    can = ", ".join(spec.can) or "unknown"
    if not spec.weights:
        return spec.name, can, "required" if spec.form else "none", "-", "-", _packages(entry) or "-"
    size = "unknown" if spec.millions is None else f"{spec.millions:,} M"
    there = f"in the cache, {_gigabytes(entry.cached)}" if entry.cached else "not in the cache"
    there = "the hub's cache cannot be read" if entry.cached is None else there
    return spec.name, can, spec.weights, spec.licence or "unknown", size, _packages(entry) or there


def _packages(entry: ModelEntry) -> str:
    return f"no {', '.join(entry.lacking)}: pip install 'vlgate[{entry.spec.extra}]'" if entry.lacking else ""


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _remarks(entry: ModelEntry) -> list[str]:
    spec = entry.spec
    form = f"--model={spec.name}:WEIGHTS; WEIGHTS is {spec.form}" if spec.form else ""
    return [remark for remark in (form, spec.note) if remark]
