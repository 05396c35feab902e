"""The calls that wait for an actor, the earliest first."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from heapq import heappop, heappush
from threading import Condition

from vlgate.cluster.records import Call, Replied, TooLarge
from vlgate.errors import ClusterEndedError


@dataclass(slots=True, kw_only=True)
class Work:
    """One call on some items; ``lost`` names the nodes of the actors that ended during it."""

    call: Call
    items: tuple[object, ...]
    future: Future[Replied | TooLarge] = field(default_factory=Future)
    lost: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Waiting:
    """What waits for an actor. Work that comes back is taken first, because it was put first."""

    _heap: list[tuple[int, Work]] = field(default_factory=list)
    _changed: Condition = field(default_factory=Condition)
    _put: int = 0
    _over: str = ""  # why there is no more
    _closed: bool = False

    def put(self, work: Work) -> int:
        """Add work, and return its number, with which it can come back."""
        with self._changed:
            self._put += 1
            self._add(self._put, work)
            return self._put

    def put_back(self, number: int, work: Work) -> None:
        """Add work again that an actor did not finish."""
        with self._changed:
            self._add(number, work)

    def take(self) -> tuple[int, Work] | None:
        """Return the earliest work that somebody still waits for; None when there will be no more."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._heap or self._closed)
                if self._closed:
                    return None
                number, work = heappop(self._heap)
                if work.lost or work.future.set_running_or_notify_cancel():
                    return number, work

    def close(self, why: str = "the connection to the cluster is closed") -> None:
        """Give out no more work; whoever waits for some, now or later, gets a ClusterEndedError that says why."""
        with self._changed:
            self._closed = True
            self._over = self._over or why
            for _, work in self._heap:
                self._end(work)
            self._heap.clear()
            self._changed.notify_all()

    def _add(self, number: int, work: Work) -> None:
        if self._closed:
            self._end(work)
            return
        heappush(self._heap, (number, work))
        self._changed.notify()

    def _end(self, work: Work) -> None:
        if work.lost or work.future.set_running_or_notify_cancel():
            # Each gets an error of its own: the traceback of one that is raised again and again grows each time.
            work.future.set_exception(ClusterEndedError(self._over))
