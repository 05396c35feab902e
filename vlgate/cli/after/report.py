"""Write the page of a finished run again, from the files of its folder.

It needs neither the model nor torch. The drawn scenes are drawn again; other images are shown if they are still in
the data folders of the run, or in those of --data. With --earlier, each missed case says for how many releases it has
been missed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vlgate.cli import add_moved, resolved, say
from vlgate.record.folder import CASES, NAME_ANOTHER, read_run

HELP = "write report.html of a finished run again"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="the results folder of a run")
    add_moved(parser)
    earlier = "results folders of earlier runs, the oldest first (default: the run's --baseline)"
    parser.add_argument("--earlier", action="extend", nargs="+", default=[], type=Path, metavar="DIR", help=earlier)


def run(given: argparse.Namespace) -> int:
    from vlgate.report.page.page import PAGE, write_page
    from vlgate.run.planning import tasks_again

    found = read_run(given.run, f"vlgate report {given.run}")
    if not (given.run / CASES).exists():
        raise found.wrong(f"holds no {CASES}", NAME_ANOTHER)
    tasks, problem = tasks_again(found.figures, found.environment, resolved(given.data))
    earlier = [folder for folder in resolved(given.earlier) if folder != given.run.resolve()]  # --earlier results/*
    content = write_page(found, tasks, earlier)
    for line in filter(None, (problem, *content["left_out"])):
        say(f"note: {line}")
    say(given.run / PAGE)
    return 0
