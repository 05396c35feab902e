"""Metrics of twins: a counterfactual image, such as a dog with five legs, beside the normal one.

A model that answers from what is usual, not from what it sees, gives the normal image's answer to both. So the errors
on the counterfactual image are split by whether they are that answer (the *prior*).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics import winoground
from vlgate.metrics.measures import wins
from vlgate.types import FloatArray, Shape, Ties

METRICS: Mapping[Shape, tuple[str, ...]] = {
    "twin_questions": (
        "acc",
        "c_acc",
        "acc_normal",
        "acc_counterfactual",
        "prior_rate",
        "other_rate",
        "unread_rate",
    ),
    "twin_captions": (*winoground.METRICS, "acc_normal", "acc_counterfactual", "prior_rate"),
}


def question_facts(
    right: NDArray[np.bool_], prior: NDArray[np.bool_], read: NDArray[np.bool_]
) -> dict[str, FloatArray]:
    """Return what each question about two twins contributes to the metrics of its task.

    ``acc``: the share of the two answers that are right; ``c_acc``: both are; ``acc_normal`` and
    ``acc_counterfactual``: the answer about that image is right. The answer about the counterfactual image is otherwise
    the right one of the normal image (``prior_rate``), another wrong one or a tie of choices (``other_rate``), or names
    none of the choices or several (``unread_rate``), so that these three and ``acc_counterfactual`` add up to 1. A
    lower rate is better. A model without a prior can still have a ``prior_rate`` of 0 and be wrong everywhere: gate it
    together with ``c_acc``.

    Args:
        right: shape (n, 2), whether the answers about the normal and about the counterfactual image are right.
        prior: shape (n,), whether the answer about the counterfactual image is the right one of the normal image.
        read: shape (n,), whether the answer about the counterfactual image could be read.

    Returns: values by name, each of shape (n,), in 0..1.

    >>> facts = question_facts(np.array([[True, False]]), np.array([True]), np.array([True]))
    >>> facts["acc"].item(), facts["prior_rate"].item(), facts["other_rate"].item()
    (0.5, 1.0, 0.0)
    """
    wrong = ~right[:, 1]
    found = {
        "acc": right.mean(axis=1),
        "c_acc": right.all(axis=1),
        "acc_normal": right[:, 0],
        "acc_counterfactual": right[:, 1],
        "prior_rate": wrong & read & prior,
        "other_rate": wrong & read & ~prior,
        "unread_rate": wrong & ~read,
    }
    return {name: values.astype(np.float64) for name, values in found.items()}


def caption_facts(scores: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
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
        **winoground.facts(scores, ties),
        "acc_normal": wins(normal, other, ties),
        "acc_counterfactual": wins(own, usual, ties),
        "prior_rate": wins(usual, own, against),
    }
