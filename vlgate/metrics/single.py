"""Metrics of single yes/no questions and statements (Li et al. 2023, POPE, section 5; Liu et al. 2023, VSR)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import Measure, Separation, Values, of_ties
from vlgate.types import FloatArray

METRICS = ("accuracy", "precision", "recall", "f1", "yes_share", "auroc", "read")


def facts(said: FloatArray, truths: NDArray[np.bool_], read: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each question contributes to the metrics of POPE that are means over all questions (section 5).

    ``accuracy``: the answer is right; ``yes_share``: the answer is yes; ``read``: the answer could be read. An answer
    that could not be read is neither yes nor no, so it is wrong. ``truth``, which is not a metric: yes is right. So is
    ``tied``: the answer is a tie; only ties have it.

    Args:
        said: shape (n,), 1.0 for yes, 0.0 for no, NaN for an answer that could not be read, or a tie.
        truths: shape (n,), whether yes is right.
        read: shape (n,), whether the answer could be read.

    Returns: values by name, each of shape (n,), in 0..1.

    >>> facts(np.array([1.0, np.nan]), np.array([True, False]), np.array([True, False]))["accuracy"].tolist()
    [1.0, 0.0]
    """
    return {
        "accuracy": (said == truths).astype(np.float64),
        "yes_share": (said == 1.0).astype(np.float64),
        "read": read.astype(np.float64),
        "truth": truths.astype(np.float64),
        **of_ties(np.isnan(said) & read),
    }


def statistics(said: FloatArray, truths: NDArray[np.bool_], scores: FloatArray) -> dict[str, Measure]:
    """Return those metrics of POPE that are not means over all questions; yes is the positive class.

    ``precision``: the share of the answers yes that are right; absent if no answer is yes. ``recall``: the share of
    the questions with the truth yes that are answered yes; absent if there is none.
    ``f1``: ``2 TP / (2 TP + FP + FN)``; absent if both are. ``auroc``: the area under the ROC curve of the scores;
    absent if the model gives none, or all truths are alike.

    An answer that could not be read, or a tie, counts as the wrong answer: a false positive if the truth is no, a false
    negative if it is yes. So ``f1`` and ``precision`` fall if a model refuses what it would have denied. POPE's code
    takes such an answer for a yes unless it has one of three words, and that of RePOPE leaves it out.

    Args:
        said: shape (n,), 1.0 for yes, 0.0 for no, NaN for an answer that could not be read, or a tie.
        truths: shape (n,), whether yes is right.
        scores: shape (n,), how surely the answer is yes; NaN if the model does not say.

    Returns: measures by name.
    """
    yes = np.where(np.isnan(said), ~truths, said == 1.0)
    hits = yes & truths
    counted = np.repeat(np.arange(len(said)), yes.astype(np.int64) + truths)
    found: dict[str, Measure] = {
        name: Values(values=hits[rows].astype(np.float64), rows=rows)
        # F1 is a share, too: of 2 TP + FP + FN, in which a hit counts twice.
        for name, rows in (("precision", np.flatnonzero(yes)), ("recall", np.flatnonzero(truths)), ("f1", counted))
        if rows.size
    }
    rows = np.flatnonzero(np.isfinite(scores))
    if truths[rows].any() and not truths[rows].all():
        found["auroc"] = Separation(scores=scores[rows], truths=truths[rows], rows=rows)
    return found
