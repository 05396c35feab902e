"""The strategies that hypothesis draws from and shrinks: one strength of a change, or several changes together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from vlgate.seeds import seed_of
from vlgate.shrink.moves import Move
from vlgate.shrink.space import WORDING

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
    """The n-th of ``_GRAIN`` strengths of a direction, and the last one for larger n.

    Wordings have no full strength: all numbers up to ``2 * _GRAIN`` are spread over them evenly.
    """
    part = (n + 1) // 2 if moves[0].kind == WORDING else min(n, _GRAIN)
    return moves[-(-part * len(moves) // _GRAIN) - 1]


def _number(most: int) -> SearchStrategy[int]:
    """A number from 1 to ``most``, which shrinks to 1."""
    from hypothesis import strategies

    return strategies.integers(_FAR + 1, _FAR + most).map(lambda n: n - _FAR)
