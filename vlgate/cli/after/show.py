"""Show one case of a finished run: what was asked, the replies, the verdict in words, and its images.

CASE is task:case, as other commands print it, or the id of a case that only one task has. The words in which the texts
differ are in bold, or in brackets if the output is not a terminal. The images are shown in a terminal that can do that
if the package textual-image is installed (kitty's protocol or sixel), and are written as PNG files otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from vlgate.cli import resolved, say
from vlgate.record.folder import read_run


def run(given: argparse.Namespace) -> int:
    from vlgate.report.missed import card_of, case_images, case_lines, draw, drawer, image_files, row_of
    from vlgate.run.planning import tasks_again

    recorded = read_run(given.run, f"vlgate show {given.run}")
    row = row_of(recorded, given.case)
    card = card_of(recorded, row)
    terminal = sys.stdout.isatty()
    say(*case_lines(card, colour=terminal and not os.environ.get("NO_COLOR")))
    if not card.pictures:
        return 0
    figures = {**recorded.figures, "tasks": {row["task"]: recorded.figures["tasks"][row["task"]]}}
    tasks, problem = tasks_again(figures, recorded.environment, resolved(given.data))
    case = next((one for task in tasks for one in task.cases if one.id == row["case"]), None)
    images = case_images(card, row, case)
    if problem:
        say(f"  note: {problem}")
    show = drawer() if terminal and given.out is None and any(image for _, image in images) else None
    if show is not None:
        draw(show, images)
        return 0
    found = any(image for _, image in images)
    folder = given.out or (Path(tempfile.mkdtemp(prefix="vlgate-")) if found else Path())
    say(*(f"  {line}" for line in image_files(images, folder)))
    return 0
