"""How fast a model is: a short measurement on a sample of a run's cases, before the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter

from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import NotRememberedError
from vlgate.seeds import generator
from vlgate.types import Batch, Case

SHARE = 50  # one case in so many is asked, which makes the run 2 % longer
MOST = 64  # cases; the rate of a model varies more between machines than between larger samples
LEAST = 4  # cases; a run of fewer than SHARE * LEAST is measured only if it asks more than its cases
_WARMING = 2  # cases that are asked before the clock starts: the first call compiles, and fills caches
_OF_A_BATCH = 8  # neighbours share images, which a model may encode once


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The ``seconds`` that a model took for some ``cases``."""

    cases: int
    seconds: float

    def seconds_for(self, cases: int, workers: int = 1) -> float:
        """The time that as many cases will take.

        >>> Pace(cases=50, seconds=2.0).seconds_for(1000, workers=4)
        10.0
        """
        return self.seconds * cases / self.cases / workers


def pace(
    predictor: ModelPredictor, batches: Sequence[Batch], name: str, *, together: bool = True, short: bool = False
) -> Pace | None:
    """Ask a model, not the memory of its replies, a sample of a run's cases, and measure the time."""
    # With ``together`` the cases share calls of the model. With ``short`` a short run is measured, too, because its
    # controls ask much more than its cases. ``name`` seeds the sample. None if the run takes no time to speak of, if
    # the cache has replies to the whole sample, or if the model raised, which the run will show.
    total = sum(len(batch.positions) for batch in batches)
    if total < (LEAST + _WARMING if short else SHARE * LEAST):
        return None
    n = min(MOST, max(LEAST, total // SHARE)) + _WARMING
    cases: list[Case] = []
    for place in generator(name).permutation(len(batches)).tolist():
        if len(cases) < n:
            batch = batches[place]
            cases += [batch.task.cases[position] for position in batch.positions[:_OF_A_BATCH]]
    cases = cases[:n]
    warming, timed = cases[:_WARMING], cases[_WARMING:]
    calls = [timed] if together else [[case] for case in timed]
    try:
        if predictor.cache is not None:
            with suppress(NotRememberedError):
                _ask(replace(predictor, cache=predictor.cache.recalling), cases)
                return None  # the run will hardly ask the model
        predictor = predictor.bare()
        _ask(predictor, warming)
        start = perf_counter()
        for some in calls:
            _ask(predictor, some)
        return Pace(cases=len(timed), seconds=perf_counter() - start)
    except (Exception, SystemExit):  # noqa: BLE001  # a foreign model may raise anything; the tests will show it
        return None


def _ask(predictor: ModelPredictor, cases: Sequence[Case]) -> None:
    predictor.predict(request for case in cases for request in case.requests)
