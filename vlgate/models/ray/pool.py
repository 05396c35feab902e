"""The actors of a run, each given one call after the other, and the step that sees them as one model."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from threading import Condition, Lock, Thread
from typing import Any, cast

from vlgate.asking.batching import Asking, Call, Caller
from vlgate.errors import ClusterEndedError, ModelReplyError
from vlgate.models.checkpoints.load_errors import one_line
from vlgate.models.ray import messages
from vlgate.models.ray.connecting import Seat
from vlgate.models.ray.messages import Failed, NotHere, Outcome, Replied, Surface, TooLarge, Wanted
from vlgate.models.ray.seating import Seated, check_alike, seat_again, seat_all
from vlgate.types import Match


@dataclass(slots=True, kw_only=True)
class Work:
    call: Call
    items: tuple[object, ...]
    future: Future[Replied | TooLarge] = field(default_factory=Future)
    lost: list[str] = field(default_factory=list)  # the nodes of the actors that ended during it


@dataclass(slots=True)
class Waiting:
    # Work that comes back is taken first, because it was put first.
    _heap: list[tuple[int, Work]] = field(default_factory=list)
    _changed: Condition = field(default_factory=Condition)
    _put: int = 0
    _over: str = ""  # why there is no more
    _closed: bool = False

    def put(self, work: Work, number: int | None = None) -> None:
        with self._changed:
            if number is None:
                number = self._put = self._put + 1
            if self._closed:
                self._end(work)
            else:
                heappush(self._heap, (number, work))
                self._changed.notify()

    def take(self) -> tuple[int, Work] | None:
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

    def _end(self, work: Work) -> None:
        if work.lost or work.future.set_running_or_notify_cancel():
            # Each gets an error of its own: the traceback of one that is raised again and again grows each time.
            work.future.set_exception(ClusterEndedError(self._over))


DEPTH = 2  # calls that an actor is given at once: the next one is on its way while the model works on the first
LOSSES = 3  # actors that may end during one call until the call is at fault
_AGAIN = 3  # actors that may take the place of one that ended while its node lived
_NET = 10.0  # seconds for the way of a call and its images, in addition to its time limit


@dataclass(slots=True, kw_only=True)
class Pool:
    wanted: Wanted
    limit: float | None = None  # seconds that a call may take
    surface: Surface | None = None
    retried: int = 0  # calls that were given to another actor because one ended
    calls: int = 0
    seats: tuple[Seat, ...] = ()
    gpus: tuple[str, ...] = ()
    _waiting: Waiting = field(default_factory=Waiting)
    _seated: list[Seated] = field(default_factory=list)
    _threads: list[Thread] = field(default_factory=list)
    _apart: set[str] = field(default_factory=set)  # nodes without the files of this run
    _images: messages.ImageStore = field(init=False)
    _lock: Lock = field(default_factory=Lock)
    _closing: bool = False

    def start(self, places: Sequence[Seat]) -> Surface:
        import ray

        self._images = messages.ImageStore(ray.put)
        seated = seat_all(places, self.wanted)
        self._seated = list(seated)
        self.seats = tuple(actor.seat for actor in seated)
        self.gpus = tuple(actor.surface.gpu for actor in seated)
        self.surface = seated[0].surface
        for actor in seated:
            self._serve(actor)
        return self.surface

    @property
    def window(self) -> int:
        return DEPTH * max(1, len(self._seated))

    def submit(self, call: Call, items: Sequence[object]) -> Work:
        work = Work(call=call, items=tuple(items))
        self._waiting.put(work)
        return work

    def plain(self, name: str, items: Sequence[object] = ()) -> Any:
        outcome = self.submit(Call(called=name, kind="plain"), items).future.result()
        if isinstance(outcome, TooLarge):
            raise ModelReplyError(f"{name}() of the model runs out of memory on {len(items)} items")
        return outcome.replies

    def note(self) -> str:
        import ray

        notes = []
        for seated in list(self._seated):
            with suppress(ray.exceptions.RayError):
                notes.append(str(ray.get(seated.actor.note.remote(), timeout=_NET)))
        return "; ".join(dict.fromkeys(filter(None, notes)))

    def close(self) -> None:
        import ray

        self._closing = True
        self._waiting.close()
        for seated in self._seated:
            ray.kill(seated.actor)
        for thread in self._threads:
            thread.join(timeout=_NET)

    def _serve(self, seated: Seated) -> None:
        for _ in range(1 if self.limit else DEPTH):  # with a limit a call must not wait for another one
            thread = Thread(target=self._give, args=(seated,), daemon=True, name=f"vlgate-{seated.seat.node.name}")
            self._threads.append(thread)
            thread.start()

    def _give(self, seated: Seated) -> None:
        import ray

        while seated.alive and (taken := self._waiting.take()) is not None:
            number, work = taken
            try:
                outcome = self._asked(seated, work)
            except ray.exceptions.GetTimeoutError:
                self._late(seated, work)
            except (ray.exceptions.RayTaskError, ray.exceptions.RaySystemError) as error:
                why = f"{work.call.called}() cannot be called on the node {seated.seat.node.name}: {one_line(error)}"
                work.future.set_exception(ModelReplyError(why))
            except ray.exceptions.RayError as error:
                self._lost(seated, number, work, error)
            except BaseException as error:  # noqa: BLE001  # whoever waits for the work raises it
                work.future.set_exception(error)
            else:
                work.future.set_result(outcome)

    def _asked(self, seated: Seated, work: Work) -> Replied | TooLarge:
        outcome = self._sent(seated, work)
        if isinstance(outcome, NotHere):
            self._apart.add(seated.seat.node.id)
            outcome = self._sent(seated, work)
        if isinstance(outcome, NotHere):
            raise ModelReplyError(f"{outcome.file} changed while it was read")
        if isinstance(outcome, Failed):
            raise messages.raised(outcome, seated.seat.node.name)
        if isinstance(outcome, Replied):
            messages.note(work.items, outcome.digests)
        return outcome

    def _sent(self, seated: Seated, work: Work, *, all_by_pixels: bool = False) -> Outcome:
        import ray

        by_pixels = seated.seat.node.id in self._apart
        wired = self._images.wired(work.items, by_pixels=by_pixels, all_by_pixels=all_by_pixels)
        self.calls += 1
        try:
            reference = seated.actor.ask.remote(work.call, wired.items, wired.files, *wired.pixels)
        except TypeError:  # a load that cannot be pickled
            if all_by_pixels:
                raise
            return self._sent(seated, work, all_by_pixels=True)
        outcome: Outcome = ray.get(reference, timeout=self.limit and self.limit + _NET)
        return outcome

    def _lost(self, seated: Seated, number: int, work: Work, error: Exception) -> None:
        name = seated.seat.node.name
        with self._lock:
            first, seated.alive = seated.alive, False
            if first and seated in self._seated:
                self._seated.remove(seated)
        work.lost.append(name)
        if len(work.lost) >= LOSSES:
            ended = (
                f"{work.call.called}() of {len(work.items)} requests ended {LOSSES} actors, on {', '.join(work.lost)}"
            )
            remedy = "see Ray's logs of these nodes, or ask less at once with --batch-size"
            work.future.set_exception(ModelReplyError(f"{ended} ({one_line(error)}); {remedy}"))
        else:
            self.retried += 1
            self._waiting.put(work, number)
        if first and not self._closing:
            self._replace(seated, work)

    def _replace(self, seated: Seated, work: Work) -> None:
        successor = None
        if seated.generation < _AGAIN:
            try:
                successor = seat_again(seated, self.wanted)
                if successor is not None and self.surface is not None:
                    check_alike([successor], self.surface)
            except Exception as error:  # noqa: BLE001  # whoever waits for work raises it
                self._waiting.close(str(error))
                return
        if successor is not None:
            self._seated.append(successor)
            self._serve(successor)
        elif not self._seated:
            last = f"the last one on {seated.seat.node.name} during {work.call.called}() of {len(work.items)} requests"
            ended = f"all {len(self.seats)} actors of the cluster ended, {last}"
            self._waiting.close(f"{ended}; see Ray's logs, and start the run again")

    def _late(self, seated: Seated, work: Work) -> None:
        import ray

        what = f"{work.call.called}() of {len(work.items)} requests did not return within {self.limit:g} s"
        remedy = "allow more with --call-timeout, ask less at once with --batch-size, or correct the model"
        why = f"{what} on the node {seated.seat.node.name}; {remedy}"
        self._waiting.close(why)
        work.future.set_exception(ClusterEndedError(why))
        seated.alive = False
        ray.kill(seated.actor)


class RemoteModel:
    """A model on actors, as the run sees it: with exactly those methods of ``vlgate.types`` that the model has."""

    # The methods of ``ASKED`` are called through ``OverActors`` only.
    def __init__(self, pool: Pool, surface: Surface) -> None:
        self.pool = pool
        self.cut_texts: set[str] = set()
        self.neither: set[Match] = set()
        self.image_names = surface.image_names
        if surface.threshold is not None:
            self.decision_threshold = surface.threshold
        for name in surface.methods:
            if name in messages.ASKED:
                setattr(self, name, partial(self._through_caller, name))
            elif name in messages.PLAIN:
                setattr(self, name, partial(pool.plain, name))
        if surface.prepares:
            self.prepare = partial(self._through_caller, "prepare")

    @property
    def note(self) -> str:
        again = self.pool.retried
        said = f"{again} calls were given to another actor of the cluster because one ended" if again else ""
        gpus = sorted({gpu for gpu in self.pool.gpus if gpu})
        mixed = f"scored on GPUs of {len(gpus)} kinds ({', '.join(gpus)}), whose last digits differ" if gpus[1:] else ""
        return "; ".join(filter(None, (self.pool.note(), said, mixed)))

    @staticmethod
    def _through_caller(name: str, _: Sequence[Any]) -> object:
        raise TypeError(f"{name}() of a model on a cluster is called through its actors")


@dataclass(frozen=True, slots=True)
class OverActors:
    # The chunks, their order, and what follows if a model runs out of memory or raises are those of ``in_batches``:
    # what was asked after the chunk concerned is thrown away and asked again as one process would ask it.

    model: RemoteModel

    def __call__(self, caller: Caller, _: Asking, call: Call, items: Sequence[Any]) -> list[Any]:
        replies: list[Any] = []
        flying: deque[Work] = deque()
        sent, pool, call = 0, self.model.pool, replace(call, method=None)  # the actors have the method
        try:
            while len(replies) < len(items):
                while sent < len(items) and len(flying) < pool.window:
                    flying.append(pool.submit(call, items[sent : sent + caller.size]))
                    sent += len(flying[-1].items)
                work = flying[0]
                outcome = work.future.result()
                if isinstance(outcome, TooLarge):
                    caller.size, sent = len(work.items) // 2, len(replies)
                    _drop(flying)
                    continue
                flying.popleft()
                self.model.cut_texts.update(outcome.cut)
                if outcome.neither:
                    self.model.neither.update(cast("Match", work.items[place]) for place in outcome.neither)
                replies += cast("list[Any]", outcome.replies)
        finally:
            _drop(flying)
        return replies


def _drop(flying: deque[Work]) -> None:
    for work in flying:
        work.future.cancel()
    flying.clear()
