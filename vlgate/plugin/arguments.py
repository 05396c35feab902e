"""A folder given as ``--data DIR``, with a space, must not be taken for a test path.

Pytest settles the rootdir and its ini file before it loads plugins. At that time ``--data`` is unknown to it, and an
existing ``DIR`` behind it looks like a path to collect from: the rootdir becomes an ancestor of it, ``testpaths`` is
lost, and the user's other tests run instead of the suite. With ``--data=DIR`` none of this happens, so a session that
was started with a space is started again with an equals sign.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from vlgate.plugin.settings import SETTINGS


def joined(args: Sequence[str], folder: Path) -> list[str]:
    """The same arguments, with ``--option=value`` for each of our options whose value is, or will be, a path.

    The folder of results is made while the session starts, and xdist's workers would meet it as a path.

    Args:
        args: as the user gave them.
        folder: where the user started.

    Returns: a new list; equal to ``args`` where nothing is to be joined.
    """
    ours = {f"--{setting.name}" for setting in SETTINGS}
    found: list[str] = []
    for arg in args:
        if found and found[-1] in ours and (found[-1] == "--results" or (folder / arg).exists()):
            found[-1] = f"{found[-1]}={arg}"
        else:
            found.append(arg)
    return found


def start_again(config: pytest.Config) -> int | pytest.ExitCode | None:
    """Run the session with joined arguments where that makes a difference; None where it does not.

    ``PYTEST_ADDOPTS`` is joined too; it stays so, for the workers of xdist read it again.
    """
    folder = config.invocation_params.dir
    given, added = list(config.invocation_params.args), shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    args, more = joined(given, folder), joined(added, folder)
    if (args, more) == (given, added):
        return None
    os.environ["PYTEST_ADDOPTS"] = shlex.join(more)
    return pytest.main(args, plugins=config.invocation_params.plugins)
