"""Which missed cases of a task a page shows: the worst ones, then a seeded sample of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.seeds import generator
from vlgate.types import FloatArray

WORST = 2

_COMPARED: Mapping[str, tuple[tuple[int, int], ...]] = {
    "acc_r": ((1, 0),),
    "group": ((1, 0), (2, 3), (2, 0), (1, 3)),
    "set_acc": ((2, 0), (2, 1), (3, 0), (3, 1)),
}
"""By headline metric: the pairs of requests, false and true, whose scores the rule of a case compares."""


def margins(headline: str, scores: FloatArray, wrong: FloatArray) -> FloatArray:
    """Return by how much each missed case is missed: the most by which a false text scores above a true one.

    Args:
        headline: the headline metric of the task.
        scores: the scores of the requests, shape (n, k); NaN for questions.
        wrong: the share of wrong answers of each case, shape (n,), which counts for questions.

    >>> margins("acc_r", np.array([[0.2, 0.5]]), np.zeros(1)).tolist()
    [0.3]
    """
    compared = _COMPARED.get(headline)
    if compared is None:
        return wrong
    above: FloatArray = np.max([scores[:, false] - scores[:, true] for false, true in compared], axis=0)
    return above


def chosen(margin: FloatArray, most: int, seed: str) -> list[int]:
    """Return the places of at most ``most`` missed cases: the ``WORST`` worst ones, then a seeded sample in order.

    >>> chosen(np.array([0.1, 0.3, 0.2]), 2, "x")
    [1, 2]
    """
    order: NDArray[Any] = np.argsort(-margin, kind="stable")
    first, others = order[:WORST], np.sort(order[WORST:])
    room = max(0, most - len(first))
    if len(others) > room:
        others = np.sort(generator(seed).choice(others, size=room, replace=False))
    return [int(place) for place in (*first[:most], *others)]
