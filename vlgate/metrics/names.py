"""The metrics of each shape of case, by name.

A task whose cases are in groups has those of ``GROUPED`` as well, whatever their shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vlgate.metrics import answer_rules, score_rules
from vlgate.metrics.measures import GROUPED
from vlgate.types import Shape

NAMES: Mapping[Shape, tuple[str, ...]] = {
    "pair": score_rules.PAIR_METRICS,
    "quad": score_rules.QUAD_METRICS,
    "image_quad": score_rules.QUAD_METRICS,
    "set": score_rules.SET_METRICS["set"],
    "active_passive_set": score_rules.SET_METRICS["active_passive_set"],
    "questions": answer_rules.QUESTION_PAIR_METRICS,
    "choice": score_rules.CHOICE_METRICS,
    "image_choice": score_rules.IMAGE_CHOICE_METRICS,
    "single": answer_rules.SINGLE_METRICS,
    "question_quad": answer_rules.QUESTION_QUAD_METRICS,
    "two_true": score_rules.TWO_TRUE_METRICS,
    "twin_questions": answer_rules.QUESTION_TWIN_METRICS,
    "twin_captions": score_rules.QUAD_TWIN_METRICS,
}
HEADLINE: Mapping[Shape, str] = {
    "pair": "acc_r",
    "quad": "group",
    "image_quad": "image",
    "set": "set_acc",
    "active_passive_set": "set_acc",
    "questions": "c_acc",
    "choice": score_rules.TEXT,
    "image_choice": score_rules.IMAGE,
    "single": "accuracy",
    "question_quad": "g_acc",
    "two_true": "itt",
    "twin_questions": "c_acc",
    "twin_captions": "group",
}
"""The metric of each shape that decides whether a case as a whole is right."""
PARTS: Mapping[str, int] = MappingProxyType(
    {"acc": 2, "sen_acc": 2, "q_acc": 2, "i_acc": 2, "q_image_acc": 4, "read": 2}
)
"""Of how many verdicts a case is made up in a metric that counts them one by one; in the others it has one."""
PARTIAL = frozenset(("precision", "recall", "f1", *GROUPED))
"""The metrics that are by definition over a part of the cases, or over groups of them."""
CONTROLLED: Mapping[str, str] = MappingProxyType(
    {
        "visual_gain": "look",
        "flip_rate": "delivery",
        "flip_rate_reencoded": "delivery",
        "flip_rate_shift": "delivery",
        "flip_rate_pad": "delivery",
        "flip_rate_rescale": "delivery",
        "flip_rate_jpeg": "delivery",
    }
)
"""The figures of controls that a gate may name, each with the name of its control; every task can have them."""
DIFFERENCES = frozenset(("visual_gain",))
"""The figures in -1..1: differences of two shares of the same cases, 0 for a model that does not look."""
LOWER_IS_BETTER = frozenset(("set_error", "prior_rate", "other_rate", "unread_rate"))
"""The metrics that are rates of errors."""
_QUAD = {"text": 1 / 4, "image": 1 / 4, "group": 1 / 6, "group_match": 1 / 2}
CHANCE: Mapping[Shape, Mapping[str, float]] = {
    "pair": {"acc_r": 1 / 2, "acc": 1 / 2, "auroc": 1 / 2},
    "quad": _QUAD,
    "image_quad": _QUAD,
    "set": {name: 1 / 6 if name.startswith("set_") else 1 / 2 for name in score_rules.SET_METRICS["set"]},
    "active_passive_set": {
        name: 1 / 6 if name.startswith("set_") else 1 / 2 for name in score_rules.SET_METRICS["active_passive_set"]
    },
    "questions": {},
    "choice": {},
    "image_choice": {},
    "single": {"accuracy": 1 / 2, "recall": 1 / 2, "auroc": 1 / 2},
    "question_quad": {},
    "two_true": {"itt": 1 / 3, "itt_first": 1 / 2, "itt_second": 1 / 2},
    "twin_questions": {},
    "twin_captions": {**_QUAD, "acc_normal": 1 / 2, "acc_counterfactual": 1 / 2, "prior_rate": 1 / 2},
}
"""The expected value of each metric if the scores of a case are in random order and none tie.

A metric is absent if its chance level depends on more than the order of the scores: on how often the model says yes
(``p_c``, ``p_f``, ``min_pc_pf``), or on the choices of each question.
"""


def applies(metric: str, shape: Shape) -> bool:
    """Return whether tasks of a shape can have a metric, or a figure of a control.

    >>> applies("group", "quad"), applies("group", "pair"), applies("visual_gain", "pair"), applies("macro", "set")
    (True, False, True, True)
    """
    return metric in CONTROLLED or metric in GROUPED or metric in NAMES[shape]
