"""Random choices of a seeded generator, quick enough to be made some fifty times a pair."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import TypeVar

T = TypeVar("T")


def chance_of(seed: int, name: str) -> Random:
    """Return a generator for ``name``; another name gives independent choices.

    >>> chance_of(0, "order-inv").random() == chance_of(0, "order-inv").random()
    True
    """
    return Random(f"{seed}/{name}")  # noqa: S311 - nothing secret; a string is hashed by SHA-512, whatever PYTHONHASHSEED


def pick(chance: Random, things: Sequence[T]) -> T:
    """Choose one of ``things``, each as likely.

    Raises: IndexError where there is none.
    """
    return things[int(chance.random() * len(things))]


class Weighted:
    """Words with their weights, drawn in proportion to them.

    >>> Weighted({"cup": 1, "ball": 0}).draw(chance_of(0, "a"))
    'cup'
    """

    __slots__ = ("_sums", "words")

    def __init__(self, weights: Mapping[str, float]) -> None:
        """Take the words in sorted order, so that equal weights give equal draws."""
        self.words = tuple(sorted(word for word, weight in weights.items() if weight > 0))
        self._sums = tuple(accumulate(weights[word] for word in self.words))

    def __bool__(self) -> bool:
        """Whether there is a word to draw."""
        return bool(self.words)

    def draw(self, chance: Random) -> str:
        """Choose a word.

        Raises: IndexError where there is none.
        """
        return self.words[bisect(self._sums, chance.random() * self._sums[-1])]


def drawn(chance: Random, things: Sequence[T], weights: Sequence[float]) -> T:
    """Choose one of ``things`` in proportion to ``weights``, which are above 0.

    Raises: IndexError where there is none.
    """
    sums = list(accumulate(weights))
    return things[bisect(sums, chance.random() * sums[-1])]
