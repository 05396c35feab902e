"""Metrics of choices: one image with one true and several false texts, or one text and several images.

The first form is that of What'sUp's controlled sets (Kamath et al. 2023, section 3) and of SPEC's image-to-text half
(Peng et al. 2024); the second is that of SPEC's text-to-image half and of SVO-Probes (Hendricks, Nematzadeh 2021).
"""

from __future__ import annotations

import numpy as np

from vlgate.metrics.measures import wins
from vlgate.types import FloatArray, Ties

TEXT = "top1_text"
IMAGE = "top1_image"
METRICS = (TEXT,)
IMAGE_METRICS = (IMAGE,)


def facts(scores: FloatArray, name: str, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each choice contributes to the share of choices whose true candidate has the highest score.

    Chance, for scores in random order without ties, is 1 / k for k candidates. ``tied``: the true candidate scores
    exactly as high as the best false one. Under ``half`` and ``credit`` a tie with one false candidate counts as one
    with several: released code that takes the first of the highest scores counts all ties as right if the true
    candidate comes first.

    Args:
        scores: shape (n, k), the true candidate first; NaN behind the last candidate of a case with fewer than k.
        name: ``TEXT`` or ``IMAGE``, the name of the metric.
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1.
    Raises: ValueError if a case has no score of its true candidate, or of no false one.

    >>> facts(np.array([[0.9, 0.1, 0.2], [0.4, 0.4, 0.1]]), TEXT)["top1_text"].tolist()
    [1.0, 0.0]
    """
    true, others = scores[:, 0], scores[:, 1:]
    if not bool(np.isfinite(others).any(axis=1).all()):
        raise ValueError("a choice has no score of a false candidate: expected at least one")
    best = np.nanmax(others, axis=1)
    return {name: wins(true, best, ties), "tied": (true == best).astype(np.float64)}
