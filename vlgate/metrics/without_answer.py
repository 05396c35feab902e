"""Cases without an answer, a reply that could not be read or a tie: wrong, and evidence of nothing.

A refusal is neither yes nor what a prior says, so it lowers ``yes_share`` and ``prior_rate``, and a model could pass a
gate on their ``max`` by refusing. So such a gate passes only if it would with each of these cases counted in full.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics import bla
from vlgate.types import FloatArray, Shape

_USUAL, _OWN = 2, 3  # in a case of ``twin_captions``: the counterfactual image with the other caption and with its own


def of_ties(tied: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return the fact ``tied`` of answers: 1 for a tie of choices and NaN for all else; no fact if there is no tie.

    >>> of_ties(np.array([False, False]))
    {}
    """
    return {"tied": np.where(tied, 1.0, np.nan)} if tied.any() else {}


def lowered(shape: Shape, metric: str, facts: Mapping[str, FloatArray], scores: FloatArray) -> NDArray[np.bool_]:
    """Return which cases lower a metric because they lack an answer, shape (n,).

    Args:
        shape: the shape of the cases.
        metric: the metric: ``yes_share``, ``prior_rate``, ``other_rate``, ``set_error`` or a preference of a set; no
            case lowers another one, for which an answer that is missing is a wrong one.
        facts: the facts of the n cases, each of shape (n,).
        scores: the scores of the cases, shape (n, k).
    """
    if shape == "single" and metric == "yes_share":
        return np.asarray(facts["read"] == 0.0) | _ties(facts)
    if shape == "twin_questions" and metric in {"prior_rate", "other_rate"}:
        return np.asarray(facts["unread_rate"] == 1.0) | _ties(facts)
    if shape == "twin_captions" and metric == "prior_rate":
        return np.asarray(scores[:, _USUAL] == scores[:, _OWN])
    if metric == "set_error":
        return np.asarray(scores[:, :2].max(axis=1) <= scores[:, 2:].min(axis=1)) & (facts[metric] < 1.0)
    if metric in bla.PREFERENCES.get(shape, ()):
        first, second = bla.compared(shape, metric)
        return np.asarray(scores[:, first] == scores[:, second])
    return np.zeros(len(scores), dtype=np.bool_)


def _ties(facts: Mapping[str, FloatArray]) -> NDArray[np.bool_]:
    """Which cases have a tie of choices; ``False``, for all of them, if none has."""
    return np.asarray(facts.get("tied", np.nan) == 1.0, dtype=np.bool_)
