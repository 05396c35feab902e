"""The command ``vlgate``: what is not asked of a model, and so is no test."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from vlgate import __version__
from vlgate.errors import VlgateError

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "features": "vlgate.cli.features",
        "models": "vlgate.cli.models",
        "questions": "vlgate.cli.questions",
    },
)
"""The commands by name: a module with ``HELP``, ``add(parser)`` and ``run(arguments) -> exit status`` each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns: the exit status: 0, or 1 where something that the user gave does not fit, which one line on stderr says.
    Raises: SystemExit from argparse: with 2 where the command line cannot be read, with 0 after ``--help``.
    """
    parser = argparse.ArgumentParser(prog="vlgate", description="Questions about pictures, apart from a test run.")
    parser.add_argument("--version", action="version", version=f"vlgate {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = import_module(module)
        command.add(commands.add_parser(name, help=command.HELP, description=command.__doc__))
    given = parser.parse_args(arguments)
    try:
        status = int(import_module(COMMANDS[given.command]).run(given))
        print(end="", flush=True)  # noqa: T201  # here, and not as Python ends
    except BrokenPipeError:  # as by "| head": who reads no further is content
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else it is tried again at the end
        return 0
    except VlgateError as error:
        print(f"vlgate {given.command}: {error}", file=sys.stderr)  # noqa: T201  # what a command is for
        return 1
    return status
