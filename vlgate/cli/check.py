"""Check data folders and thresholds all at once, without a model: every error, the images, what is left out.

Each error is a line with its file, record and remedy. Flaws of the data, such as a caption that equals its foil, and
labels that others report as wrong are told, without being errors. Of a JPEG or PNG file only the header and the
end are read, others are decoded: a file that is empty, cut off, a pointer of Git LFS or not an image is an error.
"""

import argparse
import os
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from vlgate.audit.label_fixes import reported
from vlgate.cli import options_of, say
from vlgate.errors import DataError, OptionError, UnknownNameError
from vlgate.gates.thresholds import thresholds_errors
from vlgate.record.options import Options
from vlgate.report.remarks import grouped_flaws
from vlgate.run.census import broken, count, looked_for
from vlgate.run.concluding import flaws_of
from vlgate.run.planning import empty_lines, is_wanted, refuse_files, without_folder
from vlgate.sources.data_folders import another_folder, grouped, own_cases, read_everything
from vlgate.sources.graphs.generated import find_graphs
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import SOURCES, shapes_of
from vlgate.types import Shape, Task

SHOWN = 20  # the most faults of one file of scene graphs that are listed


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 0 if all is well, 1 if something is wrong."""
    options = options_of(given)
    known, tasks, errors = _data(options)
    errors += _graph_faults(options)
    file = given.thresholds or Path("thresholds.toml")
    if given.thresholds is not None or os.path.lexists(file):
        errors += thresholds_errors(file, known)
        say(f"{file}: checked")
    for task in tasks:
        census = count(task)
        left_out = "".join(f"; left out: {number:,} x {why}" for why, number in task.left_out.items() if number)
        if task.cases:
            say(f"{task.id}: {census}{left_out}")
        if census.missing:  # a single one leaves a case of the run unscored
            errors.append(f"{task.id}: {census.lacking}; for example {looked_for(census.missing[0])}")
    errors += broken(tasks)
    told = [*reported(tasks), *grouped_flaws(flaws_of([task for task in tasks if task.cases]))]
    errors = list(dict.fromkeys([*errors, *empty_lines([task for task in tasks if not task.cases])]))
    say(*told, *(f"wrong: {error}" for error in errors))
    say(f"{len(tasks)} tasks, {sum(len(task.cases) for task in tasks):,} cases, {len(errors)} wrong")
    return 1 if errors else 0


def _data(options: Options) -> tuple[dict[str, Shape], list[Task], list[str]]:
    refuse_files(options.data)
    found = read_everything(ReadOptions(folders=options.data, seed=0, wanted=lambda task: is_wanted(task, options)))
    known = {task: shape for name in SOURCES if name != "own" for task, shape in shapes_of(name, options.data).items()}
    known |= {task.id: task.shape for task in found.tasks}
    with suppress(DataError):
        known |= shapes_of("own", options.data)
    for pattern in options.suite:
        if not any(fnmatchcase(task, pattern) for task in known) and not found.errors:
            raise UnknownNameError("task in --suite", pattern, known, without_folder(options, pattern))
    if not found.tasks and not found.errors:
        remedy = (
            another_folder(options.data) or f"{own_cases(options.data)}; name the folder with valse/, cases.jsonl, ..."
        )
        raise OptionError(f"--data {', '.join(map(str, options.data))}: holds no data of a wanted task; {remedy}")
    return known, found.tasks, grouped(found.errors.values())


def _graph_faults(options: Options) -> list[str]:
    # Return a line for each fault of the scene graphs; of many faults of a file, the first, and how many there are
    from vlgate.sources.graphs.annotated import GraphImages
    from vlgate.sources.graphs.files import graph_faults

    reading = ReadOptions(folders=options.data, seed=0, wanted=lambda _: True)
    lines: list[str] = []
    for file in find_graphs(reading.folders):
        try:
            errors: Sequence[DataError] = graph_faults(file, GraphImages(reading, [file]).sizes(file))
        except DataError as error:
            errors = [error]
        lines += map(str, errors[:SHOWN])
        if len(errors) > SHOWN:
            lines.append(f"{file}: {len(errors) - SHOWN:,} more faults of scene graphs")
    return lines
