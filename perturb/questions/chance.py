"""Random choices with a seeded generator, quick enough to make about fifty for each pair of questions."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import TypeVar

T = TypeVar("T")


def pick(chance: Random, things: Sequence[T]) -> T:
    """Choose one of ``things`` with equal probability.

    Raises: IndexError if ``things`` is empty.
    """
    return things[int(chance.random() * len(things))]


class Weighted:
    """Words that are drawn in proportion to their weights.

    >>> Weighted({"cup": 1, "ball": 0}).draw(Random(0))
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

    def kept(self, keeps: Callable[[str], bool]) -> Weighted:
        """Return those of the words that a condition holds of, in the same proportion."""
        sums = (0.0, *self._sums)
        return Weighted({word: sums[at + 1] - sums[at] for at, word in enumerate(self.words) if keeps(word)})

    def draw(self, chance: Random) -> str:
        """Choose a word.

        Raises: IndexError if no word has a weight above 0.
        """
        return self.words[bisect(self._sums, chance.random() * self._sums[-1])]


class Kept:
    """Parts of distributions by key, each found once."""

    def __init__(self) -> None:
        """None is found yet."""
        self._found: dict[Hashable, Weighted] = {}

    def kept(self, key: Hashable, words: Weighted, keeps: Callable[[str], bool]) -> Weighted:
        """Return the words that a condition holds of; the same for the same key, whatever the others are."""
        if key not in self._found:
            self._found[key] = words.kept(keeps)
        return self._found[key]


def drawn(chance: Random, things: Sequence[T], weights: Sequence[float]) -> T:
    """Choose one of ``things`` in proportion to ``weights``, which must be above 0.

    Raises: IndexError if ``things`` is empty.
    """
    sums = list(accumulate(weights))
    return things[bisect(sums, chance.random() * sums[-1])]
