"""Metrics of two questions about two images whose answers are crossed (Li et al. 2024, NaturalBench, section 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

METRICS = ("g_acc", "q_acc", "i_acc", "q_image_acc", "read")


def facts(right: NDArray[np.bool_], read: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each group of four answers contributes to the metrics of NaturalBench (section 4).

    ``g_acc``: all four answers are right. ``q_acc``: the share of the two questions that are answered right for both
    images. ``i_acc``: the share of the two images for which both questions are answered right. ``q_image_acc``: the
    share of right answers, the paper's Acc. ``read``: the share of answers that could be read. A model that does not
    look at the image answers a question alike twice, so its ``q_acc`` and ``g_acc`` are 0.

    Args:
        right: shape (n, 4), whether each answer is right: (image_0, question_0), (image_0, question_1),
            (image_1, question_0), (image_1, question_1).
        read: shape (n, 4), whether each answer could be read.

    Returns: values by name, each of shape (n,), in 0..1.

    >>> facts(np.array([[True, True, True, False]]), np.ones((1, 4), dtype=bool))["q_acc"].tolist()
    [0.5]
    """
    i0q0, i0q1, i1q0, i1q1 = right.T
    found = {
        "g_acc": right.all(axis=1).astype(np.float64),
        "q_acc": ((i0q0 & i1q0).astype(np.float64) + (i0q1 & i1q1)) / 2,
        "i_acc": ((i0q0 & i0q1).astype(np.float64) + (i1q0 & i1q1)) / 2,
        "q_image_acc": right.mean(axis=1),
        "read": read.mean(axis=1),
    }
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}
