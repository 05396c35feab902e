"""The verdicts of many cases as columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import overload

import numpy as np
from numpy.typing import NDArray

from vlgate.judging.replies import Replies, joined, replies_of
from vlgate.judging.sentences import why_scored
from vlgate.metrics.compute import Columns, columns_of
from vlgate.types import Case, Prediction, Shape, State, Verdict


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdicts(Sequence[Verdict]):
    """The verdicts of n cases of one task; a ``Verdict`` is made when it is looked at.

    Attributes:
        cases: the cases.
        replies: the replies to the requests of the first case, then those of the second, and so on.
        states: the state of each case.
        right: whether each case is right, shape (n,).
        facts: the facts of each case; cases share equal ones.
        shape: the shape of the cases, whose rule makes the sentences of the replies; None if ``told`` has them.
        told: the sentences of the cases, if there is no shape.
        starts: the place of the first reply of each case, and the place behind the last reply.
    """

    cases: Sequence[Case]
    replies: Replies
    states: Sequence[State]
    right: NDArray[np.bool_]
    facts: Sequence[Mapping[str, float]]
    shape: Shape | None = None
    told: Sequence[str] = ()
    starts: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        """Find where the replies of each case start."""
        sizes = {len(case.requests) for case in self.cases}
        width = max(sizes, default=1)
        usual = range(0, width * len(self.cases) + 1, width)
        starts = usual if len(sizes) < 2 else [0, *accumulate(len(case.requests) for case in self.cases)]
        object.__setattr__(self, "starts", starts)

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.cases)

    @overload
    def __getitem__(self, row: int) -> Verdict: ...
    @overload
    def __getitem__(self, row: slice) -> Verdicts: ...
    def __getitem__(self, row: int | slice) -> Verdict | Verdicts:
        """Return the verdict of a row, or the verdicts of several."""
        if isinstance(row, slice):
            return self.take(range(len(self))[row])
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
        """Yield the verdicts."""
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Return whether the verdicts equal those of another sequence."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    @property
    def judged(self) -> Verdicts:
        """Those that are judged."""
        if self.states.count("judged") == len(self):
            return self
        return self.take([row for row, state in enumerate(self.states) if state == "judged"])

    def why(self, row: int) -> str:
        """Return the sentence of a row."""
        if self.shape is None:
            return self.told[row]
        case, places = self.cases[row], self._places(row)
        if self.states[row] != "judged":
            return f"{case.origin or case.id}: {lacking(self.replies, places)[1]}"
        cut = sum(place in self.replies.cut for place in places) if self.replies.cut else 0
        return why_scored(self.shape, self.replies.scores[places.start : places.stop].tolist(), cut)

    def row_of(self, place: int) -> int:
        """Return the row of the case that the reply at a place belongs to."""
        return bisect_right(self.starts, place) - 1

    def whys(self) -> list[str]:
        """Return the sentence of each row."""
        if self.shape is None:
            return list(self.told)
        usual = not self.replies.cut
        rows = zip(self.states, self.replies.scores.reshape(len(self), -1).tolist(), strict=True) if self.cases else ()
        return [
            why_scored(self.shape, values) if usual and state == "judged" else self.why(row)
            for row, (state, values) in enumerate(rows)
        ]

    def columns(self, shape: Shape) -> Columns:
        """Return what the metrics are computed from, if all are judged; ``shape`` is that of the cases."""
        return columns_of(shape, self.cases, self.facts, self.replies.scores, self.replies.accepted)

    def take(self, rows: Sequence[int]) -> Verdicts:
        """Return the verdicts of some rows, in their order."""
        if rows == range(len(self)):
            return self
        starts = self.starts
        return Verdicts(
            cases=[self.cases[row] for row in rows],
            replies=self.replies.take([place for row in rows for place in range(starts[row], starts[row + 1])]),
            states=[self.states[row] for row in rows],
            right=self.right[np.asarray(rows, dtype=np.intp)],
            facts=[self.facts[row] for row in rows],
            shape=self.shape,
            told=[self.told[row] for row in rows] if self.shape is None else (),
        )

    def _places(self, row: int) -> range:
        return range(self.starts[row], self.starts[row + 1])


def verdicts_of(verdicts: Sequence[Verdict]) -> Verdicts:
    """Put verdicts of cases of one task into columns, if they are not in columns already."""
    if isinstance(verdicts, Verdicts):
        return verdicts
    return Verdicts(
        cases=[one.case for one in verdicts],
        replies=replies_of([reply for one in verdicts for reply in one.predictions]),
        states=[one.state for one in verdicts],
        right=np.array([one.right for one in verdicts], dtype=np.bool_),
        facts=[one.facts for one in verdicts],
        told=[one.why for one in verdicts],
    )


def in_order(parts: Sequence[Verdicts], positions: Sequence[int]) -> Verdicts:
    """Join verdicts of one task in the order of their cases; of two of one case, the later one counts.

    Args:
        parts: the verdicts.
        positions: the position in the task of each case of each part.
    """
    if not parts:
        return verdicts_of(())
    shape = None if any(part.shape is None for part in parts) else parts[0].shape
    whole = Verdicts(
        cases=[case for part in parts for case in part.cases],
        replies=joined([part.replies for part in parts]),
        states=[state for part in parts for state in part.states],
        right=np.concatenate([part.right for part in parts]),
        facts=[facts for part in parts for facts in part.facts],
        shape=shape,
        told=[why for part in parts for why in part.whys()] if shape is None else (),
    )
    rows = {position: row for row, position in enumerate(positions)}
    return whole.take([rows[position] for position in sorted(rows)])


def lacking(replies: Replies, places: Sequence[int]) -> tuple[bool, str]:
    """Return whether a case that is not judged was left out on purpose, and why it has no reply.

    A failure outweighs a request that was left out on purpose, whatever their order.
    """
    problems = [replies.problems[place] for place in places if place in replies.problems]
    return min((skipped, why) for why, skipped in problems)


def scored(reply: Prediction) -> float:
    """Return the score of a reply.

    Raises: ValueError if it has none.
    """
    if reply.score is None:
        raise ValueError(f"a judged reply has no score: {reply!r}")
    return reply.score
