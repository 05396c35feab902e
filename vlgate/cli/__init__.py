"""The command line ``vlgate``, for work around a test run: list models, make questions, find image regions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import NoReturn

from vlgate import __version__
from vlgate.cli.output import patient_output
from vlgate.errors import OptionError, ThresholdsError, UnknownNameError, VlgateError, printable

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "acuity": "vlgate.cli.acuity",
        "analyse": "vlgate.cli.after.analyse",
        "bless": "vlgate.cli.after.bless",
        "cache": "vlgate.cli.cache",
        "check": "vlgate.cli.check",
        "compare": "vlgate.cli.after.compare",
        "demo": "vlgate.cli.demo",
        "export": "vlgate.cli.after.export",
        "features": "vlgate.cli.features",
        "import": "vlgate.cli.imports",
        "init": "vlgate.cli.init",
        "judge": "vlgate.cli.after.judge",
        "keep": "vlgate.cli.after.keep",
        "make": "vlgate.cli.make",
        "merge": "vlgate.cli.after.merge",
        "misses": "vlgate.cli.after.misses",
        "models": "vlgate.cli.models",
        "report": "vlgate.cli.after.report",
        "sensitivity": "vlgate.cli.sensitivity",
        "shortcuts": "vlgate.cli.shortcuts",
        "show": "vlgate.cli.after.show",
        "tasks": "vlgate.cli.tasks",
        "votes": "vlgate.cli.votes",
    },
)
"""The commands by name: each is a module with ``HELP``, ``add(parser)`` and ``run(arguments) -> exit status``."""


WRONG_OPTION = 4
"""The exit status of a command whose options, files or names cannot be used, as that of a run."""


class _Parser(argparse.ArgumentParser):
    """Reads the arguments of a command; argparse's own status after an error is 2."""

    def error(self, message: str) -> NoReturn:
        """Say how the command is used and what is wrong, and end with ``WRONG_OPTION``."""
        self.print_usage(sys.stderr)
        self.exit(WRONG_OPTION, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command with these arguments; None means those of ``sys.argv``.

    Returns: the exit status: that of the command; after an error, which one line on stderr describes, 4 if an option, a
        file or a name cannot be used, otherwise 1.
    Raises: SystemExit from argparse: with status 4 if the command line cannot be parsed, with 0 after ``--help``.
    """
    description = "List models, make cases and find image regions for runs of vlgate, which pytest starts."
    parser = _Parser(prog="vlgate", description=description)
    parser.add_argument("--version", action="version", version=f"vlgate {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    said = sys.argv[1:] if arguments is None else arguments
    known = [name for name in said[:1] if name in COMMANDS]  # the modules of the others need not be imported
    for name in known or COMMANDS:
        command = import_module(COMMANDS[name])
        command.add(commands.add_parser(name, help=command.HELP, description=command.__doc__))
    given, unknown = parser.parse_known_args(said)
    if unknown:
        commands.choices[given.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        with patient_output():
            status = int(import_module(COMMANDS[given.command]).run(given))
    except VlgateError as error:
        begins = f"vlgate {given.command}"
        said = str(error) if str(error).startswith(f"{begins} ") else f"{begins}: {error}"
        print(said, file=sys.stderr)  # noqa: T201  # what a command is for
        wrong = isinstance(error, OptionError | ThresholdsError | UnknownNameError)
        return WRONG_OPTION if wrong else 1
    except OSError as error:
        place = printable(str(error.filename or "a file"))
        print(  # noqa: T201  # what a command is for
            f"vlgate {given.command}: {place}: cannot be read or written ({error.strerror}); name another place",
            file=sys.stderr,
        )
        return WRONG_OPTION
    return status
