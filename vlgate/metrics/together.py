"""Metrics of cases that are asked with their images together: forced choices, each asked in two orders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray


def quad_facts(won: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each quad contributes to the metrics of Winoground (Thrush et al. 2022, section 3).

    ``text``: for each image its own caption is chosen; ``image``: for each caption its own image is chosen;
    ``group``: both. There are no scores, so there is no ``group_match``.

    Args:
        won: shape (n, 4), whether the right one is chosen in both orders: of the captions for image 0 and for image 1,
            of the images for caption 0 and for caption 1.

    Returns: values by name, each of shape (n,), in 0..1.

    >>> quad_facts(np.array([[True, True, True, False]]))["text"].tolist()
    [1.0]
    """
    text, image = np.asarray(won[:, :2].all(axis=1)), np.asarray(won[:, 2:].all(axis=1))
    found = {"text": text, "image": image, "group": text & image}
    return {name: values.astype(np.float64) for name, values in found.items()}


def twin_facts(won: NDArray[np.bool_], prior: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what two captions of two twins contribute: the metrics of a quad, and three of each image by itself.

    Args:
        won: as for ``quad_facts``; image 0 is the normal one.
        prior: shape (n,), whether the caption of the normal image is chosen for the counterfactual one in both orders.

    Returns: values by name, each of shape (n,), in 0..1; see ``winoground.twin_facts``.
    """
    found = {"acc_normal": won[:, 0], "acc_counterfactual": won[:, 1], "prior_rate": prior}
    return {**quad_facts(won), **{name: values.astype(np.float64) for name, values in found.items()}}
