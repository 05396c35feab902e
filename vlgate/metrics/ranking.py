"""Metrics of pairs (VALSE §4, VL-CheckList §4, SugarCrepe): a caption and its foil, for one image."""

from __future__ import annotations

import numpy as np

from vlgate.metrics.measures import Area, Measure, Smaller, wins
from vlgate.types import FloatArray, Ties

METRICS = ("acc_r", "acc", "p_c", "p_f", "min_pc_pf", "auroc")


def facts(scores: FloatArray, accepted: FloatArray, ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each pair contributes to those metrics of VALSE that are means (Parcalabescu et al. 2022, §4).

    ``acc_r``: the caption scores above its foil. If the model also accepts or rejects both texts: ``p_c``: the caption
    is accepted; ``p_f``: the foil is rejected (both are class recalls, which the paper calls precisions); ``acc``: the
    mean of the two. ``tied``: both texts have exactly the same score.

    Args:
        scores: shape (n, 2), the scores of the caption and of the foil.
        accepted: shape (n, 2), 1.0 for yes, 0.0 for no, NaN if the model does not say.
        ties: what an exact tie counts in ``acc_r``.

    Returns: values by name, each of shape (n,), in 0..1; ``acc``, ``p_c`` and ``p_f`` are NaN if the model does not
        say yes or no to both texts.
    Raises: ValueError if a score is NaN.
    """
    yes, no = accepted[:, 0], 1.0 - accepted[:, 1]
    both = np.isfinite(yes) & np.isfinite(no)
    return {
        "acc_r": wins(scores[:, 0], scores[:, 1], ties),
        "acc": (yes + no) / 2,
        "p_c": np.where(both, yes, np.nan),
        "p_f": np.where(both, no, np.nan),
        "tied": (scores[:, 0] == scores[:, 1]).astype(np.float64),
    }


def statistics(scores: FloatArray, accepted: FloatArray) -> dict[str, Measure]:
    """Return those metrics of VALSE that are not means, over the pairs whose two texts the model accepts or rejects.

    ``min_pc_pf`` is the smaller of the means ``p_c`` and ``p_f``. ``auroc`` is the area under the ROC curve of the
    scores of all captions and foils; a tie of a caption and a foil counts 1/2, whatever ``--ties`` is.

    Args:
        scores: shape (n, 2), the scores of the caption and of the foil.
        accepted: shape (n, 2), 1.0 for yes, 0.0 for no, NaN if the model does not say.

    Returns: measures by name; empty if there are no such pairs.
    """
    rows = np.flatnonzero(np.isfinite(accepted).all(axis=1))
    if not rows.size:
        return {}
    yes, no = accepted[rows, 0], 1.0 - accepted[rows, 1]
    return {
        "min_pc_pf": Smaller(first=yes, second=no, rows=rows),
        "auroc": Area(positive=scores[rows, 0], negative=scores[rows, 1], rows=rows),
    }
