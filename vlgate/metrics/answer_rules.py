"""The rules of the shapes that are answered: single questions, question pairs and twins, crossed questions."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import Measure, mean_of, of_ties
from vlgate.metrics.stats import separation
from vlgate.types import FloatArray

# Metrics of single yes/no questions and statements (Li et al. 2023, POPE, section 5; Liu et al. 2023, VSR).

SINGLE_METRICS = ("accuracy", "precision", "recall", "f1", "yes_share", "auroc", "read")


def single_case_metrics(said: FloatArray, truths: NDArray[np.bool_], read: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each question contributes to the metrics of POPE that are means over all questions (section 5).

    ``accuracy``: the answer is right; ``yes_share``: the answer is yes; ``read``: the answer could be read. An answer
    that could not be read is neither yes nor no, so it is wrong. ``truth``, which is not a metric: yes is right. So is
    ``tied``: the answer is a tie; only ties have it.
    """
    # ``said``, shape (n,), is 1.0 for yes, 0.0 for no, NaN for an answer that could not be read, or a tie
    return {
        "accuracy": (said == truths).astype(np.float64),
        "yes_share": (said == 1.0).astype(np.float64),
        "read": read.astype(np.float64),
        "truth": truths.astype(np.float64),
        **of_ties(np.isnan(said) & read),
    }


def single_statistics(said: FloatArray, truths: NDArray[np.bool_], scores: FloatArray) -> dict[str, Measure]:
    """Return those metrics of POPE that are not means over all questions; yes is the positive class.

    ``precision``: the share of the answers yes that are right; absent if no answer is yes. ``recall``: the share of
    the questions with the truth yes that are answered yes; absent if there is none.
    ``f1``: ``2 TP / (2 TP + FP + FN)``; absent if both are. ``auroc``: the area under the ROC curve of the scores;
    absent if the model gives none, or all truths are alike.

    An answer that could not be read, or a tie, counts as the wrong answer: a false positive if the truth is no, a false
    negative if it is yes. So ``f1`` and ``precision`` fall if a model refuses what it would have denied. POPE's code
    takes such an answer for a yes unless it has one of three words, and that of RePOPE leaves it out.
    """
    yes = np.where(np.isnan(said), ~truths, said == 1.0)
    hits = yes & truths
    counted = np.repeat(np.arange(len(said)), yes.astype(np.int64) + truths)
    found: dict[str, Measure] = {
        name: mean_of(hits[rows].astype(np.float64), rows)
        # F1 is a share, too: of 2 TP + FP + FN, in which a hit counts twice.
        for name, rows in (("precision", np.flatnonzero(yes)), ("recall", np.flatnonzero(truths)), ("f1", counted))
        if rows.size
    }
    rows = np.flatnonzero(np.isfinite(scores))
    if truths[rows].any() and not truths[rows].all():
        found["auroc"] = Measure(rows=rows, of=partial(separation, scores[rows], truths[rows]))
    return found


# Metrics of question pairs (CARETS §5): an original question and its perturbed partner.

QUESTION_PAIR_METRICS = ("acc", "cons", "c_acc", "acc_original", "acc_perturbed", "read")
QUESTION_TWIN_METRICS = ("acc", "c_acc", "acc_normal", "acc_counterfactual", "prior_rate", "other_rate", "unread_rate")
"""Those of one question about twins: a counterfactual image, such as a dog with five legs, beside the normal one."""


def question_pair_case_metrics(
    right: NDArray[np.bool_], consistent: NDArray[np.bool_], read: NDArray[np.bool_]
) -> dict[str, FloatArray]:
    """Return what each pair of questions contributes to the metrics of CARETS (Jimenez et al. 2022, §5).

    ``acc``: the share of the two answers that are right; ``cons``: the answers relate to each other as they should,
    right or not (equal for invariance, different for a directional expectation); ``c_acc``: both answers are right;
    ``acc_original`` and ``acc_perturbed``: the answer to that question is right. ``read`` is not in the paper: the
    share of the two answers that could be read; the others name none of the question's choices, or several.
    """
    # ``right`` and ``read`` have shape (n, 2), the original question first, and ``consistent`` (n,)
    found = {
        "acc": right.mean(axis=1),
        "cons": consistent,
        "c_acc": right.all(axis=1),
        "acc_original": right[:, 0],
        "acc_perturbed": right[:, 1],
        "read": read.mean(axis=1),
    }
    return {name: values.astype(np.float64) for name, values in found.items()}


def question_twin_case_metrics(
    right: NDArray[np.bool_], prior: NDArray[np.bool_], read: NDArray[np.bool_]
) -> dict[str, FloatArray]:
    """Return what each question about two twins contributes to the metrics of its task.

    ``acc``: the share of the two answers that are right; ``c_acc``: both are; ``acc_normal`` and
    ``acc_counterfactual``: the answer about that image is right. The answer about the counterfactual image is otherwise
    the right one of the normal image (``prior_rate``), another wrong one or a tie of choices (``other_rate``), or names
    none of the choices or several (``unread_rate``), so that these three and ``acc_counterfactual`` add up to 1. A
    lower rate is better. ``read``, which is not a metric here, is the share of the two answers that could be read. A
    model without a prior can still have a ``prior_rate`` of 0 and be wrong everywhere: gate it together with ``c_acc``.
    """
    # ``right`` and ``read`` have shape (n, 2), the normal image first, and ``prior`` (n,)
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


# Metrics of two questions about two images whose answers are crossed (Li et al. 2024, NaturalBench, section 4).

QUESTION_QUAD_METRICS = ("g_acc", "q_acc", "i_acc", "q_image_acc", "read")


def question_quad_case_metrics(right: NDArray[np.bool_], read: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return what each group of four answers contributes to the metrics of NaturalBench (section 4).

    ``g_acc``: all four answers are right. ``q_acc``: the share of the two questions that are answered right for both
    images. ``i_acc``: the share of the two images for which both questions are answered right. ``q_image_acc``: the
    share of right answers, the paper's Acc. ``read``: the share of answers that could be read. A model that does not
    look at the image answers a question alike twice, so its ``q_acc`` and ``g_acc`` are 0.
    """
    # shape (n, 4): image 0 with questions 0 and 1, image 1 with questions 0 and 1
    i0q0, i0q1, i1q0, i1q1 = right.T
    found = {
        "g_acc": right.all(axis=1).astype(np.float64),
        "q_acc": ((i0q0 & i1q0).astype(np.float64) + (i0q1 & i1q1)) / 2,
        "i_acc": ((i0q0 & i0q1).astype(np.float64) + (i1q0 & i1q1)) / 2,
        "q_image_acc": right.mean(axis=1),
        "read": read.mean(axis=1),
    }
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}
