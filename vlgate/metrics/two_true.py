"""Metrics of two true captions and a false one, for one image (Dumpala et al. 2024, SugarCrepe++, section 3)."""

from __future__ import annotations

import numpy as np

from vlgate.metrics.measures import wins
from vlgate.types import FloatArray, Ties

METRICS = ("itt", "itt_first", "itt_second")


def facts(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each case contributes to the metrics of SugarCrepe++ that look at the image (section 3).

    ``itt``, the paper's image-to-text score: both true captions score above the false one; ``itt_first`` and
    ``itt_second``: that caption does. Chance, for scores in random order without ties, is 1/3, 1/2 and 1/2. ``tied``:
    a true caption and the false one have exactly the same score.

    Args:
        scores: shape (n, 3): the two true captions, then the false one.
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1.
    Raises: ValueError if a score is NaN.

    >>> facts(np.array([[0.9, 0.3, 0.5]]))["itt"].tolist()
    [0.0]
    """
    first, second, false = scores.T
    won = wins(first, false, ties), wins(second, false, ties)
    tied = (first == false) | (second == false)
    return {
        "itt": won[0] * won[1],
        "itt_first": won[0],
        "itt_second": won[1],
        "tied": tied.astype(np.float64),
    }
