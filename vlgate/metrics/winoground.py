"""Metrics of quads (Winoground §3, equations 1 to 3): two images and two captions of the same words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import wins
from vlgate.types import FloatArray, Ties

METRICS = ("text", "image", "group", "group_match")
TWIN_METRICS = ("text", "image", "group", "group_match", "acc_normal", "acc_counterfactual", "prior_rate")
"""Those of two captions of twins: a counterfactual image beside the normal one."""


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


def twin_facts(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what two captions of two twins contribute: the metrics of a ``quad``, and three of each image by itself.

    ``acc_normal`` and ``acc_counterfactual``: the image fits its own caption better than the other one. ``prior_rate``:
    the counterfactual image fits the caption of the normal one better than its own; a lower rate is better. Chance, for
    scores without ties, is 1/2 for each of the three. A tie is neither right nor the prior under ``strict``, a half of
    both under ``half``, and right under ``credit``.

    Args:
        scores: shape (n, 4): normal image with its caption and with the other one, counterfactual image with the
            caption of the normal one and with its own.
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1.
    Raises: ValueError if a score is NaN.
    """
    normal, other, usual, own = scores.T
    against: Ties = "half" if ties == "half" else "strict"
    return {
        **facts(scores, ties),
        "acc_normal": wins(normal, other, ties),
        "acc_counterfactual": wins(own, usual, ties),
        "prior_rate": wins(usual, own, against),
    }


def chosen_facts(won: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each quad contributes if a model chooses, asked with both images together, instead of scoring.

    ``text``: for each image its own caption is chosen; ``image``: for each caption its own image is chosen;
    ``group``: both. There are no scores, so there is no ``group_match``.

    Args:
        won: shape (n, 4), whether the right one is chosen in both orders: of the captions for image 0 and for image 1,
            of the images for caption 0 and for caption 1.

    Returns: values by name, each of shape (n,), in 0..1.

    >>> chosen_facts(np.array([[True, True, True, False]]))["text"].tolist()
    [1.0]
    """
    text, image = np.asarray(won[:, :2].all(axis=1)), np.asarray(won[:, 2:].all(axis=1))
    found = {"text": text, "image": image, "group": text & image}
    return {name: values.astype(np.float64) for name, values in found.items()}


def chosen_twin_facts(won: NDArray[np.bool_], prior: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what two captions of two twins contribute: the metrics of a quad, and three of each image by itself.

    Args:
        won: as for ``chosen_facts``; image 0 is the normal one.
        prior: shape (n,), whether the caption of the normal image is chosen for the counterfactual one in both orders.

    Returns: values by name, each of shape (n,), in 0..1; see ``twin_facts``.
    """
    found = {"acc_normal": won[:, 0], "acc_counterfactual": won[:, 1], "prior_rate": prior}
    return {**chosen_facts(won), **{name: values.astype(np.float64) for name, values in found.items()}}
