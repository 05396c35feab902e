"""The metrics of each shape of case, by name."""

from __future__ import annotations

from collections.abc import Mapping

from vlgate.metrics import bla, questions, ranking, winoground
from vlgate.types import Shape

NAMES: Mapping[Shape, tuple[str, ...]] = {
    "pair": ranking.METRICS,
    "quad": winoground.METRICS,
    "set": bla.METRICS["set"],
    "active_passive_set": bla.METRICS["active_passive_set"],
    "questions": questions.METRICS,
}
HEADLINE: Mapping[Shape, str] = {
    "pair": "acc_r",
    "quad": "group",
    "set": "set_acc",
    "active_passive_set": "set_acc",
    "questions": "c_acc",
}
"""The metric of each shape that decides whether a case as a whole is right."""
CHANCE: Mapping[Shape, Mapping[str, float]] = {
    "pair": {"acc_r": 1 / 2, "acc": 1 / 2, "auroc": 1 / 2},
    "quad": {"text": 1 / 4, "image": 1 / 4, "group": 1 / 6, "group_match": 1 / 2},
    "set": {name: 1 / 6 if name.startswith("set_") else 1 / 2 for name in bla.METRICS["set"]},
    "active_passive_set": {
        name: 1 / 6 if name.startswith("set_") else 1 / 2 for name in bla.METRICS["active_passive_set"]
    },
    "questions": {},
}
"""The expected value of each metric if the scores of a case are in random order and none tie.

A metric is absent if its chance level depends on more than the order of the scores: on how often the model says yes
(``p_c``, ``p_f``, ``min_pc_pf``), or on the choices of each question.
"""
