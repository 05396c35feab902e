"""A model that ends the process with ``os._exit(0)`` does not end the run with status 0, unless the run passed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import pytest

FAILED = 1


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
