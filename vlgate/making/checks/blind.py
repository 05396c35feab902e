"""The blind baseline of a set, and the dropping of foils that it finds by their texts alone.

The baseline is the text classifier that runs show beside each task (``vlgate.health.probes``): naive Bayes over words
and pairs of neighbours, with folds by image. A set that it solves says little about a model that sees, because the
model may do the same (VALSE, section 4.1; Zellers et al. 2018, "Swag", filter in the same way).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from vlgate.health.grouping import FOLDS, tied_images
from vlgate.health.stratified import stratified_folds
from vlgate.health.text_classifier import features, log_odds
from vlgate.making.checks.contrasts import as_task, contrasts, images
from vlgate.making.kinds.kind import Item
from vlgate.types import FloatArray, Shape

NEAR = 0.05
"""How far above chance the blind baseline may be."""

FEWEST = 100
"""The fewest cases that are left: of fewer, the baseline cannot be told from chance."""

FOUND = "found by its text alone"
"""The reason for which a case is dropped."""

_ROUNDS = 30
_STEP = 0.2  # the largest share that is dropped before the classifier learns again
_CHANCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """The share of pairs of a true and a false text that the classifier ranks correctly, of ``n``; ties count 1/2."""

    value: float
    n: int

    @property
    def chance(self) -> float:
        """What guessing gives."""
        return _CHANCE

    @property
    def near(self) -> bool:
        """Whether it is within ``NEAR`` of chance, or below."""
        return self.value <= _CHANCE + NEAR


def blind(items: Sequence[Item], shape: Shape) -> Blind | None:
    """Return the blind baseline of a set; None if it has images for fewer than ten folds."""
    margins = _margins(items, shape)
    return None if margins is None else _measured(margins)


def near_chance(items: Sequence[Item], shape: Shape) -> tuple[list[Item], int]:
    """Drop the items that the blind baseline finds most surely, until it is near chance.

    In each round the classifier learns from the items that are left. If the baseline is not near chance before fewer
    than ``FEWEST`` items are left, all stay: dropping would cost cases and prove nothing.

    Returns: the items that stay, in their order, and the number of those dropped.
    """
    left = list(items)
    for _ in range(_ROUNDS):
        margins = _margins(left, shape)
        if margins is None:
            break
        if (now := _measured(margins)).near:
            return left, len(items) - len(left)
        # (right - d) / (n - d) = chance + NEAR, for d items that the classifier gets right
        aim = ceil((now.value - _CHANCE - NEAR) / (1 - _CHANCE - NEAR) * len(left))
        drop = min(aim, ceil(_STEP * len(left)), len(left) - FEWEST)
        worst = [place for place in np.argsort(-margins.min(axis=1), kind="stable") if margins[place].min() > 0]
        if drop <= 0 or not worst:
            break
        dropped = set(worst[:drop])
        left = [item for place, item in enumerate(left) if place not in dropped]
    return list(items), 0


def _measured(margins: FloatArray) -> Blind:
    return Blind(value=float(np.mean(0.5 + np.sign(margins) / 2)), n=int(margins.size))


def _margins(items: Sequence[Item], shape: Shape) -> FloatArray | None:
    """Return by how much each true text is more likely true than its false one, in log odds, of shape (n, pairs)."""
    cases = as_task(items, "made/set", shape).cases
    groups = tied_images(cases)
    if len(set(groups.values())) < FOLDS:
        return None
    folds = stratified_folds(cases)
    pairs = [pair for item in items for pair in contrasts(item.candidate)]
    places = [folds[images(item)[0]] for item in items for _ in contrasts(item.candidate)]
    n = len(pairs)
    texts = [true for true, _ in pairs] + [false for _, false in pairs]
    scores = log_odds(features(texts), np.arange(2 * n), np.repeat([True, False], n), np.array(places * 2))
    return np.asarray((scores[:n] - scores[n:]).reshape(len(items), -1), dtype=np.float64)
