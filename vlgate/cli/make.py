"""Make sets of cases from your own captions, answered questions, dialogs, role frames, interactions and scene graphs.

A set is a folder with cases, the reason of each, and a report on what text alone gives away.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from vlgate.cli import note, say
from vlgate.errors import OptionError
from vlgate.making.kinds import questions
from vlgate.making.kinds.kind import KINDS, Kind, kind
from vlgate.making.tools import TOOLS, ToolOptions, cache_folder

HELP = "make cases from your own captions, questions, dialogs, role frames, interactions and scene graphs"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", nargs="?", metavar="KIND", help=f"what to make: {', '.join(KINDS)}")
    parser.add_argument("--list", action="store_true", help="say what each kind makes and needs, and what is installed")
    files = "files of the inputs that the kind takes; what a file holds is told from its content"
    parser.add_argument(
        "--from", "--graphs", dest="files", nargs="+", type=Path, default=[], metavar="FILE", help=files
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder of the set; of questions, the file")
    limit = "the most cases; of questions, the most of each test (default: all)"
    parser.add_argument("--limit", type=int, metavar="N", help=limit)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of every random choice (default: 0)")
    form = "our own shape of cases, or the benchmark's own format; questions have formats of their own (default: cases)"
    parser.add_argument("--format", default="cases", metavar="NAME", help=form)
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier set in the folder")
    faults = "whether a fault in a scene graph is an error or the faulty part is left out (default: fail)"
    parser.add_argument("--faults", choices=("fail", "leave-out"), default="fail", help=faults)
    images = "the folder of the images: names get the extension that they have there, graphs the size if they lack it"
    parser.add_argument("--images", type=Path, metavar="DIR", help=images)
    prune = "drop cases that the probes of vlgate shortcuts solve, until text alone is not above chance"
    parser.add_argument("--prune-shortcuts", action="store_true", help=prune)
    _add_tools(parser)
    questions.add(parser)


def _add_tools(parser: argparse.ArgumentParser) -> None:
    for name, entry in TOOLS.items():
        default = f" (default: {entry.default})" if entry.default and "default:" not in entry.sentence else ""
        parser.add_argument(entry.option, dest=name, metavar=entry.metavar, help=f"{entry.sentence}{default}")
    parser.add_argument("--device", default="cpu", metavar="NAME", help="the device of the models (default: cpu)")
    cache = "the folder that keeps parses for the next run, or none (default: vlgate in the user's folder of caches)"
    parser.add_argument("--cache", metavar="DIR", help=cache)


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 0, or 130 if the user interrupts the command."""
    if given.list:
        for name in KINDS:
            say(*_described(kind(name)))
        return 0
    if given.kind is None:
        raise OptionError(f"KIND is missing; name one of {', '.join(KINDS)}, or give --list")
    wanted = kind(given.kind)
    for option, value in (("--from", given.files), ("--out", given.out)):
        if not value:
            raise OptionError(f"{option} is missing; vlgate make --help lists the options")
    if given.prune_shortcuts and wanted.start is None:
        raise OptionError(f"--prune-shortcuts: {wanted.name} are balanced by themselves; leave it out")
    _check_tools(wanted, given)
    try:
        return questions.run(given) if wanted.start is None else _make(wanted, given)
    except KeyboardInterrupt:
        note("interrupted; run the same command again to go on")
        return 130


def _check_tools(wanted: Kind, given: argparse.Namespace) -> None:
    # Refuse the option of a tool that the kind does not use, since the user expects it to do something
    for name, entry in TOOLS.items():
        if getattr(given, name) is not None and name not in wanted.tools:
            usable = ", ".join(TOOLS[one].option for one in wanted.tools) or "none"
            raise OptionError(f"{entry.option}: {wanted.name} does not use it; leave it out (used: {usable})")


def _make(wanted: Kind, given: argparse.Namespace) -> int:
    from vlgate.making.sets.run import Settings, make_set

    if given.format not in {"cases", "release"}:
        raise OptionError(f"--format {given.format}: expected cases or release")
    if given.limit is not None and given.limit < 1:
        raise OptionError(f"--limit {given.limit}: expected a whole number above 0")
    made = make_set(
        wanted,
        Settings(
            kind=wanted.name,
            files=tuple(given.files),
            out=given.out,
            limit=given.limit,
            seed=given.seed,
            form=cast("Literal['cases', 'release']", given.format),
            faults="fail" if given.faults == "fail" else "leave out",
            images=given.images,
            overwrite=given.overwrite,
            prune=given.prune_shortcuts,
            tools=_tools(given),
        ),
        note,
    )
    for line in _account(made.report):
        note(line)
    note(f"{len(made.items):,} cases in {given.out}")
    return 0


def _account(report: Mapping[str, Any]) -> Iterator[str]:
    inputs = report["inputs"]
    yield f"{inputs['used']:,} of {inputs['read']:,} inputs used, {report['candidates']:,} candidates"
    if inputs["images_found"] is not None:
        yield f"{inputs['images_found']:,} of {inputs['images']:,} images found"
    for part in (inputs["left_out"], report["refused"], report["dropped"]):
        for reason, number in part.items():
            yield f"left out: {number:,} x {reason}"
    blind = report["blind"]
    if report["note"]:
        yield f"beware: {report['note']}"
    value = "" if blind["value"] is None else f"{blind['value']:.3f}, "
    yield f"blind baseline: {value}{blind['why']}"
    if (found := report.get("shortcuts")) is not None:
        parts = (f"{name} {one['before']:.3f} before, {one['value']:.3f} now" for name, one in found["probes"].items())
        yield "; ".join(["text alone: " + found["why"], *parts])


def _tools(given: argparse.Namespace) -> ToolOptions:
    named: dict[str, str] = {name: value for name in TOOLS if (value := getattr(given, name)) is not None}
    cache = None if given.cache == "none" else Path(given.cache) if given.cache else cache_folder()
    return ToolOptions(named=named, device=given.device, cache=cache)


def _described(one: Kind) -> Iterator[str]:
    yield f"{one.name}: {one.sentence}"
    yield f"  takes {' or '.join(one.takes)}"
    for word, names in (("needs", one.needs), ("can use", one.uses)):
        for name in names:
            entry = TOOLS[name]
            there = "installed"
            if entry.missing:
                there = f"missing: {', '.join(entry.missing)}; pip install 'vlgate[{entry.extra}]'"
            yield f"  {word} {entry.option}, {entry.sentence} ({there})"
