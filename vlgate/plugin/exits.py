"""A model that ends the process with ``os._exit(0)`` does not end the run with status 0."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

FAILED = 1


class ExitGuard:
    """Replaces ``os._exit`` while a run asks its model, so that a status of 0 becomes ``FAILED``.

    ``os._exit`` ends the process before pytest can report anything. Processes that the model forks may end with 0.
    """

    def __init__(self, uncapture: Callable[[], object]) -> None:
        """Keep the function that ends the process; ``uncapture`` gives the standard error back to the user."""
        self.uncapture = uncapture
        self.process = os.getpid()
        self.end: Callable[[int], NoReturn] = os._exit

    def start(self) -> None:
        """Replace ``os._exit``."""
        os._exit = self._exit

    def stop(self) -> None:
        """Put ``os._exit`` back, unless something else has replaced it meanwhile."""
        if os._exit == self._exit:
            os._exit = self.end  # type: ignore[assignment]

    def _exit(self, status: int) -> NoReturn:
        if status == 0 and os.getpid() == self.process:
            message = "vlgate: os._exit(0) ended the process before the gates were judged, so the status is 1\n"
            self.uncapture()
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, message.encode())
            status = FAILED
        self.end(status)
