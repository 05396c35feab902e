"""Ask the requests of coming pytest items ahead: in one full batch, or in several calls at a time on a cluster."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Thread

from vlgate.asking.batching import Caller
from vlgate.asking.image_prefetch import inputs_ahead
from vlgate.asking.items import by_image, requests_of
from vlgate.asking.predictor import ModelPredictor
from vlgate.types import Batch, Prediction, Request

# With one case per item, a model would be called on two or four requests at a time. In a run without workers the order
# of the items is known, so the requests of the next items are asked together with those of the first one, and kept;
# four batches at once if the inputs of the next batch are made beside a GPU.


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchingPredictor:
    # ``alone`` holds the requests of calls that raised: they are not prefetched, nor anything with them.

    predictor: ModelPredictor
    queue: deque[Request]
    known: dict[Request, Prediction] = field(default_factory=dict)
    alone: set[Request] = field(default_factory=set)

    def predict(self, requests: Iterable[Request]) -> dict[Request, Prediction]:
        # If the model raises, it is asked again for these requests alone, so that an exception belongs to the item that
        # caused it, and so are the items whose requests were in the same call. Items after those are prefetched again.
        distinct = dict.fromkeys(requests)
        missing = [request for request in distinct if request not in self.known]
        coming: list[Request] = []
        if missing and self.alone.isdisjoint(missing):
            known = {*missing, *self.known, *self.alone}
            most = self.predictor.caller.size * (4 if inputs_ahead(self.predictor.model) else 1)
            while self.queue and len(coming) + len(missing) < most:
                if (request := self.queue.popleft()) not in known:
                    coming.append(request)
        if coming:
            try:
                self.known.update(self.predictor.predict([*missing, *coming]))
                missing = []
            except (Exception, SystemExit):  # noqa: BLE001  # a foreign model may raise anything; it is asked again below
                self.alone.update(coming)
        if missing:
            self.alone.update(missing)
            self.known.update(self.predictor.predict(missing))
        return {request: self.known[request] for request in distinct}


def prefetching(predictor: ModelPredictor, batches: Iterable[Batch]) -> PrefetchingPredictor:
    return PrefetchingPredictor(predictor=predictor, queue=deque(by_image(batches)))


# A model that replies to several calls at a time is asked the coming batches while the first one is on its way. Each
# round asks what a run without this asks at once, so the replies are the same to the last bit.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Round:
    # ``start`` is the place in the list of all requests, and ``size`` that of the model's calls, before the round;
    # after it, the round's own ``caller`` has the size.

    missing: tuple[Request, ...]
    coming: tuple[Request, ...]
    start: int
    size: int
    caller: Caller
    replies: Future[Mapping[Request, Prediction]]

    @property
    def requests(self) -> tuple[Request, ...]:
        return (*self.missing, *self.coming)


@dataclass(slots=True, kw_only=True)
class ForeseeingPredictor:
    # With ``fills``, a round also takes the coming requests up to the size of a call, as a ``PrefetchingPredictor``
    # does, and all replies are kept. ``calls`` is the number of calls that the model replies to at a time.

    predictor: ModelPredictor
    batches: Sequence[Batch]
    calls: int
    fills: bool
    _all: tuple[Request, ...] = field(init=False)
    _at: int = 0  # the place in _all from which the next round is filled
    _next: int = 0  # the batch that the next round is for
    _known: dict[Request, Prediction] = field(default_factory=dict)
    _alone: set[Request] = field(default_factory=set)  # of rounds that raised; asked in rounds of their own
    _failed: set[Request] = field(default_factory=set)  # of batches that raised; no round ahead asks them again
    _rounds: deque[Round] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._all = tuple(by_image(self.batches) if self.fills else ())

    def predict(self, requests: Iterable[Request]) -> Mapping[Request, Prediction]:
        distinct = dict.fromkeys(requests)
        missing = tuple(request for request in distinct if request not in self._known)
        replies = self._asked(missing) if missing else {}
        if not self.fills:
            return replies
        self._known.update(replies)
        return {request: self._known[request] for request in distinct}

    def _asked(self, missing: tuple[Request, ...]) -> Mapping[Request, Prediction]:
        if not self._rounds or self._rounds[0].missing != missing:
            self._forget()
            self._next = 0  # requests that are known are left out
            if not self.fills:  # after the batch with these requests
                asked = (tuple(dict.fromkeys(requests_of(batch.cases))) for batch in self.batches)
                places = (index for index, requests in enumerate(asked, 1) if requests == missing)
                self._next = next(places, len(self.batches))
            self._rounds.append(self._started(missing, {*missing, *self._known}))
        self._look_ahead()
        # If the model raises in a round that was filled, it is asked again for these requests alone, so that an
        # exception belongs to the item that caused it.
        first = self._rounds.popleft()
        try:
            return first.replies.result()
        except (Exception, SystemExit):  # a foreign model may raise anything; it is asked again below
            self._failed.update(missing)
            self._alone.update(first.requests)
            if not first.coming:
                raise
            self._forget()
        finally:
            self.predictor.caller.size = first.caller.size
            if first.caller.size != first.size:  # the coming rounds were cut for the size before
                self._forget()
        replies = self.predictor.predict(missing)
        self._failed.difference_update(missing)
        return replies

    def _look_ahead(self) -> None:
        known: set[Request] = set()
        if self.fills:
            known = {*self._known, *self._failed, *(request for one in self._rounds for request in one.requests)}
        most = self.calls * self.predictor.caller.size
        while self._next < len(self.batches) and sum(len(one.requests) for one in list(self._rounds)[1:]) < most:
            asked = dict.fromkeys(requests_of(self.batches[self._next].cases))
            self._next += 1
            if missing := tuple(request for request in asked if request not in known):
                known.update(missing if self.fills else ())
                self._rounds.append(self._started(missing, known))

    def _started(self, missing: tuple[Request, ...], known: set[Request]) -> Round:
        """Start a round in a thread; ``known`` are the requests that need not be asked, and gets those of the round."""
        size, start = self.predictor.caller.size, self._at
        coming: list[Request] = []
        room = size if self._alone.isdisjoint(missing) else 0
        while self._at < len(self._all) and len(coming) + len(missing) < room:
            request = self._all[self._at]
            self._at += 1
            if request not in known and request not in self._alone:
                coming.append(request)
                known.add(request)
        caller = replace(self.predictor.caller)
        predictor = replace(self.predictor, caller=caller)
        replies: Future[Mapping[Request, Prediction]] = Future()
        made = Round(missing=missing, coming=tuple(coming), start=start, size=size, caller=caller, replies=replies)

        def ask() -> None:
            try:
                replies.set_result(predictor.predict(made.requests))
            except BaseException as error:  # noqa: BLE001  # whoever waits for the round raises it
                replies.set_exception(error)

        Thread(target=ask, daemon=True).start()
        return made

    def _forget(self) -> None:
        if self._rounds:
            self._at = self._rounds[0].start
            self._rounds.clear()
            self._next = 0
