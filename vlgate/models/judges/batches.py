"""Batches of texts of similar length, so that little of the model's work is padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from vlgate.types import FloatArray

BATCH = 64
"""Texts per forward pass."""


def by_length(lengths: Sequence[int], size: int = BATCH) -> Iterator[list[int]]:
    """Yield batches of positions, the longest first, so that a lack of memory shows at once.

    >>> list(by_length([3, 9, 4], size=2))
    [[1, 2], [0]]
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for start in range(0, len(order), size):
        yield order[start : start + size]


def scored(texts: Sequence[Any], columns: int, score: Callable[[list[Any]], FloatArray]) -> FloatArray:
    """Score items in batches of similar length.

    Args:
        texts: n texts, or n pairs of texts.
        columns: how many numbers the scorer gives for each.
        score: takes a batch of b items and returns shape (b, columns).

    Returns: the scores in the order of ``texts``, shape (n, columns), each distinct item scored once.
    """
    distinct = list(dict.fromkeys(texts))
    found = np.zeros((len(distinct), columns))
    for places in by_length([_length(text) for text in distinct]):
        found[places] = score([distinct[place] for place in places])
    place_of = {text: place for place, text in enumerate(distinct)}
    return np.asarray(found[[place_of[text] for text in texts]].reshape(len(texts), columns), dtype=np.float64)


def _length(text: str | tuple[str, str]) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))
