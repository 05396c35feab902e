"""The page of the commands."""

from __future__ import annotations

import argparse
from importlib import import_module

from reference.markdown import code, from_docstring, inline, prose, table
from vlgate.cli import COMMANDS, add_options

INTRODUCTION = """\
# Commands

`vlgate COMMAND` does what is not a test. `vlgate --help` lists the commands, `vlgate COMMAND --help` the options of
one, and `vlgate --version` prints the version. The exit status is 0; 4 if an option, a name or a file
cannot be used; or 1 if a command finds something wrong, as each says below. One line on stderr says what an error is
about.
"""


def page() -> str:
    """All commands, each with its arguments and options."""
    return "\n".join([INTRODUCTION, *(_command(name, module) for name, module in COMMANDS.items())])


def _command(name: str, module: str) -> str:
    command = import_module(module)
    parser = argparse.ArgumentParser(prog=f"vlgate {name}")
    add_options(parser, name)
    actions = [action for action in parser._actions if action.dest != "help"]  # noqa: SLF001  # argparse has no public list
    rows = [(_called(action), _values(action), _default(action), inline(_sentence(action))) for action in actions]
    given = table(("argument", "takes", "default", "meaning"), rows)
    return "\n".join([f"## vlgate {name}", "", prose(command), "", given, "", _status(command.run.__doc__ or ""), ""])


def _called(action: argparse.Action) -> str:
    return ", ".join(map(code, action.option_strings)) or code(action.metavar or action.dest)


def _values(action: argparse.Action) -> str:
    if action.nargs == 0:
        return "a switch"
    if action.choices is not None:
        return ", ".join(map(code, action.choices))
    metavar = str(action.metavar or action.dest.upper())
    return code(metavar) + {"+": ", one or more", "*": ", any number"}.get(str(action.nargs), "")


def _default(action: argparse.Action) -> str:
    if action.required and action.nargs not in {"*", "?"}:
        return "required"
    empty = action.default is None or action.default is False or action.default in ([], "")
    return "none" if empty else code(action.default)


def _sentence(action: argparse.Action) -> str:
    """The help of an action, without a default that has a column of its own."""
    return (action.help or "").replace(f"(default: {action.default})", "").strip()


def _status(docstring: str) -> str:
    """The exit status, as the docstring of ``run`` says it."""
    blocks = from_docstring(docstring).split("\n\n")
    found = next((block for block in blocks if block.startswith("**Returns** ")), "")
    return found.removeprefix("**Returns** ").replace("the exit status", "Exit status", 1)
