"""Replies and verdicts of many cases as columns, the sentence of each, and why cases could not be scored."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import isnan
from operator import attrgetter
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.compute import columns_of, numbers, starts, starts_of
from vlgate.metrics.measures import Columns
from vlgate.metrics.sentences import CaseReplies
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Case, FloatArray, Matches, Prediction, Request, Shape, State, Verdict

Places = NDArray[np.intp]
Value = TypeVar("Value")
_requests = attrgetter("requests")


def _at(values: Sequence[Value], places: Places) -> list[Value]:
    return list(map(values.__getitem__, places.data))  # its numbers are made one by one


class RequestsOf(Sequence[Request]):
    """The requests of cases one after the other, which are made when they are looked at."""

    __slots__ = ("cases", "starts")

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases, self.starts = cases, starts_of(cases)

    def __len__(self) -> int:
        return self.starts[-1]

    def __iter__(self) -> Iterator[Request]:
        return chain.from_iterable(map(_requests, self.cases))

    @property
    def hashes(self) -> Iterator[int]:
        named = (asked.named if isinstance(asked, Matches) else asked for asked in map(_requests, self.cases))
        return map(hash, chain.from_iterable(named))

    @overload
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Request]: ...
    def __getitem__(self, place: int | slice) -> Request | Sequence[Request]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1 or start >= stop:
                return list(self)[place]
            row = bisect_right(self.starts, start) - 1
            some = chain.from_iterable(map(_requests, self.cases[row : bisect_left(self.starts, stop)]))
            return list(islice(some, start - self.starts[row], stop - self.starts[row]))
        row = bisect_right(self.starts, place) - 1
        return self.cases[row].requests[place - self.starts[row]]


# The replies to many requests as columns, which take less time and memory than an object for each.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replies(Mapping[Request, Prediction]):
    requests: Sequence[Request]  # the requests; each once if ``distinct``, otherwise equal ones have equal replies
    scores: FloatArray  # shape (n,), NaN for none
    accepted: FloatArray  # shape (n,), 1.0 for yes, 0.0 for no, NaN for none
    answers: Sequence[str | None] = ()  # the answers, None for none; empty if no reply has one
    # why there is no reply, and whether it was left out on purpose, by the place of the request
    problems: Mapping[int, tuple[str, bool]] = field(default_factory=dict)
    cut: AbstractSet[int] = frozenset()  # the places of the requests whose text the model did not read to the end
    # the places of the scores of yes or no whose answer probably begins with another word
    neither: AbstractSet[int] = frozenset()
    distinct: bool = True
    _places: dict[Request, int] = field(default_factory=dict)

    def __getitem__(self, request: Request) -> Prediction:
        return self.at(self.place(request))

    def __iter__(self) -> Iterator[Request]:
        return iter(self.requests) if self.distinct else iter(dict.fromkeys(self.requests))

    def __len__(self) -> int:
        return len(self.requests) if self.distinct else len(dict.fromkeys(self.requests))

    def place(self, request: Request) -> int:
        if not self._places:
            self._places.update({one: place for place, one in reversed([*enumerate(self.requests)])})
        return self._places[request]

    def at(self, place: int) -> Prediction:
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

    def take(
        self, places: Sequence[int] | Places, *, distinct: bool = False, requests: Sequence[Request] | None = None
    ) -> Replies:
        """Return the replies at some places, in their order; ``distinct`` says whether no two requests are equal."""
        rows = np.asarray(places, dtype=np.intp)
        if requests is None and isinstance(places, range) and places.step == 1:
            requests = self.requests[places.start : places.stop]
        there = list(enumerate(rows.tolist())) if self.problems or self.cut or self.neither else []
        return Replies(
            requests=_at(self.requests, rows) if requests is None else requests,
            scores=self.scores[rows],
            accepted=self.accepted[rows],
            answers=_at(self.answers, rows) if self.answers else (),
            problems={row: self.problems[place] for row, place in there if place in self.problems},
            cut=frozenset(row for row, place in there if place in self.cut),
            neither=frozenset(row for row, place in there if place in self.neither),
            distinct=distinct,
        )

    def once(self) -> Replies:
        """Return the replies to the distinct requests."""
        if self.distinct:
            return self
        places = self.first_places()
        return replace(self, distinct=True) if len(places) == len(self.requests) else self.take(places, distinct=True)

    def first_places(self) -> Sequence[int]:
        """Return the places of the distinct requests."""
        again = repeated(self.requests)
        first: dict[Request, int] = {}
        if not again:
            return range(len(self.requests))
        asked = enumerate(self.requests)
        return [place for place, one in asked if hash(one) not in again or first.setdefault(one, place) == place]


def repeated(values: Collection[Hashable]) -> frozenset[int]:
    """Return the hashes that several values have; a set of the values takes ten times as much memory."""
    known = values.hashes if isinstance(values, RequestsOf) else map(hash, values)
    hashes = np.fromiter(known, dtype=np.int64, count=len(values))
    hashes.sort()
    return frozenset(hashes[1:][hashes[1:] == hashes[:-1]].tolist())


def replies_to(requests: Sequence[Request], predictions: Mapping[Request, Prediction]) -> Replies:
    if not isinstance(predictions, Replies):
        return replies_of([predictions[request] for request in requests])
    given = predictions.requests
    if len(given) == len(requests) and list(given) == list(requests):
        return replace(predictions, requests=requests, _places={})
    return predictions.take([predictions.place(request) for request in requests], requests=requests)


def replies_of(predictions: Sequence[Prediction]) -> Replies:
    for prediction in predictions:
        if prediction.score is not None and isnan(prediction.score):
            raise ValueError(f"the score of a reply is NaN: {prediction!r}")
    answers = [prediction.answer for prediction in predictions]
    return Replies(
        requests=[prediction.request for prediction in predictions],
        scores=numbers([prediction.score for prediction in predictions]),
        accepted=numbers([prediction.accepted for prediction in predictions]),
        answers=answers if answers.count(None) < len(answers) else (),
        problems={
            index: (prediction.problem, prediction.skipped)
            for index, prediction in enumerate(predictions)
            if prediction.problem is not None
        },
        cut=frozenset(index for index, prediction in enumerate(predictions) if prediction.cut),
        neither=frozenset(index for index, prediction in enumerate(predictions) if prediction.neither),
        distinct=False,
    )


def joined(
    parts: Sequence[Replies], places: Places | None = None, requests: Sequence[Request] | None = None
) -> Replies:
    """Return the replies of several parts one after the other, or those at some places of them, each named once."""
    # ``requests`` are those of the result, if they need not be collected from the parts
    if not parts:
        return replies_of(())
    if len(parts) == 1:
        return parts[0].take(places, requests=requests) if places is not None else parts[0]
    starts = np.cumsum([0, *(len(part.requests) for part in parts)]).tolist()
    spread = list(zip(starts, parts, strict=False))
    problems = {start + place: problem for start, part in spread for place, problem in part.problems.items()}
    cut = [start + place for start, part in spread for place in part.cut]
    neither = [start + place for start, part in spread for place in part.neither]
    row: range | dict[int, int] = range(starts[-1])  # of each place that is kept
    if places is not None:
        row = dict(zip(places.tolist(), range(len(places)), strict=True)) if problems or cut or neither else {}
    order = slice(None) if places is None else places  # column by column, so that few are in memory twice
    answered = any(part.answers for part in parts)
    answers = [one for part in parts for one in part.answers or [None] * len(part.requests)] if answered else []
    if requests is None:
        requests = [request for part in parts for request in part.requests]
        requests = requests if places is None else _at(requests, places)
    scores = np.concatenate([part.scores for part in parts])[order]
    none = all(np.isnan(part.accepted).all() for part in parts)
    return Replies(
        requests=requests,
        scores=scores,
        accepted=np.broadcast_to(np.nan, scores.shape) if none else np.concatenate([p.accepted for p in parts])[order],
        answers=answers if places is None or not answered else _at(answers, places),
        problems={row[place]: problem for place, problem in problems.items() if place in row},
        cut=frozenset(row[place] for place in cut if place in row),
        neither=frozenset(row[place] for place in neither if place in row),
        distinct=False,
    )


def plain(column: FloatArray) -> list[float | None]:
    """Return the numbers of a column, None for NaN."""
    found: list[float | None] = column.tolist()
    for place in np.flatnonzero(np.isnan(column)).tolist():
        found[place] = None
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdicts(Sequence[Verdict]):
    """The verdicts of n cases of one task; a ``Verdict`` is made when it is looked at."""

    cases: Sequence[Case]
    replies: Replies  # the replies to the requests of the first case, then those of the second, and so on
    states: Sequence[State]
    right: NDArray[np.bool_]  # shape (n,)
    facts: Sequence[Mapping[str, float]]  # cases share equal ones
    # the shape of the cases if their scores alone make the sentences; None if ``told`` has them
    shape: Shape | None = None
    told: Sequence[str] = ()  # the sentences of the cases, if there is no shape
    # the place of the first reply of each case, and the place behind the last reply
    starts: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        asked = self.replies.requests
        if isinstance(asked, RequestsOf) and asked.cases is self.cases:
            object.__setattr__(self, "starts", asked.starts)
        else:
            object.__setattr__(self, "starts", starts_of(self.cases))

    def __len__(self) -> int:
        return len(self.cases)

    @overload
    def __getitem__(self, row: int) -> Verdict: ...
    @overload
    def __getitem__(self, row: slice) -> Verdicts: ...
    def __getitem__(self, row: int | slice) -> Verdict | Verdicts:
        if isinstance(row, slice):
            return self.take(np.arange(*row.indices(len(self))))
        row = range(len(self))[row]
        return Verdict(
            case=self.cases[row],
            predictions=tuple(self.replies.at(place) for place in self._places(row)),
            state=self.states[row],
            right=bool(self.right[row]),
            facts=self.facts[row],
            why=self.why(row),
        )

    def __iter__(self) -> Iterator[Verdict]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    @property
    def judged(self) -> Verdicts:
        if self.states.count("judged") == len(self):
            return self
        return self.take(np.flatnonzero(np.array([state == "judged" for state in self.states], dtype=np.bool_)))

    def why(self, row: int) -> str:
        if self.shape is None:
            return self.told[row]
        case, places = self.cases[row], self._places(row)
        if self.states[row] != "judged":
            return f"{case.origin or case.id}: {lacking(self.replies, places)[1]}"
        sentence = SHAPES[self.shape].why(CaseReplies(self.replies.scores[places.start : places.stop].tolist()))
        return sentence + truncated(self.replies, places)

    def row_of(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def whys(self) -> list[str]:
        if self.shape is None:
            return list(self.told)
        why, scores, usual = SHAPES[self.shape].why, self.replies.scores.tolist(), not self.replies.cut
        rows = zip(self.states, self.starts[:-1], self.starts[1:], strict=True)
        return [
            why(CaseReplies(scores[start:end])) if usual and state == "judged" else self.why(row)
            for row, (state, start, end) in enumerate(rows)
        ]

    def columns(self, shape: Shape) -> Columns:
        """Return what the metrics are computed from, if all are judged; ``shape`` is that of the cases."""
        return columns_of(shape, self.cases, self.facts, self.replies.scores, self.replies.accepted)

    def take(self, rows: Sequence[int] | Places) -> Verdicts:
        """Return the verdicts of some rows, in their order."""
        chosen = np.asarray(rows, dtype=np.intp)
        if len(chosen) == len(self) and (chosen == np.arange(len(self))).all():
            return self
        cases = _at(self.cases, chosen)
        return Verdicts(
            cases=cases,
            replies=self.replies.take(_places_of(chosen, self.starts), requests=RequestsOf(cases)),
            states=_at(self.states, chosen),
            right=self.right[chosen],
            facts=_at(self.facts, chosen),
            shape=self.shape,
            told=_at(self.told, chosen) if self.shape is None else (),
        )

    def _places(self, row: int) -> range:
        return range(self.starts[row], self.starts[row + 1])


def verdicts_of(verdicts: Sequence[Verdict]) -> Verdicts:
    if isinstance(verdicts, Verdicts):
        return verdicts
    return Verdicts(
        cases=[verdict.case for verdict in verdicts],
        replies=replies_of([reply for verdict in verdicts for reply in verdict.predictions]),
        states=[verdict.state for verdict in verdicts],
        right=np.array([verdict.right for verdict in verdicts], dtype=np.bool_),
        facts=[verdict.facts for verdict in verdicts],
        told=[verdict.why for verdict in verdicts],
    )


def in_order(parts: Sequence[Verdicts], positions: Sequence[int], whole: Sequence[Case] = ()) -> Verdicts:
    """Join verdicts of one task in the order of their cases; of two of one case, the later one counts."""
    # ``whole`` are all cases of the task, which take no memory again if each has a verdict
    if not parts:
        return verdicts_of(())
    shape = None if any(part.shape is None for part in parts) else parts[0].shape
    rows = len(positions) - 1 - np.unique(np.asarray(positions, dtype=np.intp)[::-1], return_index=True)[1]
    cases = whole if len(whole) == len(rows) else _at([case for part in parts for case in part.cases], rows)
    places = _places_of(rows, starts(np.concatenate([np.diff(part.starts) for part in parts])))
    return Verdicts(
        cases=cases,
        replies=joined([part.replies for part in parts], places, RequestsOf(cases)),
        states=_at([state for part in parts for state in part.states], rows),
        right=np.concatenate([part.right for part in parts])[rows],
        facts=_at([facts for part in parts for facts in part.facts], rows),
        shape=shape,
        told=_at([why for part in parts for why in part.whys()], rows) if shape is None else (),
    )


def _places_of(rows: Places, starts: Sequence[int]) -> Places:
    """The places of the replies to the cases in some rows; ``starts`` are those of all cases."""
    if isinstance(starts, range):
        return np.add.outer(rows * starts.step, np.arange(starts.step)).reshape(-1)
    known = np.asarray(starts)
    first, sizes = known[rows], known[rows + 1] - known[rows]
    return np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def truncated(replies: Replies, places: Sequence[int]) -> str:
    cut = sum(place in replies.cut for place in places) if replies.cut else 0
    return f"; the model did not read the end of {cut} of {len(places)} texts" if cut else ""


def lacking(replies: Replies, places: Sequence[int]) -> tuple[bool, str]:
    # A failure outweighs a request that was left out on purpose, whatever their order.
    problems = [replies.problems[place] for place in places if place in replies.problems]
    return min((skipped, why) for why, skipped in problems)


# What two messages with one cause differ in: what is quoted, paths, and numbers other than the status of a service.
_VARIES = re.compile(
    r"(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)\"(?:[^\"\\]|\\.)*\"(?!\w)"
    r"|[^\s'\"]*/[^\s'\"]*|(?<!answers )\b[\w.-]*\d[\w.-]*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    reasons: tuple[str, ...]
    example: str

    @property
    def sentence(self) -> str:
        """The first reason; ``e.g.`` stands before the first of its parts that differs in the others."""
        first = self.reasons[0]
        spans = list(_VARIES.finditer(first))
        others = [_VARIES.findall(reason) for reason in self.reasons[1:]]
        for index, span in enumerate(spans):
            if any(parts[index] != span[0] for parts in others):
                return f"{first[: span.start()]}e.g. {first[span.start() :]}"
        return first


def causes(parts: Iterable[Sequence[Verdict]]) -> list[Cause]:
    found: dict[str, list[tuple[str, str]]] = {}
    for case, why in (reason for part in parts for reason in reasons(part)):
        found.setdefault(cause_of(why), []).append((case, why))
    made = [Cause(reasons=tuple(why for _, why in alike), example=alike[0][0]) for alike in found.values()]
    return sorted(made, key=lambda one: -len(one.reasons))


def reasons(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Return each unscored case, by its origin or id, with the reason."""
    table = verdicts_of(verdicts)
    rows = [(table.cases[row], row) for row, state in enumerate(table.states) if state == "unscored"]
    return [
        (case.origin or case.id, lacking(table.replies, range(*table.starts[row : row + 2]))[1]) for case, row in rows
    ]


def cause_of(why: str) -> str:
    return _VARIES.sub("*", why)
