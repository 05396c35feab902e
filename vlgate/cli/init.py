"""Write the files to start with into the current folder: thresholds.toml, my_model.py and a workflow for CI.

They work as they stand: the model is the embedded one until you replace it. No file is overwritten. The workflow for
GitHub has an action of its own; both compare each run with the last one of the default branch that passed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vlgate.cli.ci.starters import CI, FILES, ci_files, thresholds_of_run
from vlgate.errors import OptionError

HELP = "write thresholds.toml, my_model.py and a CI workflow into this folder"
NEXT = """\
next:
  1. put your own model into my_model.py
  2. pytest --pyargs tests_vl --model=my_model:build --results=results/first
     (with data: add --data=DIR, and look at vlgate check --data DIR and vlgate tasks --data DIR first)
  3. set the gates in thresholds.toml, or remove it and write it from that run: vlgate init --from results/first
  4. commit the files; CI judges the gates on every push"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's option."""
    run_folder = "the results folder of a run; each gate stands at the lower end of its interval"
    parser.add_argument("--from", dest="run_folder", type=Path, metavar="RESULTS_DIR", help=run_folder)
    place = "what runs the jobs of CI: github, gitlab or none (default: github)"
    parser.add_argument("--ci", choices=sorted(CI), default="github", metavar="PLACE", help=place)


def run(given: argparse.Namespace) -> int:
    """Write the files that are not there, and print what was written and what to do next.

    Returns: the exit status: 0, or 1 if nothing was written because all files are there.
    Raises: DataError if the results folder cannot be read; OptionError if a file cannot be written.
    """
    files = {**FILES, **ci_files(given.ci)}
    if given.run_folder is not None:
        files["thresholds.toml"] = thresholds_of_run(given.run_folder)
    written = [_write(Path(name), content) for name, content in files.items()]
    print(NEXT)  # noqa: T201  # what a command is for
    return 0 if any(written) else 1


def _write(file: Path, content: str) -> bool:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(content)
    except FileExistsError:
        print(f"kept: {file} (it is there already; remove it to get a new one)")  # noqa: T201
        return False
    except OSError as error:
        raise OptionError(f"{file}: cannot be written ({error.strerror}); start in another folder") from None
    print(f"wrote: {file}")  # noqa: T201
    return True
