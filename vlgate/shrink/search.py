"""The search for the smallest change that breaks a case, within a budget of model calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from vlgate.judging.verdicts import judge
from vlgate.shrink.draws import several, shrink, strengths
from vlgate.shrink.moves import Move, perturbed
from vlgate.shrink.space import Space, space
from vlgate.types import Batch, Prediction, Predictor, Request, Verdict

Ending = Literal["broken", "whole", "wrong", "unscored", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A change that breaks a case: its moves and the verdict of the changed case."""

    moves: tuple[Move, ...]
    verdict: Verdict

    @property
    def says(self) -> str:
        """The change in words."""
        return ", and ".join(move.says for move in self.moves)

    @property
    def distance(self) -> float:
        """The size of the change: the sum of its moves' distances, each at most 1."""
        return sum(move.distance for move in self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The result of a search.

    ``ending`` is ``broken`` if a change was found and ``whole`` if none was. It is ``wrong``, ``unscored`` or
    ``skipped`` if the unchanged case is not right, so that it was not searched; it is also ``skipped`` if no changed
    case has a reply. ``calls`` counts the requests that the model was asked, out of ``budget``, and ``changes`` the
    changes that were tried. ``note`` says what a reader must know about the search.
    """

    original: Verdict
    ending: Ending
    calls: int
    budget: int
    changes: int = 0
    find: Find | None = None
    note: str = ""


class Findings(Protocol):
    """The settings of a test's search, and the object that the test gives the search to."""

    budget: int
    seed: int

    def record(self, search: Search) -> None:
        """Keep the search; fail the test if the case could not be scored."""


def smallest_change(batch: Batch, model: Predictor, *, budget: int, seed: int = 0) -> Search:
    """Look for the smallest change of a case that keeps its truths and makes the model get it wrong.

    The search tries every change of the image at full strength, then every other wording of one of the texts, the
    nearest first. Then it makes the image changes that break the case smaller: hypothesis shrinks each one while it is
    smaller than the smallest change so far. The change with the least distance is kept. If no single change breaks the
    case, hypothesis draws up to three changes of any strength together, and shrinks them, first to fewer changes, then
    to weaker ones.

    To save calls, the search assumes that a stronger change breaks the case if a weaker one of its kind does. This is
    not always true, so a smaller change than the one it finds may break the case too.

    Args:
        batch: the batch of one case.
        model: the model to ask; its exceptions pass through.
        budget: the largest number of requests that the model is asked, including the case's own; none is asked twice.
        seed: the seed of all random choices.

    Returns: the search. It is the same for the same arguments if the model gives the same replies. Hypothesis stops
        shrinking after five minutes, so the change can be larger for a very slow model.
    Raises: ValueError if the batch does not have exactly one case, or ``budget`` is below its number of requests.
    """
    if len(batch.positions) != 1:
        raise ValueError(
            f"batch={batch!r}: expected one case, found {len(batch.positions)}; search each case by itself"
        )
    asking = _Asking(batch=batch, model=model, budget=budget)
    try:
        original = asking.verdict(())
    except _BudgetSpent:
        least = len(set(batch.cases[0].requests))
        raise ValueError(f"budget={budget!r}: expected at least {least}, the case's own requests") from None
    if original.state != "judged" or not original.right:
        ending: Ending = "wrong" if original.state == "judged" else original.state
        return Search(original=original, ending=ending, calls=asking.calls, budget=budget)
    changes = space(batch.cases[0])
    try:
        _search(asking, changes, f"{seed}:shrink:{batch.task.id}:{batch.cases[0].id}")
        note = ""
    except _BudgetSpent:
        note = f"the search ended because its {budget} calls were used"
    return Search(
        original=original,
        ending=asking.ending(),
        calls=asking.calls,
        budget=budget,
        changes=len(asking.seen) - 1,
        find=asking.best,
        note="; ".join(filter(None, (note, asking.unjudged(), changes.left_out))),
    )


class _BudgetSpent(BaseException):
    """The budget is used up. It is a BaseException, because hypothesis takes an Exception for a failing example."""


@dataclass(slots=True, kw_only=True)
class _Asking:
    """Asks a model about changed cases, each request once, and keeps the smallest change that breaks the case."""

    batch: Batch
    model: Predictor
    budget: int
    replies: dict[Request, Prediction] = field(default_factory=dict)
    seen: dict[frozenset[Move], Verdict] = field(default_factory=dict)
    best: Find | None = None

    @property
    def calls(self) -> int:
        """The number of requests that were asked."""
        return len(self.replies)

    def verdict(self, moves: Sequence[Move]) -> Verdict:
        """Judge the changed case.

        Raises: _BudgetSpent, without asking the model, if this needs more calls than are left.
        """
        key = frozenset(moves)
        if key not in self.seen:
            case = perturbed(self.batch.cases[0], moves)
            new = [request for request in dict.fromkeys(case.requests) if request not in self.replies]
            if self.calls + len(new) > self.budget:
                raise _BudgetSpent
            self.replies |= self.model.predict(new) if new else {}
            batch = replace(self.batch, task=replace(self.batch.task, cases=(case,)), positions=(0,))
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
        """How the search of the changes ended; ``skipped`` if there were changes, but none could be judged."""
        if self.best is not None:
            return "broken"
        changed = [verdict for moves, verdict in self.seen.items() if moves]
        return "skipped" if changed and all(verdict.state != "judged" for verdict in changed) else "whole"

    def unjudged(self) -> str:
        """How many changes have no verdict, and why the first one has none; empty if all have one."""
        lacking = [verdict for verdict in self.seen.values() if verdict.state != "judged"]
        return f"{len(lacking)} changes have no verdict: {lacking[0].why}" if lacking else ""


def _size(find: Find) -> tuple[int, float]:
    return len(find.moves), find.distance


def _search(asking: _Asking, found: Space, name: str) -> None:
    broken = [moves for moves in found.images if asking.breaks(moves[-1:])]
    next((move for move in found.wordings if asking.breaks((move,))), None)
    for moves in broken:
        smaller = [move for move in moves if asking.best is not None and move.distance < asking.best.distance]
        if smaller and asking.breaks(smaller[-1:]):
            shrink(strengths(smaller), asking.breaks, f"{name}:{moves[0].kind}", asking.budget)
    if asking.best is None and found.directions:
        shrink(several(found.directions), asking.breaks, name, asking.budget)
