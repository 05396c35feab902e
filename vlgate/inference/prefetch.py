"""Prefetching: fill the model's batches although each pytest item asks only a few requests.

With one case per item, a model would be called on two or four requests at a time. In a run without workers the order
of the items is known, so the requests of the next items are asked together with those of the first one, and kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vlgate.inference.order import by_image
from vlgate.inference.predictor import ModelPredictor
from vlgate.types import Batch, Prediction, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchingPredictor:
    """A ``ModelPredictor`` that also asks the next requests, up to the model's batch size.

    ``alone`` holds the requests of calls that raised: they are not prefetched, nor anything with them.
    """

    predictor: ModelPredictor
    queue: deque[Request]
    found: dict[Request, Prediction] = field(default_factory=dict)
    alone: set[Request] = field(default_factory=set)

    def predict(self, requests: Iterable[Request]) -> dict[Request, Prediction]:
        """Return one prediction per distinct request; see ``ModelPredictor.predict``.

        If the model raises, it is asked again for these requests alone, so that an exception belongs to the item that
        caused it, and so are the items whose requests were in the same call. Items after those are prefetched again.
        """
        distinct = dict.fromkeys(requests)
        missing = [request for request in distinct if request not in self.found]
        if missing:
            self.found.update(self._asked(missing))
        return {request: self.found[request] for request in distinct}

    def _asked(self, missing: Sequence[Request]) -> Mapping[Request, Prediction]:
        coming = self._coming(missing) if self.alone.isdisjoint(missing) else []
        if coming:
            try:
                return self.predictor.predict([*missing, *coming])
            except (Exception, SystemExit):  # noqa: BLE001  # a foreign model may raise anything; it is asked again below
                self.alone.update(coming)
        self.alone.update(missing)
        return self.predictor.predict(missing)

    def _coming(self, missing: Sequence[Request]) -> list[Request]:
        known = {*missing, *self.found, *self.alone}
        coming: list[Request] = []
        while self.queue and len(coming) + len(missing) < self.predictor.caller.size:
            request = self.queue.popleft()
            if request not in known:
                coming.append(request)
        return coming


def prefetching(predictor: ModelPredictor, batches: Iterable[Batch]) -> PrefetchingPredictor:
    """Return a predictor that prefetches in the order of these batches, all requests about an image at once."""
    return PrefetchingPredictor(predictor=predictor, queue=deque(by_image(batches)))
