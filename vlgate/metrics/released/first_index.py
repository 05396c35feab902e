"""Scores as released code compares them, in which the place of the truth decides a tie."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vlgate.metrics.choice import TEXT
from vlgate.metrics.grouped import measure
from vlgate.metrics.measures import Measure, Values, wins
from vlgate.metrics.released.evidence import Evidence
from vlgate.types import FloatArray


def first_of_two(evidence: Evidence) -> dict[str, Measure]:
    """Compute ``acc_r`` of What'sUp's pairs of captions as its released code does: the first of the highest wins.

    The true caption comes first, so a tie is right, and a model that gives all captions one score has 1.
    """
    return {"acc_r": _mean(wins(evidence.scores[:, 0], evidence.scores[:, 1], "credit"))}


def first_of_four(evidence: Evidence) -> dict[str, Measure]:
    """Compute the metrics of What'sUp's photographs as its released code does: the first of the highest scores wins.

    The true caption comes first, so a tie is right, and a model that gives all captions one score has 1.
    """
    right = wins(evidence.scores[:, 0], np.nanmax(evidence.scores[:, 1:], axis=1), "credit")
    return {TEXT: _mean(right), **_grouped(evidence, right, ("pair_all", "set_all"))}


def softmax_of_two_images(evidence: Evidence) -> dict[str, Measure]:
    """Compute ``image`` and ``macro`` of MMVP-VLM as its released code does: is the share of image 1 above one half?

    For text 1 the share must be above one half, so a tie is wrong; for text 2 it must not be, so a tie is right. A
    model that gives both images one score has 0; one whose scores tie for text 2 only is right there.
    """
    i0c0, i0c1, i1c0, i1c1 = evidence.scores.T
    right = wins(i0c0, i1c0) * wins(i1c1, i0c1, "credit")
    return {"image": _mean(right), **_grouped(evidence, right, ("macro",))}


def _grouped(evidence: Evidence, right: FloatArray, metrics: tuple[str, ...]) -> Mapping[str, Measure]:
    found = ((name, measure(name, right, evidence.groups[name])) for name in metrics if name in evidence.groups)
    return {name: one for name, one in found if one is not None}


def _mean(values: FloatArray) -> Values:
    return Values(values=values, rows=np.arange(len(values)))
