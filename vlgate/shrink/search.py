"""The search: changes of a case are tried, and those that break it made smaller, within a budget of model calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from vlgate.judging import judge
from vlgate.shrink.draws import several, shrink, strengths
from vlgate.shrink.moves import Move, perturbed
from vlgate.shrink.space import Space, space
from vlgate.types import Batch, Prediction, Predictor, Request, Verdict

Ending = Literal["broken", "whole", "wrong", "unscored", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A change that breaks a case: its moves, and the verdict of the changed case."""

    moves: tuple[Move, ...]
    verdict: Verdict

    @property
    def says(self) -> str:
        """The change in words."""
        return ", and ".join(move.says for move in self.moves)

    @property
    def distance(self) -> float:
        """How far the change goes: the sum of its moves' distances, each at most 1."""
        return sum(move.distance for move in self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search found.

    ``ending`` is ``broken`` where a change was found, ``whole`` where none was; ``wrong``, ``unscored`` or ``skipped``
    where the case as it stands is not right, and was not searched; ``skipped``, too, where no changed case has a reply.
    ``calls`` counts the requests that the model was asked, of ``budget``; ``changes`` the changes that were tried.
    ``note`` says what a reader must know of the search.
    """

    original: Verdict
    ending: Ending
    calls: int
    budget: int
    changes: int = 0
    find: Find | None = None
    note: str = ""


class Findings(Protocol):
    """How a test's case is searched, and where what was found goes."""

    budget: int
    seed: int

    def record(self, search: Search) -> None:
        """Keep the search; fail the test where the case could not be scored."""


def smallest_change(batch: Batch, model: Predictor, *, budget: int, seed: int = 0) -> Search:
    """Look for the smallest change of a case that keeps its truths and makes the model get it wrong.

    Every change of a picture is tried at its full strength, then every other wording of one of the texts, the nearest
    first. What breaks the case is made smaller: hypothesis shrinks a picture's change as long as it is smaller than the
    smallest one so far, and the one with the least distance is kept. Where no change breaks it alone, hypothesis draws
    up to three of any strength together, and shrinks those: to fewer changes first, then to weaker ones.
    A strength is taken to matter no less than the weaker ones of its kind, which saves calls and is not always so: what
    is found breaks the case, and a smaller change may, too.

    Args:
        batch: of one case, with the table that it is judged by.
        model: to ask; what it raises passes through.
        budget: the most requests that it is asked, the case's own among them; each is asked once.
        seed: of every random choice.

    Returns: the same result for the same arguments, where the model gives the same replies. Hypothesis stops shrinking
        after five minutes, so that a very slow model may be left with a larger change.
    Raises: ValueError where the batch has not exactly one case.
    """
    if len(batch.positions) != 1:
        raise ValueError(f"batch={batch!r}: expected one case, found {len(batch.positions)}; search them one by one")
    asking = _Asking(batch=batch, model=model, budget=budget)
    try:
        original = asking.verdict(())
    except _BudgetSpent:
        raise ValueError(f"budget={budget!r}: expected enough for the case's own requests; give more") from None
    if original.state != "judged" or not original.right:
        ending: Ending = "wrong" if original.state == "judged" else original.state
        return Search(original=original, ending=ending, calls=asking.calls, budget=budget)
    try:
        _search(asking, space(batch.cases[0]), f"{seed}:shrink:{batch.table.id}:{batch.cases[0].id}")
        note = ""
    except _BudgetSpent:
        note = f"the search ended with its {budget} calls"
    return Search(
        original=original,
        ending=asking.ending(),
        calls=asking.calls,
        budget=budget,
        changes=len(asking.seen) - 1,
        find=asking.best,
        note="; ".join(filter(None, (note, asking.unjudged()))),
    )


class _BudgetSpent(BaseException):
    """The model must not be asked any more. Hypothesis lets through what is no Exception, as it does an interrupt."""


@dataclass(slots=True, kw_only=True)
class _Asking:
    """Asks a model about the changed case, each request once, and keeps the smallest change that breaks it."""

    batch: Batch
    model: Predictor
    budget: int
    replies: dict[Request, Prediction] = field(default_factory=dict)
    seen: dict[frozenset[Move], Verdict] = field(default_factory=dict)
    best: Find | None = None

    @property
    def calls(self) -> int:
        """How many requests were asked."""
        return len(self.replies)

    def verdict(self, moves: Sequence[Move]) -> Verdict:
        """Judge the changed case.

        Raises: _BudgetSpent where that takes more calls than are left; none is made then.
        """
        key = frozenset(moves)
        if key not in self.seen:
            case = perturbed(self.batch.cases[0], moves)
            new = [request for request in dict.fromkeys(case.requests) if request not in self.replies]
            if self.calls + len(new) > self.budget:
                raise _BudgetSpent
            self.replies |= self.model.predict(new) if new else {}
            batch = replace(self.batch, table=replace(self.batch.table, cases=(case,)), positions=(0,))
            [self.seen[key]] = judge(batch, self.replies)
        return self.seen[key]

    def breaks(self, moves: Sequence[Move]) -> bool:
        """Whether the model gets the changed case wrong; a case without a verdict is not broken."""
        verdict = self.verdict(moves)
        if verdict.state != "judged" or verdict.right:
            return False
        found = Find(moves=tuple(moves), verdict=verdict)
        if self.best is None or _size(found) < _size(self.best):
            self.best = found
        return True

    def ending(self) -> Ending:
        """What came of the changes; skipped where there were some, and not one could be judged."""
        if self.best is not None:
            return "broken"
        changed = [verdict for moves, verdict in self.seen.items() if moves]
        return "skipped" if changed and all(verdict.state != "judged" for verdict in changed) else "whole"

    def unjudged(self) -> str:
        """How many changes got no verdict, and why one did not; empty where all did."""
        lacking = [verdict for verdict in self.seen.values() if verdict.state != "judged"]
        return f"{len(lacking)} changes had no verdict: {lacking[0].why}" if lacking else ""


def _size(find: Find) -> tuple[int, float]:
    return len(find.moves), find.distance


def _search(asking: _Asking, found: Space, name: str) -> None:
    broken = [moves for moves in found.pictures if asking.breaks(moves[-1:])]
    next((move for move in found.wordings if asking.breaks((move,))), None)
    for moves in broken:
        smaller = [move for move in moves if asking.best is not None and move.distance < asking.best.distance]
        if smaller and asking.breaks(smaller[-1:]):
            shrink(strengths(smaller), asking.breaks, f"{name}:{moves[0].kind}", asking.budget)
    if asking.best is None and found.directions:
        shrink(several(found.directions), asking.breaks, name, asking.budget)
