"""List the missed cases of a finished run, the worst first, from its files.

A case is missed by the most that a false text scores above a true one, or by the share of its wrong answers. Tasks
with the largest share of missed cases come first. Cases that were not scored or skipped are neither right nor wrong:
they are counted in the first line.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from vlgate.cli import add_json, add_run, say, say_json
from vlgate.record.folder import read_run
from vlgate.report.missed import MissedOfTask, missed_cases, missed_lines

HELP = "list the missed cases of a finished run, the worst first"
SHOWN = 10


def add(parser: argparse.ArgumentParser) -> None:
    add_run(parser)
    parser.add_argument("--slice", default="", metavar="TAG=VALUE", help="only the cases with this tag")
    parser.add_argument("--task", default="*", metavar="PATTERN", help="only these tasks (default: all)")
    most = parser.add_mutually_exclusive_group()
    limit = f"the most cases of a task (default: {SHOWN}); the others are counted"
    most.add_argument("--limit", type=_count, default=SHOWN, metavar="N", help=limit)
    most.add_argument("--all", action="store_true", help="list all missed cases")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    recorded = read_run(given.run, f"vlgate misses {given.run}")
    found = missed_cases(recorded, given.task, given.slice)
    most = None if given.all else given.limit
    if given.json:
        say_json({"run": str(given.run), "model": recorded.model, "tasks": _tasks(found, most)})
        return 0
    if recorded.incomplete:
        say(f"incomplete: {recorded.incomplete}")
    say(*missed_lines(found, most))
    return 0


def _tasks(found: list[MissedOfTask], most: int | None) -> list[dict[str, object]]:
    return [
        {
            **{name: getattr(one, name) for name in ("task", "headline", "cases", "judged", "unscored", "skipped")},
            "missed": len(one.missed),
            "shown": [asdict(case) for case in one.missed[:most]],
        }
        for one in found
    ]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
