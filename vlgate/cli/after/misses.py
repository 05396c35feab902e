"""List the missed cases of a finished run, the worst first, from its files.

A case is missed by the most that a false text scores above a true one, or by the share of its wrong answers. Tasks
with the largest share of missed cases come first. Cases that were not scored or skipped are neither right nor wrong:
they are counted in the first line.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from vlgate.cli import say, say_json
from vlgate.record.folder import read_run
from vlgate.report.missed import missed_cases, missed_lines

SHOWN = 10


def run(given: argparse.Namespace) -> int:
    recorded = read_run(given.run, f"vlgate misses {given.run}")
    found = missed_cases(recorded, given.task, given.slice)
    most = None if given.all else given.limit
    if given.json:
        counts = ("task", "headline", "cases", "judged", "unscored", "skipped")
        tasks = [
            {
                **{name: getattr(task, name) for name in counts},
                "missed": len(task.missed),
                "shown": [asdict(case) for case in task.missed[:most]],
            }
            for task in found
        ]
        say_json({"run": str(given.run), "model": recorded.model, "tasks": tasks})
        return 0
    if recorded.incomplete:
        say(f"incomplete: {recorded.incomplete}")
    say(*missed_lines(found, most))
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


OPTIONS = {"limit": {"type": _count, "default": SHOWN}}
