"""The actors of a run: each is given one call after the other, and what an actor loses another one does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from vlgate.cluster.crossing import raised
from vlgate.cluster.images import ImageStore, note
from vlgate.cluster.records import Call, Failed, NotHere, Outcome, Replied, Surface, TooLarge, Wanted
from vlgate.cluster.seating import Seated, check_alike, seat_again, seat_all
from vlgate.cluster.seats import Seat
from vlgate.cluster.work import Waiting, Work
from vlgate.errors import ClusterEndedError, ModelReplyError

DEPTH = 2  # calls that an actor is given at once: the next one is on its way while the model works on the first
LOSSES = 3  # actors that may end during one call until the call is at fault
_AGAIN = 3  # actors that may take the place of one that ended while its node lived
_NET = 10.0  # seconds for the way of a call and its images, in addition to its time limit


@dataclass(slots=True, kw_only=True)
class Pool:
    """The actors. ``limit`` is the time that a call may take, in seconds; None for no limit.

    ``retried`` counts the calls that were given to another actor because one ended.
    """

    wanted: Wanted
    limit: float | None = None
    surface: Surface | None = None
    retried: int = 0
    calls: int = 0
    seats: tuple[Seat, ...] = ()
    gpus: tuple[str, ...] = ()
    _waiting: Waiting = field(default_factory=Waiting)
    _seated: list[Seated] = field(default_factory=list)
    _threads: list[Thread] = field(default_factory=list)
    _apart: set[str] = field(default_factory=set)  # nodes without the files of this run
    _images: ImageStore = field(init=False)
    _lock: Lock = field(default_factory=Lock)
    _closing: bool = False

    def start(self, places: Sequence[Seat]) -> Surface:
        """Start an actor in each seat that is free, and load the model on all of them.

        Returns: what the model shows of itself.
        Raises: ModelLoadError if no actor starts, if the model cannot be loaded on one of them, or if a node has other
            versions than this process or another model than the other nodes.
        """
        import ray

        self._images = ImageStore(ray.put)
        found = seat_all(places, self.wanted)
        self._seated = list(found)
        self.seats = tuple(one.seat for one in found)
        self.gpus = tuple(one.surface.gpu for one in found)
        self.surface = found[0].surface
        for one in found:
            self._serve(one)
        return self.surface

    @property
    def window(self) -> int:
        """The number of calls that keep all actors busy."""
        return DEPTH * max(1, len(self._seated))

    def submit(self, call: Call, items: Sequence[object]) -> Work:
        """Ask for one call; its future holds the replies."""
        work = Work(call=call, items=tuple(items))
        self._waiting.put(work)
        return work

    def plain(self, name: str, items: Sequence[object] = ()) -> Any:
        """Call a method of the model as it is, and return what it returns."""
        found = self.submit(Call(called=name, kind="plain"), items).future.result()
        if isinstance(found, TooLarge):
            raise ModelReplyError(f"{name}() of the model runs out of memory on {len(items)} items")
        return found.replies

    def note(self) -> str:
        """Return what the models note about themselves, each note once."""
        import ray

        found = []
        for one in list(self._seated):
            with suppress(ray.exceptions.RayError):
                found.append(str(ray.get(one.actor.note.remote(), timeout=_NET)))
        return "; ".join(dict.fromkeys(filter(None, found)))

    def close(self) -> None:
        """End the actors."""
        import ray

        self._closing = True
        self._waiting.close()
        for one in self._seated:
            ray.kill(one.actor)
        for thread in self._threads:
            thread.join(timeout=_NET)

    def _serve(self, one: Seated) -> None:
        for _ in range(1 if self.limit else DEPTH):  # with a limit a call must not wait for another one
            thread = Thread(target=self._give, args=(one,), daemon=True, name=f"vlgate-{one.seat.node.name}")
            self._threads.append(thread)
            thread.start()

    def _give(self, one: Seated) -> None:
        """Give an actor one call after the other, until it ends or there are no more."""
        import ray

        while one.alive and (taken := self._waiting.take()) is not None:
            number, work = taken
            try:
                outcome = self._asked(one, work)
            except ray.exceptions.GetTimeoutError:
                self._late(one, work)
            except (ray.exceptions.RayTaskError, ray.exceptions.RaySystemError) as error:
                why = f"{work.call.called}() cannot be called on the node {one.seat.node.name}: {_line(error)}"
                work.future.set_exception(ModelReplyError(why))
            except ray.exceptions.RayError as error:
                self._lost(one, number, work, error)
            except BaseException as error:  # noqa: BLE001  # whoever waits for the work raises it
                work.future.set_exception(error)
            else:
                self._settle(one, work, outcome)

    def _asked(self, one: Seated, work: Work) -> Outcome:
        node = one.seat.node.id
        outcome = self._sent(one, work, all_by_pixels=False)
        if isinstance(outcome, NotHere):
            self._apart.add(node)
            outcome = self._sent(one, work, all_by_pixels=False)
        return outcome

    def _sent(self, one: Seated, work: Work, *, all_by_pixels: bool) -> Outcome:
        import ray

        by_pixels = one.seat.node.id in self._apart
        wired = self._images.wired(work.items, by_pixels=by_pixels, all_by_pixels=all_by_pixels)
        self.calls += 1
        found: Outcome
        try:
            reference = one.actor.ask.remote(work.call, wired.items, wired.files, *wired.pixels)
        except TypeError:  # a load that cannot be pickled
            if all_by_pixels:
                raise
            return self._sent(one, work, all_by_pixels=True)
        found = ray.get(reference, timeout=self.limit and self.limit + _NET)
        return found

    def _settle(self, one: Seated, work: Work, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            work.future.set_exception(raised(outcome, one.seat.node.name))
        elif isinstance(outcome, NotHere):
            work.future.set_exception(ModelReplyError(f"{outcome.file} changed while it was read"))
        else:
            if isinstance(outcome, Replied):
                note(work.items, outcome.digests)
            work.future.set_result(outcome)

    def _lost(self, one: Seated, number: int, work: Work, error: Exception) -> None:
        """An actor ended: give its work to another one, and put an actor in its place."""
        name = one.seat.node.name
        with self._lock:
            first, one.alive = one.alive, False
            if first and one in self._seated:
                self._seated.remove(one)
        work.lost.append(name)
        if len(work.lost) >= LOSSES:
            ended = (
                f"{work.call.called}() of {len(work.items)} requests ended {LOSSES} actors, on {', '.join(work.lost)}"
            )
            remedy = "see Ray's logs of these nodes, or ask less at once with --batch-size"
            work.future.set_exception(ModelReplyError(f"{ended} ({_line(error)}); {remedy}"))
        else:
            self.retried += 1
            self._waiting.put_back(number, work)
        if first and not self._closing:
            self._replace(one, work)

    def _replace(self, one: Seated, work: Work) -> None:
        found = None
        if one.generation < _AGAIN:
            try:
                found = seat_again(one, self.wanted)
                if found is not None and self.surface is not None:
                    check_alike([found], self.surface)
            except Exception as error:  # noqa: BLE001  # whoever waits for work raises it
                self._waiting.close(str(error))
                return
        if found is not None:
            self._seated.append(found)
            self._serve(found)
        elif not self._seated:
            last = f"the last one on {one.seat.node.name} during {work.call.called}() of {len(work.items)} requests"
            ended = f"all {len(self.seats)} actors of the cluster ended, {last}"
            self._waiting.close(f"{ended}; see Ray's logs, and start the run again")

    def _late(self, one: Seated, work: Work) -> None:
        import ray

        what = f"{work.call.called}() of {len(work.items)} requests did not return within {self.limit:g} s"
        remedy = "allow more with --call-timeout, ask less at once with --batch-size, or correct the model"
        why = f"{what} on the node {one.seat.node.name}; {remedy}"
        self._waiting.close(why)
        work.future.set_exception(ClusterEndedError(why))
        one.alive = False
        ray.kill(one.actor)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
