"""The options on the command line and in the ini file: declared to pytest, and which of them the user typed."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from vlgate.record.options import SETTINGS


def add(parser: pytest.Parser) -> None:
    group = parser.getgroup("vlgate", "gates for vision-and-language models (vlgate)")
    for setting in SETTINGS.values():
        about = f"{setting.help} (default: {setting.default})"
        if setting.flag:
            group.addoption(f"--{setting.name}", dest=setting.dest, default=None, action="store_true", help=about)
            opposite = f"The opposite of --{setting.name}."
            group.addoption(f"--no-{setting.name}", dest=setting.dest, action="store_false", help=opposite)
        else:
            action = "append" if setting.many else "store"
            group.addoption(
                f"--{setting.name}", dest=setting.dest, metavar=setting.metavar, default=None, action=action, help=about
            )
        if setting.lasting:
            parser.addini(setting.ini, f"The same as --{setting.name}.", type=setting.kind, default=None)


# What the user typed, and ``--data DIR`` joined to ``--data=DIR``, so that it is not taken for a test path.
#
# pytest determines the rootdir and the ini file before it loads plugins. At that time it does not know ``--data``, and
# an existing ``DIR`` after it looks like a path to collect from: the rootdir becomes an ancestor of it, ``testpaths``
# is ignored, and the user's other tests run instead of the suite. This does not happen with ``--data=DIR``, so a
# session that was started with a space is started again with an equals sign.

AGAIN = pytest.StashKey[bool]()
"""Whether the session was started again with joined arguments, and this configuration has no session of its own."""
LISTS = MappingProxyType(
    {"help": "--help", "version": "--version", "markers": "--markers", "showfixtures": "--fixtures"}
    | {"show_fixtures_per_test": "--fixtures-per-test", "collectonly": "--collect-only"}
)
"""The options that list something instead of running a test, by the name that pytest stores them under."""


def typed(config: pytest.Config) -> argparse.Namespace:
    return config._parser.parse_known_args(list(config.invocation_params.args))  # noqa: SLF001  # what pytest calls


def ours(options: argparse.Namespace) -> list[str]:
    words = []
    for setting in SETTINGS.values():
        value = getattr(options, setting.dest, None)
        if setting.flag:
            words += [] if value is None else [f"--{'' if value else 'no-'}{setting.name}"]
        else:
            values = value if isinstance(value, list) else [] if value is None else [value]
            words += [f"--{setting.name}={one}" for one in values]
    return words


def joined(args: Sequence[str], folder: Path) -> list[str]:
    """Return the arguments with ``--option=value`` for each of our options whose value is, or will be, a path."""
    # The folder of results counts as a path: it is made while the session starts, before the workers of xdist do
    ours = {f"--{setting.name}" for setting in SETTINGS.values() if not setting.flag}
    words: list[str] = []
    for arg in args:
        if words and words[-1] in ours and (words[-1] == "--results" or (folder / arg).exists()):
            words[-1] = f"{words[-1]}={arg}"
        else:
            words.append(arg)
    return words


def start_again(config: pytest.Config) -> int | pytest.ExitCode | None:
    # PYTEST_ADDOPTS is joined too, and not restored, because the workers of xdist read it again
    folder = config.invocation_params.dir
    given, added = list(config.invocation_params.args), shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    args, more = joined(given, folder), joined(added, folder)
    if (args, more) == (given, added):
        return None
    os.environ["PYTEST_ADDOPTS"] = shlex.join(more)
    config.stash[AGAIN] = True
    return pytest.main(args, plugins=config.invocation_params.plugins)
