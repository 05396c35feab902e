"""Write the page of a finished run again, from the files of its folder.

It needs neither the model nor torch. The drawn scenes are drawn again; other images are shown if they are still in
the data folders of the run, or in those of --data. With --earlier, each missed case says for how many releases it has
been missed.
"""

from __future__ import annotations

import argparse

from vlgate.cli import resolved, say
from vlgate.record.folder import CASES, NAME_ANOTHER, read_run


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
