"""Join the parts of a run, which were asked with --shard=I/N, and judge the gates once.

The parts must be those of one run: of the same model, data, seed, options and versions, none missing and none named
twice. Neither the model nor torch is needed, but the data are, because they hold the truths. The files and the exit
status are those of one run that asks all cases.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vlgate.audit.label_fixes import place_of
from vlgate.cli import say
from vlgate.errors import OptionError
from vlgate.record.comparison import read_earlier
from vlgate.record.folder import RecordedPart, read_part, titled
from vlgate.record.options import FIRST, Options, baseline_of, in_ci, options_from

HELP = "join the parts of a run (--shard) and judge the gates once"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", type=Path, nargs="+", metavar="DIR", help="the results folder of a part")
    parser.add_argument("--results", type=Path, metavar="DIR", required=True, help="the folder for the run's files")
    data = "the place of a data folder on this machine; the option can be repeated (default: as in the parts)"
    parser.add_argument("--data", action="append", default=[], type=Path, metavar="DIR", help=data)
    disputes = "the place of a file of disputes on this machine; the option can be repeated (default: as in the parts)"
    parser.add_argument("--disputes", action="append", default=[], type=Path, metavar="FILE", help=disputes)
    thresholds = "the file with the gates (default: that of the parts)"
    parser.add_argument("--thresholds", type=Path, metavar="FILE", help=thresholds)
    baseline = "the results folder of an earlier run, to compare with, or first (default: that of the parts)"
    parser.add_argument("--baseline", metavar="DIR|first", help=baseline)
    gates = "whether a run without a judged gate ends with status 1 (default: as in the parts, or on if CI is set)"
    parser.add_argument("--require-gates", action=argparse.BooleanOptionalAction, default=None, help=gates)
    parser.add_argument("--overwrite", action="store_true", help="replace the files of a run in --results")


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 1 if a gate does not pass or a case could not be scored; nothing is written with 4."""
    from vlgate.cli.after.merged_run import closing_lines, status_of, write_joined
    from vlgate.run.merging import in_order, join

    _refuse_own_folder(given.parts, given.results)
    _refuse_twice(given.parts)
    parts = in_order([read_part(folder) for folder in given.parts], thresholds=given.thresholds is None)
    options = _options(parts, given)
    named = options.baseline
    earlier = read_earlier(named, f"--baseline {named}") if isinstance(named, Path) else None
    joined = join(parts, options, earlier, own_thresholds=given.thresholds is not None)
    joined, problems = write_joined(joined, parts, os.environ.get("GITHUB_STEP_SUMMARY", ""))
    say(*closing_lines(joined, titled(joined.card.name, joined.card.weights), problems))
    return status_of(joined)


def _options(parts: Sequence[RecordedPart], given: argparse.Namespace) -> Options:
    try:
        found = [options_from(part.content["environment"]["options"]) for part in parts]
    except (ValueError, TypeError, KeyError):
        raise parts[0].wrong("the options of the part are not those of this version") from None
    first, here = found[0], Path.cwd()
    required = given.require_gates
    named = next((one.baseline for one in found if one.baseline != FIRST), FIRST)  # all parts must say that it is first
    options = replace(
        first,
        folder=here,
        data=tuple(folder.expanduser().resolve() for folder in given.data) or first.data,
        disputes=tuple(place_of(file, here) for file in given.disputes) or first.disputes,
        thresholds=first.thresholds if given.thresholds is None else here / given.thresholds,
        baseline=named if given.baseline is None else baseline_of(given.baseline, here),
        require_gates=any(one.require_gates for one in found) or in_ci() if required is None else required,
        results=here / given.results,
        overwrite=given.overwrite,
        shard=None,
    )
    _refuse_absent(options)
    return options


def _refuse_absent(options: Options) -> None:
    for folder in options.data:
        if not folder.is_dir():
            raise OptionError(f"the data folder {folder} of the parts is not on this machine; name it with --data DIR")
    if options.thresholds is not None and not options.thresholds.is_file():
        raise OptionError(f"the thresholds file {options.thresholds} is not there; name one with --thresholds FILE")


def _refuse_own_folder(parts: Sequence[Path], results: Path) -> None:
    if any(folder.resolve() == results.resolve() for folder in parts):
        raise OptionError(f"--results {results}: is the folder of a part; name another folder")


def _refuse_twice(parts: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for folder in parts:
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            which = f"{folder}" if f"{folder}" == f"{first}" else f"{first}, also as {folder},"
            raise OptionError(f"{which} is given twice; name each part once")
