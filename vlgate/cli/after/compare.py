"""Compare two runs case by case: what is newly broken, what is fixed, and the difference of each metric.

A and B are results folders; B is the later run. The cases are paired by their ids and by what they ask; runs that ask
something else are refused. With --thresholds, the gates on a comparison (max_drop, max_broken, max_churn) are decided.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from vlgate.comparing.changes import change_decisions
from vlgate.comparing.earlier import EarlierRun, read_earlier
from vlgate.comparing.pairing import LaterRun, compare
from vlgate.errors import OptionError
from vlgate.gates.correcting import corrected
from vlgate.gates.records import RELEASABLE, Decision
from vlgate.gates.thresholds import read_thresholds
from vlgate.report.comparison import comparison_lines, comparison_record
from vlgate.sources.registry import shapes

HELP = "compare two runs case by case: what is newly broken, what is fixed"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("before", type=Path, metavar="A", help="the results folder of the earlier run")
    parser.add_argument("after", type=Path, metavar="B", help="the results folder of the later run")
    parser.add_argument("--thresholds", type=Path, metavar="FILE", help="a file with gates on a comparison")
    parser.add_argument("--all", action="store_true", help="name all newly broken cases, not only the first ten")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    """Print the comparison and the decisions of the gates.

    Returns: the exit status: 1 if a gate fails or is inconclusive, else 0; 4 if the runs cannot be compared.
    """
    earlier = read_earlier(given.before, f"vlgate compare {given.before}")
    later = read_earlier(given.after, f"vlgate compare {given.after}")
    found = compare(earlier, _later(later))
    made: list[Decision] = []
    if given.thresholds is not None:
        thresholds = read_thresholds(given.thresholds, {**shapes(()), **later.shapes})
        made = [*corrected(change_decisions(thresholds, found, later.shapes, {}), thresholds.fail_correction)]
        if not made:
            raise OptionError(f"--thresholds {given.thresholds}: has no max_drop, max_broken or max_churn; write one")
    if given.json:
        gates = [{"gate": one.gate.id, "decision": one.outcome, "why": one.why} for one in made]
        print(json.dumps({**comparison_record(found), "gates": gates}, indent=1))  # noqa: T201  # what a command is for
    else:
        lines = comparison_lines(found, None if given.all else 10)
        lines += [f"{one.outcome}: {one.gate.id}: {one.why}" for one in made]
        print("\n".join(lines))  # noqa: T201  # what a command is for
    return int(any(one.outcome not in RELEASABLE for one in made))


def _later(run: EarlierRun) -> LaterRun:
    return LaterRun(
        name=run.model,
        fingerprint=run.fingerprint,
        seed=run.seed,
        ties=run.ties,
        version=run.version,
        tasks=run.tasks,
        shapes=run.shapes,
    )
