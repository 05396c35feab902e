"""Nothing ends a session that was asked for the suite with status 0, unless a run passed or a user asked for a list."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import pytest

from vlgate.plugin.options import given
from vlgate.plugin.options.arguments import AGAIN, LISTS, ours, typed

FAILED = 1


def last_status(config: pytest.Config, status: int | pytest.ExitCode | None) -> int | pytest.ExitCode | None:
    """Return the exit status of the process: not 0 after a run that did not pass, or without one that was asked for.

    Options as ``--fixtures`` end a session before its tests, or return 0 whatever the status of the session is; so do
    plugins. A list that the user typed an option for ends with 0. One that addopts ask for does if gates are not
    required by an option.
    """
    if status or hasattr(config, "workerinput") or AGAIN in config.stash:
        return status
    hooks = config.pluginmanager.get_plugin("vlgate-run")
    if hooks is not None and (hooks.run.refusal or hooks.run.result is not None):
        return int(hooks.run.refusal) or status
    options, listing = typed(config), [flag for name, flag in LISTS.items() if config.getoption(name, None)]
    required = given.requires_gates(config)
    if any(getattr(options, name, None) for name in LISTS) or (listing and required is False):
        return status
    if not given.names_suite(config) and not (ours(options) and given.read(config).require_gates):
        return status
    why = f"{' '.join(listing)} of addopts" if listing else "something"
    remedy = "take it out, or add --no-require-gates if the list is enough" if listing else "look for a plugin"
    sys.stderr.write(f"vlgate: no gate was judged: {why} ended the session before the suite; {remedy}\n")
    return FAILED


class ExitGuard:
    """Replaces ``os._exit`` while a run asks its model, so that a status of 0 becomes that of a failed run.

    ``os._exit`` ends the process before pytest can report anything. After a run that did not pass, it stays replaced:
    threads and exit handlers of the model can call it later. Processes that the model forks may end with 0.
    """

    def __init__(self, plugins: pytest.PytestPluginManager) -> None:
        """Keep the function that ends the process; ``plugins`` may hold the one that captures the standard error."""
        self.plugins = plugins
        self.process = os.getpid()
        earlier = getattr(os._exit, "__self__", None)  # the guard of a run in this process that did not pass
        self.end: Callable[[int], NoReturn] = earlier.end if isinstance(earlier, ExitGuard) else os._exit
        self.status = FAILED
        self.when = "before the gates were judged"

    def start(self) -> None:
        """Replace ``os._exit``."""
        os._exit = self._exit

    def stop(self, status: int = 0) -> None:
        """Put ``os._exit`` back after a run that ended with status 0, unless something else has replaced it."""
        if status:
            self.status, self.when = status, "after a run that did not pass"
        elif os._exit == self._exit:
            os._exit = self.end  # type: ignore[assignment]

    def _exit(self, status: int) -> NoReturn:
        if status == 0 and os.getpid() == self.process:
            message = f"vlgate: os._exit(0) ended the process {self.when}, so the status is {self.status}\n"
            self._uncapture()
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, message.encode())
            status = self.status
        self.end(status)

    def _uncapture(self) -> None:
        capture = self.plugins.get_plugin("capturemanager")
        if capture is not None:
            capture.suspend(in_=True)
