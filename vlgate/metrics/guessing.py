"""What guessing is expected to reach in the metrics of each shape, from the odds of its cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from statistics import fmean

import numpy as np

from vlgate.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """The odds of n cases with k replies each, if each answer is drawn uniformly among the choices of its question.

    ``sizes`` counts the requests of each case and ``yes`` is the share of the truths that are yes. Only if all requests
    are questions with choices: ``offered``, the number of choices, and ``right``, the probability of the right answer,
    of shape (k, n); ``agree``, that the first two answers relate as they should, and ``prior``, that the last answer is
    the right one of the first, of shape (n,).
    """

    sizes: Sequence[int]
    yes: float = 0.0
    offered: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    right: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    agree: FloatArray = field(default_factory=lambda: np.empty(0))
    prior: FloatArray = field(default_factory=lambda: np.empty(0))


def choices(name: str, odds: Odds) -> dict[str, float]:
    return {name: fmean(1 / size for size in odds.sizes)}


def yes_or_no(odds: Odds) -> dict[str, float]:
    """The chance of a coin, by how many truths are yes."""
    return {
        "accuracy": 1 / 2,
        "recall": 1 / 2,
        "auroc": 1 / 2,
        "precision": odds.yes,
        "f1": odds.yes / (odds.yes + 1 / 2),
    }


def question_pairs(odds: Odds) -> dict[str, float]:
    if not odds.right.size:
        return {}
    first, second, agree = np.stack([*odds.right, odds.agree], axis=1).mean(axis=0).tolist()
    both = float(both_right(odds).mean())
    return {"acc": (first + second) / 2, "cons": agree, "c_acc": both, "acc_original": first, "acc_perturbed": second}


def question_twins(odds: Odds) -> dict[str, float]:
    if not odds.right.size:
        return {}
    pairs, prior = question_pairs(odds), float(odds.prior.mean())
    first, second = pairs["acc_original"], pairs["acc_perturbed"]
    return {
        **{name: pairs[name] for name in ("acc", "c_acc")},
        "acc_normal": first,
        "acc_counterfactual": second,
        "prior_rate": prior,
        "other_rate": 1 - second - prior,
    }


def question_quads(odds: Odds) -> dict[str, float]:
    if not odds.offered.size:
        return {}
    return {name: float(values.mean()) for name, values in of_crossings(1 / odds.offered).items()}


# The probability that each case is right, shape (n,).


def one_of_each(odds: Odds) -> FloatArray:
    return np.array([1 / size for size in odds.sizes], dtype=np.float64)


def both_right(odds: Odds) -> FloatArray:
    return np.asarray(odds.right[0] * odds.right[1])


def all_of_each(odds: Odds) -> FloatArray:
    return np.array([1 / prod(row) for row in odds.offered.T.tolist()], dtype=np.float64)


# The chance of each case that is asked together, from the probability that both replies of a pair are right.


def of_quads(odds: Odds) -> dict[str, FloatArray]:
    p = odds.right
    return {"text": p[0] * p[1], "image": p[2] * p[3], "group": p.prod(axis=0)}


def of_twin_captions(odds: Odds) -> dict[str, FloatArray]:
    p = odds.right
    return {**of_quads(odds), "acc_normal": p[0], "acc_counterfactual": p[1], "prior_rate": p[1]}


def of_twin_questions(odds: Odds) -> dict[str, FloatArray]:
    p, prior = odds.right, odds.prior**2
    return {
        "acc": p.mean(axis=0),
        "c_acc": p[0] * p[1],
        "acc_normal": p[0],
        "acc_counterfactual": p[1],
        "prior_rate": prior,
        "other_rate": 1 - p[1] - prior,
    }


def of_crossings(p: FloatArray) -> dict[str, FloatArray]:
    """The chance of crossed questions, from the probability of each right answer, shape (4, n)."""
    first, second, third, fourth = p
    return {
        "g_acc": p.prod(axis=0),
        "q_acc": (first * third + second * fourth) / 2,
        "i_acc": (first * second + third * fourth) / 2,
        "q_image_acc": p.mean(axis=0),
    }
