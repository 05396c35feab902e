"""Calling the methods of a model that is on several actors, in the same batches as one process would."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from vlgate.cluster.pool import Pool
from vlgate.cluster.records import Call, TooLarge
from vlgate.cluster.remote_model import RemoteModel
from vlgate.cluster.work import Work
from vlgate.inference.batching import Caller, Problem
from vlgate.types import FloatArray, Match

Item = TypeVar("Item")
Reply = TypeVar("Reply")


@dataclass(slots=True, kw_only=True)
class ClusterCaller(Caller):
    """A ``Caller`` whose calls are made by actors, several at a time.

    The chunks, their order, and what follows if a model runs out of memory or raises are those of a ``Caller``: what
    was asked after the chunk concerned is thrown away and asked again as the caller would ask it.
    """

    model: RemoteModel

    @property
    def _pool(self) -> Pool:
        return self.model.pool

    def numbers(
        self,
        items: Sequence[Item],
        method: Callable[[Sequence[Item]], object],  # noqa: ARG002  # the actors have it
        called: str,
        *,
        nan: bool = False,
    ) -> list[float | Problem]:
        """See ``Caller.numbers``; the method ``called`` of the model is called, whatever ``method`` is."""
        return cast("list[float | Problem]", self._over(items, Call(called=called, kind="numbers", nan=nan)))

    def rows(
        self,
        items: Sequence[Item],
        method: Callable[[Sequence[Item]], object],  # noqa: ARG002  # the actors have it
        called: str,
    ) -> list[FloatArray | Problem]:
        """See ``Caller.rows`` and ``numbers``."""
        return cast("list[FloatArray | Problem]", self._over(items, Call(called=called, kind="rows")))

    def strings(
        self,
        items: Sequence[Item],
        method: Callable[[Sequence[Item]], object],  # noqa: ARG002  # the actors have it
        called: str,
    ) -> list[str | Problem]:
        """See ``Caller.strings`` and ``numbers``."""
        return cast("list[str | Problem]", self._over(items, Call(called=called, kind="strings")))

    def _over(self, items: Sequence[Item], call: Call) -> list[object]:
        found: list[object] = []
        flying: deque[Work] = deque()
        sent = 0
        try:
            while len(found) < len(items):
                while sent < len(items) and len(flying) < self._pool.window:
                    flying.append(self._pool.submit(call, items[sent : sent + self.size]))
                    sent += len(flying[-1].items)
                work = flying[0]
                outcome = work.future.result()
                if isinstance(outcome, TooLarge):
                    self.size, sent = len(work.items) // 2, len(found)
                    _drop(flying)
                    continue
                flying.popleft()
                self.model.cut_texts.update(outcome.cut)
                if outcome.neither:
                    self.model.neither.update(cast("Match", work.items[place]) for place in outcome.neither)
                found += cast("list[object]", outcome.replies)
        finally:
            _drop(flying)
        return found


def _drop(flying: deque[Work]) -> None:
    for work in flying:
        work.future.cancel()
    flying.clear()
