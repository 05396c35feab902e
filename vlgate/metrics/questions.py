"""Metrics of question pairs (CARETS §5): an original question and its perturbed partner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

METRICS = ("acc", "cons", "c_acc", "acc_original", "acc_perturbed", "read")


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
