"""What hypothesis draws and shrinks: one of several strengths of a change, or several changes together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING

from vlgate.shrink.moves import Move
from vlgate.shrink.space import WORDING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_TOGETHER = 3  # changes at once: with more of them nobody can say what the model stumbled over
_GRAIN = 120  # strengths of a direction that are told apart where several are changed together
# Hypothesis mixes constants of the loaded modules into small integers, so that a draw would depend on what else was
# imported. It finds none at this distance from zero.
_FAR = 7_340_000


def shrink(
    strategy: SearchStrategy[tuple[Move, ...]], breaks: Callable[[Sequence[Move]], bool], name: str, budget: int
) -> None:
    """Have hypothesis look for a change that breaks the case, and make it as small as it can; ``name`` is the seed."""
    from hypothesis import Phase, Verbosity, find, settings
    from hypothesis.errors import NoSuchExample

    quiet = settings(
        max_examples=10 * budget,  # of which most are known: the budget is what ends a search
        phases=(Phase.generate, Phase.shrink),
        database=None,
        deadline=None,
        derandomize=False,  # the seed below decides; derandomized, all searches would draw alike
        verbosity=Verbosity.quiet,
    )
    random = Random(int.from_bytes(sha256(name.encode()).digest()[:8], "big"))  # noqa: S311  # no secret
    try:
        find(strategy, breaks, settings=quiet, random=random)
    except NoSuchExample:
        return


def strengths(moves: Sequence[Move]) -> SearchStrategy[tuple[Move, ...]]:
    """One of the moves; half of the draws are the last one, which is known to break the case if any does."""
    return _number(2 * len(moves)).map(lambda n: (moves[min(n, len(moves)) - 1],))


def several(directions: Sequence[Sequence[Move]]) -> SearchStrategy[tuple[Move, ...]]:
    """One to three moves of different directions; half of the pictures' changes are the strongest of their kind."""
    from hypothesis import strategies

    one = strategies.tuples(_number(len(directions)), _number(2 * _GRAIN))
    lists = strategies.lists(one, min_size=1, max_size=_TOGETHER, unique_by=lambda drawn: drawn[0])
    return lists.map(lambda drawn: tuple(_at(directions[which - 1], n) for which, n in sorted(drawn)))


def _at(moves: Sequence[Move], n: int) -> Move:
    """The n-th of ``_GRAIN`` strengths of a direction, all above it the last; no wording is stronger than another."""
    part = (n + 1) // 2 if moves[0].kind == WORDING else min(n, _GRAIN)
    return moves[-(-part * len(moves) // _GRAIN) - 1]


def _number(most: int) -> SearchStrategy[int]:
    """A number from 1 to ``most``, which shrinks to 1."""
    from hypothesis import strategies

    return strategies.integers(_FAR + 1, _FAR + most).map(lambda n: n - _FAR)
