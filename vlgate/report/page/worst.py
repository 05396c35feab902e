"""Which missed cases of a task a page shows: the worst ones, then a seeded sample of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def chosen(margin: FloatArray, most: int, seed: str, kept: Sequence[int] = ()) -> list[int]:
    """Return the places of at most ``most`` missed cases: the ``WORST`` worst ones, ``kept``, then a seeded sample.

    All of ``kept`` are among them, even if there are more than ``most``. Those after the worst ones are in order.

    >>> chosen(np.array([0.1, 0.3, 0.2]), 2, "x")
    [1, 2]
    >>> chosen(np.array([0.1, 0.3, 0.2, 0.0]), 3, "x", kept=[3])
    [1, 2, 3]
    """
    order: NDArray[Any] = np.argsort(-margin, kind="stable")
    first = order[: min(WORST, most)]
    must = np.setdiff1d(np.asarray(kept, dtype=order.dtype), first)
    others = np.setdiff1d(order[len(first) :], must)
    room = max(0, most - len(first) - len(must))
    if len(others) > room:
        others = generator(seed).choice(others, size=room, replace=False)
    return [int(place) for place in (*first, *np.sort(np.concatenate([must, others])))]
