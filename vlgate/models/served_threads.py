"""Tasks side by side in threads that nobody waits for: an interrupted run ends, whatever a service does meanwhile.

The threads of ``concurrent.futures`` are waited for as the process ends, which a request that hangs would put off for
as long as it may take, with all its retries.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

Reply = TypeVar("Reply")


class Threads:
    """At most ``most`` threads, which take tasks in the order in which these were given."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun = 0
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(self, task: Callable[[], Reply]) -> Future[Reply]:
        """Have a task done; what it returns or raises is the future's."""
        future: Future[Reply] = Future()
        self._waiting.put((future, task))
        if self._begun < self._most:
            self._begun += 1
            Thread(target=self._work, daemon=True).start()
        return future

    def close(self) -> None:
        """Give up the tasks that are not begun, and let the threads end after those that are."""
        try:
            while True:
                self._waiting.get_nowait()
        except Empty:
            for _ in range(self._begun):
                self._waiting.put(None)

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            _do(*task)


def _do(future: Future[Any], task: Callable[[], Any]) -> None:
    try:
        future.set_result(task())
    except BaseException as error:  # noqa: BLE001  # it is raised again where the result is asked for
        future.set_exception(error)
