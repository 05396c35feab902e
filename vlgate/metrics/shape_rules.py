"""The rules of the shapes: from the replies to n cases to what each contributes to its metrics, and what guessing does.

The arithmetic is in ``score_rules`` and ``answer_rules``; here the replies become their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics import answer_rules, score_rules
from vlgate.metrics.measures import Measure, of_ties
from vlgate.types import FloatArray, Ties

if TYPE_CHECKING:
    from vlgate.metrics.measures import Columns

BoolArray = NDArray[np.bool_]
Texts = NDArray[np.object_]
YES = "yes"

UNDECIDED = "undecided"
"""The fact of twins asked together: 1 if the replies about the prior are unread, tied or of the order."""


def equal(texts: Texts, others: Texts | str) -> BoolArray:
    """Return which texts of two arrays are equal, shape (n, k)."""
    return np.asarray(np.equal(texts, others), dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeReplies:
    """The replies to n cases with k requests each, which a rule turns into facts."""

    # ``scores`` and ``accepted``, shape (n, k), are NaN for none. Only a shape that is ``answered`` has ``said``, the
    # answers in normal form, None for a tie; ``read``, whether an answer could be read; and ``truths``, all of shape
    # (n, k). ``stays``: two answers should be equal. ``outcomes``, of cases that are asked together: what each two
    # replies come to, shape (n, k / 2), and ``prior``, shape (n,), if the second pair repeats the truths of the first.

    scores: FloatArray
    accepted: FloatArray
    ties: Ties = "strict"
    stays: bool = False
    said: Texts = field(default_factory=lambda: np.empty((0, 0), dtype=object))
    read: BoolArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.bool_))
    truths: Texts = field(default_factory=lambda: np.empty((0, 0), dtype=object))
    outcomes: Texts = field(default_factory=lambda: np.empty((0, 0), dtype=object))
    prior: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    @property
    def tied(self) -> BoolArray:
        """Which answers are ties between choices."""
        return equal(self.said, np.array(None, dtype=object))

    @property
    def right(self) -> BoolArray:
        """Which answers are right."""
        return equal(self.said, self.truths) & self.read


Rule = Callable[[ShapeReplies], Mapping[str, FloatArray]]
"""From the replies to the facts of each case by name, shape (n,); NaN if a fact does not apply."""


def questions(replies: ShapeReplies) -> dict[str, FloatArray]:
    # A tie and an unread reply answer nothing, so they neither agree with another reply nor differ from it.
    answered = (replies.read & ~replies.tied).all(axis=1)
    same = equal(replies.said[:, 0], replies.said[:, 1])
    return answer_rules.question_pair_case_metrics(replies.right, answered & (same == replies.stays), replies.read)


def single(replies: ShapeReplies) -> dict[str, FloatArray]:
    answered = (replies.read & ~replies.tied)[:, 0]
    said = np.where(answered, equal(replies.said[:, 0], YES).astype(np.float64), np.nan)
    truths = equal(replies.truths[:, 0], YES)
    return answer_rules.single_case_metrics(said, truths, replies.read[:, 0])


def twin_questions(replies: ShapeReplies) -> dict[str, FloatArray]:
    prior = equal(replies.said[:, 1], replies.truths[:, 0])
    facts = answer_rules.question_twin_case_metrics(replies.right, prior, replies.read)
    return facts | of_ties(replies.tied[:, 1])


# The rules of cases that are asked together: each pair of replies is right only if both orders give the same answer.


def _won(replies: ShapeReplies) -> BoolArray:
    return equal(replies.outcomes, "right")


def _both_read(replies: ShapeReplies) -> BoolArray:
    return ~equal(replies.outcomes, "unread")


def _answered(replies: ShapeReplies) -> dict[str, FloatArray]:
    read = np.asarray(_both_read(replies).mean(axis=1), dtype=np.float64)
    return {"read": read} | of_ties(np.asarray(replies.tied.any(axis=1)))


def _undecided(replies: ShapeReplies) -> dict[str, FloatArray]:
    """Whether the pair about the counterfactual image says nothing: unread, tied, or dependent on the order."""
    return {UNDECIDED: (~np.isin(replies.outcomes[:, 1].astype(str), ("right", "wrong"))).astype(np.float64)}


def quad_together(replies: ShapeReplies) -> dict[str, FloatArray]:
    return score_rules.chosen_quad_case_metrics(_won(replies)) | _answered(replies)


def twin_captions_together(replies: ShapeReplies) -> dict[str, FloatArray]:
    prior = equal(replies.outcomes[:, 1], "wrong")
    facts = score_rules.chosen_quad_twin_case_metrics(_won(replies), prior)
    return facts | _answered(replies) | _undecided(replies)


def image_choice_together(replies: ShapeReplies) -> dict[str, FloatArray]:
    return {score_rules.IMAGE: _won(replies)[:, 0].astype(np.float64)} | _answered(replies)


def question_quad_together(replies: ShapeReplies) -> dict[str, FloatArray]:
    facts = answer_rules.question_quad_case_metrics(_won(replies), _both_read(replies))
    return facts | of_ties(np.asarray(replies.tied.any(axis=1)))


def twin_questions_together(replies: ShapeReplies) -> dict[str, FloatArray]:
    facts = answer_rules.question_twin_case_metrics(_won(replies), replies.prior, _both_read(replies))
    return facts | of_ties(np.asarray(replies.tied.any(axis=1))) | _undecided(replies)


def single_statistics(cases: Columns) -> dict[str, Measure]:
    truths, right = cases.facts["truth"] == 1.0, cases.facts["accuracy"] == 1.0
    said = (truths == right).astype(np.float64)  # an answer that is neither yes nor no counts as the wrong one
    return answer_rules.single_statistics(said, truths, cases.scores[:, 0])


def silent_single(cases: Columns, metric: str) -> BoolArray:
    if metric != "yes_share":
        return np.zeros(len(cases.scores), dtype=np.bool_)
    return np.asarray(cases.facts["read"] == 0.0) | _tied(cases)


def silent_set(names: Sequence[str], cases: Columns, metric: str) -> BoolArray:
    scores, place = cases.scores, list(names).index(metric) - score_rules.N_RANKED if metric in names else -1
    if metric == "set_error":
        return np.asarray(scores[:, :2].max(axis=1) <= scores[:, 2:].min(axis=1)) & (cases.facts[metric] < 1.0)
    if place < 0:
        return np.zeros(len(scores), dtype=np.bool_)
    first, second = score_rules.PREFERENCES[place]
    return np.asarray(scores[:, first] == scores[:, second])


def silent_twins(cases: Columns, metric: str) -> BoolArray:
    """The cases that follow neither the prior nor the counterfactual image, because they lack an answer."""
    if metric not in {"prior_rate", "other_rate"}:
        return np.zeros(len(cases.scores), dtype=np.bool_)
    if UNDECIDED in cases.facts:
        return np.asarray(cases.facts[UNDECIDED] == 1.0)
    if "unread_rate" in cases.facts:
        return np.asarray(cases.facts["unread_rate"] == 1.0) | _tied(cases)
    return np.asarray(cases.scores[:, 2] == cases.scores[:, 3])  # the counterfactual image with either caption


def _tied(cases: Columns) -> BoolArray:
    return np.asarray(cases.facts.get("tied", np.nan) == 1.0, dtype=np.bool_)  # a plain False if no case is


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """The odds of n cases with k replies each, if each answer is drawn uniformly among the choices of its question."""

    # ``sizes`` counts the requests of each case and ``yes`` is the share of the truths that are yes. Only if all
    # requests are questions with choices: ``offered``, the number of choices, and ``right``, the probability of the
    # right answer, of shape (k, n); ``agree``, that the first two answers relate as they should, and ``prior``, that
    # the last answer is the right one of the first, of shape (n,).

    sizes: Sequence[int]
    yes: float = 0.0
    offered: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    right: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    agree: FloatArray = field(default_factory=lambda: np.empty(0))
    prior: FloatArray = field(default_factory=lambda: np.empty(0))


def guess_yes_or_no(odds: Odds) -> dict[str, float]:
    even = {"accuracy": 1 / 2, "recall": 1 / 2, "auroc": 1 / 2}
    return {**even, "precision": odds.yes, "f1": odds.yes / (odds.yes + 1 / 2)}


def guess_question_pairs(odds: Odds) -> dict[str, float]:
    if not odds.right.size:
        return {}
    first, second, agree = np.stack([*odds.right, odds.agree], axis=1).mean(axis=0).tolist()
    both = float((odds.right[0] * odds.right[1]).mean())
    return {"acc": (first + second) / 2, "cons": agree, "c_acc": both, "acc_original": first, "acc_perturbed": second}


def guess_question_twins(odds: Odds) -> dict[str, float]:
    if not odds.right.size:
        return {}
    pairs, prior = guess_question_pairs(odds), float(odds.prior.mean())
    first, second = pairs["acc_original"], pairs["acc_perturbed"]
    found = {"acc": pairs["acc"], "c_acc": pairs["c_acc"], "acc_normal": first, "acc_counterfactual": second}
    return {**found, "prior_rate": prior, "other_rate": 1 - second - prior}


def guess_question_quads(odds: Odds) -> dict[str, float]:
    if not odds.offered.size:
        return {}
    return {name: float(values.mean()) for name, values in guess_crossings(1 / odds.offered).items()}


# The chance of each case that is asked together, from the probability that both replies of a pair are right.


def guess_quads_together(odds: Odds) -> dict[str, FloatArray]:
    p = odds.right
    return {"text": p[0] * p[1], "image": p[2] * p[3], "group": p.prod(axis=0)}


def guess_twins_together(odds: Odds) -> dict[str, FloatArray]:
    p, prior = odds.right, odds.prior**2
    found = {"acc": p.mean(axis=0), "c_acc": p[0] * p[1], "acc_normal": p[0], "acc_counterfactual": p[1]}
    return {**found, "prior_rate": prior, "other_rate": 1 - p[1] - prior}


def guess_crossings(p: FloatArray) -> dict[str, FloatArray]:
    """The chance of crossed questions, from the probability of each right answer, shape (4, n)."""
    first, second, third, fourth = p
    questions, images = (first * third + second * fourth) / 2, (first * second + third * fourth) / 2
    return {"g_acc": p.prod(axis=0), "q_acc": questions, "i_acc": images, "q_image_acc": p.mean(axis=0)}
