"""List the missed cases of a finished run, the worst first, or show one case: what was asked, the replies, its images.

A case is missed by the most that a false text scores above a true one, or by the share of its wrong answers. Tasks
with the largest share of missed cases come first. Cases that were not scored or skipped are neither right nor wrong:
they are counted in the first line.

CASE is task:case, as the list prints it, or the id of a case that only one task has. The words in which the texts
differ are in bold, or in brackets if the output is not a terminal. The images are shown in a terminal that can do that
if the package textual-image is installed (kitty's protocol or sixel), and are written as PNG files otherwise.
"""

import argparse
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from vlgate.cli import chosen, refuse, resolved, say, say_json
from vlgate.record.folder import RecordedRun, read_run

SHOWN = 10


def run(given: argparse.Namespace) -> int:
    of_list = {"--slice": given.slice, "--suite": given.suite, "--all": given.all, "--json": given.json}
    if given.case is None:
        refuse({"--out": given.out, "--data": given.data}, "shows images of one case; name a CASE")
    else:
        refuse({**of_list, "--limit": given.limit}, "is for the list of missed cases; leave CASE out")
    recorded = read_run(given.run, f"vlgate show {given.run}")
    if given.case is None:
        _list(recorded, given)
    else:
        _show(recorded, given)
    return 0


def _list(recorded: RecordedRun, given: argparse.Namespace) -> None:
    from vlgate.report.missed import missed_cases, missed_lines

    found = missed_cases(recorded, chosen(given.suite, recorded.figures["tasks"], "task in --suite"), given.slice)
    most = None if given.all else given.limit or SHOWN
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
        return
    if recorded.incomplete:
        say(f"incomplete: {recorded.incomplete}")
    say(*missed_lines(found, most))


def _show(recorded: RecordedRun, given: argparse.Namespace) -> None:
    from vlgate.report.missed import card_of, case_images, case_lines, draw, drawer, image_files, row_of
    from vlgate.run.planning import tasks_again

    row = row_of(recorded, given.case)
    card = card_of(recorded, row)
    terminal = sys.stdout.isatty()
    say(*case_lines(card, colour=terminal and not os.environ.get("NO_COLOR")))
    if not card.pictures:
        return
    figures = {**recorded.figures, "tasks": {row["task"]: recorded.figures["tasks"][row["task"]]}}
    tasks, problem = tasks_again(figures, recorded.environment, resolved(given.data))
    case = next((one for task in tasks for one in task.cases if one.id == row["case"]), None)
    images = case_images(card, row, case)
    if problem:
        say(f"  note: {problem}")
    show = drawer() if terminal and given.out is None and any(image for _, image in images) else None
    if show is not None:
        draw(show, images)
        return
    has_image = any(image for _, image in images)
    folder = given.out or (Path(tempfile.mkdtemp(prefix="vlgate-")) if has_image else Path())
    say(*(f"  {line}" for line in image_files(images, folder)))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


OPTIONS = {"limit": {"type": _count}}
