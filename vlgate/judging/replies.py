"""The replies to many requests as columns, which take less time and memory than an object for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import isnan
from operator import is_

import numpy as np

from vlgate.types import FloatArray, Prediction, Request


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replies(Mapping[Request, Prediction]):
    """The replies to n requests; a ``Prediction`` is made when it is looked up.

    Attributes:
        requests: the requests; each once if ``distinct``, otherwise equal ones have equal replies.
        scores: shape (n,), NaN for none.
        accepted: shape (n,), 1.0 for yes, 0.0 for no, NaN for none.
        answers: the answers, None for none; empty if no reply has one.
        problems: why there is no reply, and whether it was left out on purpose, by the place of the request.
        cut: the places of the requests whose text the model did not read to the end.
        neither: the places of the scores of yes or no whose answer probably begins with another word.
    """

    requests: Sequence[Request]
    scores: FloatArray
    accepted: FloatArray
    answers: Sequence[str | None] = ()
    problems: Mapping[int, tuple[str, bool]] = field(default_factory=dict)
    cut: AbstractSet[int] = frozenset()
    neither: AbstractSet[int] = frozenset()
    distinct: bool = True
    _places: dict[Request, int] = field(default_factory=dict)

    def __getitem__(self, request: Request) -> Prediction:
        """Return the reply to a request."""
        return self.at(self.place(request))

    def __iter__(self) -> Iterator[Request]:
        """Yield the distinct requests, in the order of first appearance."""
        return iter(self.requests) if self.distinct else iter(dict.fromkeys(self.requests))

    def __len__(self) -> int:
        """Return the number of distinct requests."""
        return len(self.requests) if self.distinct else len(dict.fromkeys(self.requests))

    def place(self, request: Request) -> int:
        """Return the place of a request.

        Raises: KeyError if it is not among the requests.
        """
        if not self._places:
            self._places.update(_first_places(self.requests))
        return self._places[request]

    def at(self, place: int) -> Prediction:
        """Return the reply at a place."""
        score, accepted = float(self.scores[place]), float(self.accepted[place])
        why, skipped = self.problems.get(place, (None, False))
        return Prediction(
            request=self.requests[place],
            score=None if isnan(score) else score,
            answer=self.answers[place] if self.answers else None,
            accepted=None if isnan(accepted) else accepted == 1.0,
            problem=why,
            skipped=skipped,
            cut=place in self.cut,
            neither=place in self.neither,
        )

    def take(self, places: Sequence[int], *, distinct: bool = False) -> Replies:
        """Return the replies at some places, in their order; ``distinct`` says whether no two requests are equal."""
        rows = np.asarray(places, dtype=np.intp)
        there = list(enumerate(places)) if self.problems or self.cut or self.neither else []
        return Replies(
            requests=[self.requests[place] for place in places],
            scores=self.scores[rows],
            accepted=self.accepted[rows],
            answers=[self.answers[place] for place in places] if self.answers else (),
            problems={row: self.problems[place] for row, place in there if place in self.problems},
            cut=frozenset(row for row, place in there if place in self.cut),
            neither=frozenset(row for row, place in there if place in self.neither),
            distinct=distinct,
        )

    def once(self) -> Replies:
        """Return the replies to the distinct requests."""
        if self.distinct:
            return self
        first = _first_places(self.requests)
        if len(first) == len(self.requests):
            return replace(self, distinct=True)
        return self.take(sorted(first.values()), distinct=True)


def replies_to(requests: Sequence[Request], predictions: Mapping[Request, Prediction]) -> Replies:
    """Return the replies to some requests, which may repeat, as columns in their order.

    Raises: KeyError if a request has no prediction.
    """
    if not isinstance(predictions, Replies):
        return replies_of([predictions[request] for request in requests])
    given = predictions.requests
    if len(given) == len(requests) and all(map(is_, given, requests)):
        return predictions
    return predictions.take([predictions.place(request) for request in requests])


def replies_of(predictions: Sequence[Prediction]) -> Replies:
    """Put predictions into columns.

    Raises: ValueError if a score is NaN.
    """
    for one in predictions:
        if one.score is not None and isnan(one.score):
            raise ValueError(f"the score of a reply is NaN: {one!r}")
    answers = [one.answer for one in predictions]
    return Replies(
        requests=[one.request for one in predictions],
        scores=numbers([one.score for one in predictions]),
        accepted=numbers([one.accepted for one in predictions]),
        answers=answers if answers.count(None) < len(answers) else (),
        problems={
            place: (one.problem, one.skipped) for place, one in enumerate(predictions) if one.problem is not None
        },
        cut=frozenset(place for place, one in enumerate(predictions) if one.cut),
        neither=frozenset(place for place, one in enumerate(predictions) if one.neither),
        distinct=False,
    )


def joined(parts: Sequence[Replies]) -> Replies:
    """Return the replies of several parts one after the other."""
    if not parts:
        return replies_of(())
    starts = np.cumsum([0, *(len(part.requests) for part in parts)]).tolist()
    spread = list(zip(starts, parts, strict=False))
    answered = any(part.answers for part in parts)
    return Replies(
        requests=[request for part in parts for request in part.requests],
        scores=np.concatenate([part.scores for part in parts]),
        accepted=np.concatenate([part.accepted for part in parts]),
        answers=[one for part in parts for one in part.answers or [None] * len(part.requests)] if answered else (),
        problems={start + place: problem for start, part in spread for place, problem in part.problems.items()},
        cut=frozenset(start + place for start, part in spread for place in part.cut),
        neither=frozenset(start + place for start, part in spread for place in part.neither),
        distinct=False,
    )


def _first_places(requests: Sequence[Request]) -> dict[Request, int]:
    return dict(zip(reversed(requests), range(len(requests) - 1, -1, -1), strict=True))


def numbers(values: Sequence[float | bool | None]) -> FloatArray:
    """Return an array of floats in which None is NaN, and yes 1.0."""
    return np.array(values, dtype=np.float64)


def plain(column: FloatArray) -> list[float | None]:
    """Return the numbers of a column, None for NaN."""
    found: list[float | None] = column.tolist()
    for place in np.flatnonzero(np.isnan(column)).tolist():
        found[place] = None
    return found
