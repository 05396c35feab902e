"""When a request to a service may go out: a limit of requests a minute, and the pauses that the service asks for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


class Pace:
    """When the next request may go out: at most ``rpm`` a minute (0: at once), and not while the service asks to wait.

    It is shared by all threads, and changes as they use it.
    """

    def __init__(
        self, rpm: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.clock = clock
        self.sleep = sleep
        self._gap = 60.0 / rpm if rpm else 0.0
        self._next = clock()
        self._held = self._next
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Sleep until this thread's turn; a pause that the service asks for meanwhile puts it off."""
        while True:
            with self._lock:
                turn = max(self._next, self._held, self.clock())
                self._next = turn + self._gap
            if (left := turn - self.clock()) > 0:
                self.sleep(left)
            if self._held <= turn:
                return

    def hold(self, seconds: float) -> None:
        """Let nobody's turn come within so many seconds."""
        with self._lock:
            self._held = max(self._held, self.clock() + seconds)


def seconds(header: str | None, now: datetime) -> float:
    """How long ``Retry-After`` asks to wait, in seconds or as a date (RFC 9110, section 10.2.3); 0 where it is neither.

    >>> seconds("7", datetime(2025, 1, 1, tzinfo=UTC))
    7.0
    """
    text = (header or "").strip()
    if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return 0.0
