"""The search for the smallest change that breaks a case, drawn and shrunk by hypothesis, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from random import Random
from typing import TYPE_CHECKING, Literal, Protocol

from vlgate.judging.verdicts import judge
from vlgate.probes.explaining.record import margin
from vlgate.probes.shrink import FAMILIES, Family
from vlgate.probes.shrink.moves import Move, Truth, perturbed
from vlgate.probes.shrink.space import WORDING, space
from vlgate.seeds import seed_of
from vlgate.types import Batch, Prediction, Predictor, Request, Verdict

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_TOGETHER = 3  # the most changes at once: with more of them, nobody can say which one the model reacts to
_GRAIN = 120  # the number of strengths of each direction if several directions are combined
# Hypothesis mixes constants of the loaded modules into its draws of small integers, so that a draw would depend on what
# else is imported. There are no such constants at this distance from zero.
_FAR = 7_340_000


def shrink(
    strategy: SearchStrategy[tuple[Move, ...]], breaks: Callable[[Sequence[Move]], bool], name: str, budget: int
) -> None:
    """Let hypothesis look for a change that breaks the case, and make it as small as possible; ``name`` is the seed."""
    from hypothesis import Phase, Verbosity, find, settings
    from hypothesis.errors import NoSuchExample

    quiet = settings(
        max_examples=10 * budget,  # most examples repeat earlier ones; it is the budget that ends a search
        phases=(Phase.generate, Phase.shrink),
        database=None,
        deadline=None,
        derandomize=False,  # the seed below decides; otherwise all searches would draw the same numbers
        verbosity=Verbosity.quiet,
    )
    random = Random(seed_of(name))  # noqa: S311  # nothing here is secret
    try:
        find(strategy, breaks, settings=quiet, random=random)
    except NoSuchExample:
        return


def strengths(moves: Sequence[Move]) -> SearchStrategy[tuple[Move, ...]]:
    """Return a strategy for one of the moves; half of its draws are the last one, which is known to break the case."""
    return _number(2 * len(moves)).map(lambda n: (moves[min(n, len(moves)) - 1],))


def several(directions: Sequence[Sequence[Move]]) -> SearchStrategy[tuple[Move, ...]]:
    """Return a strategy for one to three moves of different directions; half of the image moves have full strength."""
    from hypothesis import strategies

    one = strategies.tuples(_number(len(directions)), _number(2 * _GRAIN))
    lists = strategies.lists(one, min_size=1, max_size=_TOGETHER, unique_by=lambda drawn: drawn[0])
    return lists.map(lambda drawn: tuple(_at(directions[which - 1], n) for which, n in sorted(drawn)))


def _at(moves: Sequence[Move], n: int) -> Move:
    # Wordings have no full strength: all numbers up to ``2 * _GRAIN`` are spread over them evenly.
    part = (n + 1) // 2 if moves[0].kind == WORDING else min(n, _GRAIN)
    return moves[-(-part * len(moves) // _GRAIN) - 1]


def _number(most: int) -> SearchStrategy[int]:
    from hypothesis import strategies

    return strategies.integers(_FAR + 1, _FAR + most).map(lambda n: n - _FAR)


Ending = Literal["broken", "whole", "wrong", "unscored", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    moves: tuple[Move, ...]
    verdict: Verdict

    @property
    def says(self) -> str:
        return ", and ".join(move.says for move in self.moves)

    @property
    def distance(self) -> float:
        return sum(move.distance for move in self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    # ``ending`` is ``broken`` if a change was found and ``whole`` if none was. It is ``wrong``, ``unscored`` or
    # ``skipped`` if the unchanged case is not right, so that it was not searched; it is also ``skipped`` if no changed
    # case has a reply. ``calls`` counts the requests that the model was asked, out of ``budget``, and ``changes`` the
    # changes that were tried. ``note`` says what a reader must know about the search. ``no_parts`` says why no region
    # of a photograph was covered, and ``seed`` is that of the random choices.

    original: Verdict
    ending: Ending
    calls: int
    budget: int
    changes: int = 0
    find: Find | None = None
    note: str = ""
    no_parts: str = ""
    seed: int = 0


class Findings(Protocol):
    budget: int
    seed: int
    families: tuple[Family, ...]

    def record(self, search: Search) -> None:
        """Keep the search; fail the test if the case could not be scored."""


# The search tries every change of the image at full strength, then every other wording of one of the texts, the
# nearest first. Hypothesis shrinks each image change that breaks the case while it is smaller than the smallest so
# far. Edits of a drawn scene and regions of a photograph are tried at full strength, then at a half, a quarter and
# an eighth, and halved towards the weakest that breaks the case; with the calls that are left, the smaller untried
# ones follow, the smallest first. If no single change breaks the case, hypothesis draws up to three of them
# together, and shrinks them, first to fewer changes, then to weaker ones.
# To save calls, the search assumes that a stronger change breaks the case if a weaker one of its kind does, which
# is not always true. ``budget`` is the largest number of requests that the model is asked, including the case's
# own; none is asked twice. The result is the same for the same arguments and replies, unless a very slow model
# needs more than the five minutes after which hypothesis stops to shrink.
def smallest_change(
    batch: Batch, model: Predictor, *, budget: int, seed: int = 0, families: Collection[Family] = FAMILIES
) -> Search:
    if len(batch.positions) != 1:
        count = len(batch.positions)
        raise ValueError(f"batch={batch!r}: expected one case, found {count}; search each case by itself")
    asking = _Asking(batch=batch, model=model, budget=budget)
    try:
        original = asking.verdict(())
    except _BudgetSpent:
        least = len(set(batch.cases[0].requests))
        raise ValueError(f"budget={budget!r}: expected at least {least}, the case's own requests") from None
    if original.state != "judged" or not original.right:
        ending: Ending = "wrong" if original.state == "judged" else original.state
        return Search(original=original, ending=ending, calls=asking.calls, budget=budget)
    changes = space(batch.cases[0], families)
    asking.truth = changes.truth
    try:
        name = f"{seed}:shrink:{batch.task.id}:{batch.cases[0].id}"
        broken = [moves for moves in changes.images if asking.breaks(moves[-1:])]
        next((move for move in changes.wordings if asking.breaks((move,))), None)
        for moves in broken:
            smaller = [move for move in moves if asking.best is not None and move.distance < asking.best.distance]
            if smaller and asking.breaks(smaller[-1:]):
                shrink(strengths(smaller), asking.breaks, f"{name}:{moves[0].kind}", asking.budget)
        _search_parts(asking, changes.parts)
        if asking.best is None and changes.directions:
            shrink(several(changes.directions), asking.breaks, name, asking.budget)
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
        no_parts=changes.no_parts,
        seed=seed,
    )


class _BudgetSpent(BaseException):
    """The budget is used up. It is a BaseException, because hypothesis takes an Exception for a failing example."""


@dataclass(slots=True, kw_only=True)
class _Asking:
    batch: Batch
    model: Predictor
    budget: int
    replies: dict[Request, Prediction] = field(default_factory=dict)
    seen: dict[frozenset[Move], Verdict] = field(default_factory=dict)
    best: Find | None = None
    truth: Truth | None = None

    @property
    def calls(self) -> int:
        return len(self.replies)

    def verdict(self, moves: Sequence[Move]) -> Verdict:
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
        if not self.admits(moves):
            return False
        verdict = self.verdict(moves)
        if verdict.state != "judged" or verdict.right:
            return False
        find = Find(moves=tuple(moves), verdict=verdict)
        if self.best is None or _size(find) < _size(self.best):
            self.best = find
        return True

    def admits(self, moves: Sequence[Move]) -> bool:
        if {"crop", "turn"} <= {move.kind for move in moves}:
            return False  # each leaves every thing on the image, but both together may not
        drawn = [move for move in moves if move.redraw is not None]
        if self.truth is None or not drawn or len(moves) == 1:
            return True
        if any(move.kind in ("crop", "turn") for move in moves):
            return False  # the places of the things are others
        if len({move.kind.split()[-1] for move in drawn}) < len(drawn):
            return False  # two edits of one thing: it may be neither whole nor apart from the others
        shifted = any(move.kind.startswith(_SHIFTING) for move in drawn)
        return not shifted and self.truth.keeps(perturbed(self.batch.cases[0], drawn))

    def least_margin(self, moves: Sequence[Move]) -> float:
        tried = [self.seen[key] for move in moves if (key := frozenset((move,))) in self.seen]
        known = [margin(verdict, self.batch.task.shape) for verdict in tried if verdict.state == "judged"]
        return min((one for one in known if one is not None), default=inf)

    def ending(self) -> Ending:
        if self.best is not None:
            return "broken"
        changed = [verdict for moves, verdict in self.seen.items() if moves]
        return "skipped" if changed and all(verdict.state != "judged" for verdict in changed) else "whole"

    def unjudged(self) -> str:
        lacking = [verdict for verdict in self.seen.values() if verdict.state != "judged"]
        return f"{len(lacking)} changes have no verdict: {lacking[0].why}" if lacking else ""


_SHIFTING = ("move", "enlarge")  # edits that could bring two things too near to each other if both are edited


def _size(find: Find) -> tuple[int, float]:
    return len(find.moves), find.distance


def _search_parts(asking: _Asking, parts: Sequence[Sequence[Move]]) -> None:
    # Of directions whose strongest change does not break the case, those that bring it nearest to that come first.
    for moves in sorted(parts, key=lambda moves: moves[-1].distance):
        _halved(asking, moves)
    for share in _SHARES:
        for moves in sorted(parts, key=asking.least_margin):
            _halved(asking, moves[: -(-len(moves) // share)])
    untried = [move for moves in parts for move in moves if frozenset((move,)) not in asking.seen]
    for move in sorted(untried, key=lambda move: move.distance):
        if asking.best is not None and _size(asking.best) <= (1, move.distance):
            return
        asking.breaks((move,))


_SHARES = (2, 4, 8)
"""A change of a half, a quarter and an eighth of the strongest one may break a case that the strongest one does not."""


def _halved(asking: _Asking, moves: Sequence[Move]) -> None:
    smaller = [move for move in moves if asking.best is None or (1, move.distance) < _size(asking.best)]
    if not smaller or frozenset(smaller[-1:]) in asking.seen or not asking.breaks(smaller[-1:]):
        return
    holds, breaks = -1, len(smaller) - 1
    while breaks - holds > 1:
        middle = (holds + breaks) // 2
        if asking.breaks(smaller[middle : middle + 1]):
            breaks = middle
        else:
            holds = middle
