"""The options of commands that read the tasks of data folders, and the run options that they stand for."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from vlgate.run.options import Options


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Add ``--data`` and ``--suite``."""
    data = "a data folder; the option can be repeated (default: the folders of the variable VLGATE_DATA)"
    parser.add_argument("--data", action="append", default=[], type=Path, metavar="DIR", help=data)
    suite = "the ids of the tasks, as patterns (default: all tasks of the data folders, or the embedded scenes)"
    parser.add_argument("--suite", action="append", default=[], metavar="GLOB[,GLOB]", help=suite)


def options_of(given: argparse.Namespace) -> Options:
    """Return the options of a run with these folders and tasks."""
    named = given.data or [Path(entry) for entry in os.environ.get("VLGATE_DATA", "").split(os.pathsep) if entry]
    return Options(
        folder=Path.cwd(),
        data=tuple(folder.expanduser().resolve() for folder in named),
        suite=tuple(name for entry in given.suite for name in entry.split(",") if name),
        thresholds=None,
        results=Path.cwd() / "results",
    )
