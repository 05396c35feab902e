"""Write the files to start with into the current folder: thresholds.toml, my_model.py and a workflow for CI.

They work as they stand: the model is the embedded one until you replace it. No file is overwritten, but for a
thresholds.toml that is still as this command wrote it. With a data folder, by default the folder data, the gates are
about its tasks. The workflow for GitHub has an action of its own; both compare each run with the last release.
"""

from __future__ import annotations

import argparse
import os
import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vlgate.cli.ci.starters import CI, MODEL, THRESHOLDS, ci_files, thresholds_of_data, thresholds_of_run
from vlgate.cli.folders import options_of
from vlgate.errors import OptionError, VlgateError
from vlgate.recorded.folder import ENVIRONMENT, content_of
from vlgate.run.planning import make_plan

HELP = "write thresholds.toml, my_model.py and a CI workflow into this folder"
OWN = "my_model:build"
_GATES = Path("thresholds.toml")
_BASELINE = "without the folder baseline: CI keeps its own, and one that is committed stays until you commit another"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What the files are about: the model, and the options that name the data and the tasks."""

    model: str = OWN
    options: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command that starts a run."""
        return shlex.join(["pytest", "--pyargs", "tests_vl", f"--model={self.model}", *self.options])


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's option."""
    run_folder = "the results folder of a run: the same model passes the gates in 95 of 100 new samples of cases"
    parser.add_argument("--from", dest="run_folder", type=Path, metavar="RESULTS_DIR", help=run_folder)
    data = "a data folder; the option can be repeated (default: those of VLGATE_DATA, or data if it holds tasks)"
    parser.add_argument("--data", action="append", default=[], type=Path, metavar="DIR", help=data)
    place = "what runs the jobs of CI: github, gitlab or none (default: github)"
    parser.add_argument("--ci", choices=sorted(CI), default="github", metavar="PLACE", help=place)


def run(given: argparse.Namespace) -> int:
    """Write the files that are not there, and print what was written and what to do next.

    Returns: the exit status: 0, or 1 if nothing was written because all files are there.
    Raises: DataError if a data folder cannot be read; OptionError if the run cannot, or if a file cannot be written.
    """
    folder = given.run_folder
    if folder is None:
        folders, gates = _of_data(given)
        start = _Start(options=tuple(f"--data={one}" for one in folders))
    else:
        gates = thresholds_of_run(folder)
        start = _start_of(folder)
        if _untouched(given):
            _GATES.unlink()
    files = {str(_GATES): gates}
    if start.model == OWN:
        files["my_model.py"] = MODEL
    files |= ci_files(given.ci, "" if start.model == OWN else start.model, start.options)
    written = [_write(Path(name), content) for name, content in files.items()]
    steps = _first_steps(start) if folder is None else _later_steps(folder, start, gates, ours=written[0])
    lines = [f"  {number}. {step}" for number, step in enumerate(steps, 1)]
    print("\n".join(["next:", *lines]))  # noqa: T201  # what a command is for
    return 0 if any(written) else 1


def _of_data(given: argparse.Namespace) -> tuple[tuple[str, ...], str]:
    """The data folders as a run would name them, and the thresholds file for their tasks."""
    implied = not given.data and not os.environ.get("VLGATE_DATA") and Path("data").is_dir()
    options = options_of(argparse.Namespace(data=[Path("data")] if implied else given.data, suite=[]))
    folders = ("data",) if implied else tuple(map(str, given.data))
    try:
        tasks = make_plan(options).tasks if options.data else ()
    except OptionError:
        if not implied:
            raise
        tasks = ()  # a folder of this name may hold something else
    return (folders, thresholds_of_data(tasks, folders)) if tasks else ((), THRESHOLDS)


def _untouched(given: argparse.Namespace) -> bool:
    """Whether thresholds.toml is as this command wrote it without a run, so that nothing of the user is lost."""
    with suppress(OSError, ValueError, VlgateError):
        return _GATES.read_text(encoding="utf-8") in {THRESHOLDS, _of_data(given)[1]}
    return False


def _start_of(folder: Path) -> _Start:
    """The model and the data of a run; those of this folder if the run does not tell."""
    file = folder / ENVIRONMENT
    asked = content_of(file, f"--from {folder}").get("options") if file.exists() else None
    if not isinstance(asked, dict):
        return _Start()
    here = Path.cwd()
    folders = [Path(one) for one in asked.get("data", ())]
    options = [f"--data={one.relative_to(here) if one.is_relative_to(here) else one}" for one in folders]
    options += [f"--suite={','.join(asked['suite'])}"] if asked.get("suite") else []
    return _Start(model=str(asked.get("model") or OWN), options=tuple(options))


def _first_steps(start: _Start) -> list[str]:
    """What to do before there is a run."""
    first = ["put your own model into my_model.py"]
    first += [shlex.join(["vlgate", "check", *start.options])] if start.options else []
    hint = (
        ""
        if start.options
        else "\n     (with data of your own: add --data=DIR, and look at vlgate check --data DIR first)"
    )
    return [
        *first,
        f"{start.command} --results=results/first{hint}",
        "vlgate init --from results/first\n     (writes the gates that this model passes, with a margin)",
        "commit the files; CI judges the gates on every push",
    ]


def _later_steps(folder: Path, start: _Start, gates: str, *, ours: bool) -> list[str]:
    """What to do when there is a run, and gates from it; ``ours`` if they are those of the thresholds file."""
    if ours and "\n[gate." not in gates:
        remedy = "no task of that run allows a gate, and thresholds.toml says why for each: mend the data or the model"
        return [
            remedy,
            f"{start.command} --results=results/next",
            "start again from that run",
        ]
    looks = "look at the gates in thresholds.toml; max_broken = 2 in one allows two cases that a later run breaks"
    keeps = (
        f"remove thresholds.toml, if you can spare its gates, and write it from that run: vlgate init --from {folder}"
    )
    judged = f"vlgate judge {folder} --thresholds=thresholds.toml --baseline=first --results=results/judged"
    return [
        looks if ours else keeps,
        f"{judged}\n     vlgate bless results/judged\n     (keeps that run as the baseline)",
        f"{start.command} --baseline=baseline",
        f"commit the files; CI judges the gates on every push\n     ({_BASELINE})",
    ]


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
