"""Metrics of question pairs (CARETS §5): an original question and its perturbed partner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

METRICS = ("acc", "cons", "c_acc", "acc_original", "acc_perturbed", "read")
TWIN_METRICS = ("acc", "c_acc", "acc_normal", "acc_counterfactual", "prior_rate", "other_rate", "unread_rate")
"""Those of one question about twins: a counterfactual image, such as a dog with five legs, beside the normal one."""


def facts(right: NDArray[np.bool_], consistent: NDArray[np.bool_], read: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each pair of questions contributes to the metrics of CARETS (Jimenez et al. 2022, §5).

    ``acc``: the share of the two answers that are right; ``cons``: the answers relate to each other as they should,
    right or not (equal for invariance, different for a directional expectation); ``c_acc``: both answers are right;
    ``acc_original`` and ``acc_perturbed``: the answer to that question is right. ``read`` is not in the paper: the
    share of the two answers that could be read; the others name none of the question's choices, or several.

    Args:
        right: shape (n, 2), whether the answers to the original and to the perturbed question are right.
        consistent: shape (n,), whether the answers relate as they should.
        read: shape (n, 2), whether the answers could be read.

    Returns: values by name, each of shape (n,), in 0..1.
    """
    found = {
        "acc": right.mean(axis=1),
        "cons": consistent,
        "c_acc": right.all(axis=1),
        "acc_original": right[:, 0],
        "acc_perturbed": right[:, 1],
        "read": read.mean(axis=1),
    }
    return {name: values.astype(np.float64) for name, values in found.items()}


def twin_facts(right: NDArray[np.bool_], prior: NDArray[np.bool_], read: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each question about two twins contributes to the metrics of its task.

    ``acc``: the share of the two answers that are right; ``c_acc``: both are; ``acc_normal`` and
    ``acc_counterfactual``: the answer about that image is right. The answer about the counterfactual image is otherwise
    the right one of the normal image (``prior_rate``), another wrong one or a tie of choices (``other_rate``), or names
    none of the choices or several (``unread_rate``), so that these three and ``acc_counterfactual`` add up to 1. A
    lower rate is better. ``read``, which is not a metric here, is the share of the two answers that could be read. A
    model without a prior can still have a ``prior_rate`` of 0 and be wrong everywhere: gate it together with ``c_acc``.

    Args:
        right: shape (n, 2), whether the answers about the normal and about the counterfactual image are right.
        prior: shape (n,), whether the answer about the counterfactual image is the right one of the normal image.
        read: shape (n, 2), whether these answers could be read.

    Returns: values by name, each of shape (n,), in 0..1.

    >>> facts = twin_facts(np.array([[True, False]]), np.array([True]), np.array([[True, True]]))
    >>> facts["acc"].item(), facts["prior_rate"].item(), facts["other_rate"].item()
    (0.5, 1.0, 0.0)
    """
    wrong = ~right[:, 1]
    found = {
        "acc": right.mean(axis=1),
        "c_acc": right.all(axis=1),
        "acc_normal": right[:, 0],
        "acc_counterfactual": right[:, 1],
        "prior_rate": wrong & read[:, 1] & prior,
        "other_rate": wrong & read[:, 1] & ~prior,
        "unread_rate": wrong & ~read[:, 1],
        "read": read.mean(axis=1),
    }
    return {name: values.astype(np.float64) for name, values in found.items()}
