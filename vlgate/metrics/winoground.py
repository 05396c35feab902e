"""Metrics of quads (Winoground §3, equations 1 to 3): two images and two captions of the same words."""

from __future__ import annotations

import numpy as np

from vlgate.metrics.measures import wins
from vlgate.types import FloatArray, Ties

METRICS = ("text", "image", "group", "group_match")


def facts(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each quad contributes to the metrics of Winoground (Thrush et al. 2022, §3).

    ``text``: each image fits its own caption better than the other; ``image``: each caption fits its own image better
    than the other; ``group``: both. ``group_match``: the right assignment of captions to images has the higher sum of
    scores. Chance, for scores without ties, is 1/4, 1/4, 1/6 and 1/2. ``tied``: one of the four comparisons is a tie.

    A tied comparison makes a quad wrong under ``strict``, halves its value under ``half``, and counts as won under
    ``credit``.

    Args:
        scores: shape (n, 4): (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1).
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1.
    Raises: ValueError if a score is NaN.
    """
    i0c0, i0c1, i1c0, i1c1 = scores.T
    text = wins(i0c0, i0c1, ties) * wins(i1c1, i1c0, ties)
    image = wins(i0c0, i1c0, ties) * wins(i1c1, i0c1, ties)
    tied = (i0c0 == i0c1) | (i0c0 == i1c0) | (i1c1 == i1c0) | (i1c1 == i0c1)
    return {
        "text": text,
        "image": image,
        "group": text * image,
        "group_match": wins(i0c0 + i1c1, i0c1 + i1c0, ties),
        "tied": tied.astype(np.float64),
    }
