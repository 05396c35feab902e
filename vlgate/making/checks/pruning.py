"""Pruning: cases are dropped that the probes of ``vlgate.shortcuts`` solve, until text alone is not above chance.

It goes further than the filter of ``blind``, which every set passes through: three probes instead of one, and not above
chance instead of near it. Each round drops the cases that a probe solves most surely, as AFLite does (Le Bras et al.
2020, "Adversarial filters of dataset biases"), and the probes learn again from the cases that are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from vlgate.making.checks.blind import FEWEST
from vlgate.making.checks.contrasts import as_task
from vlgate.making.kinds.kind import Item
from vlgate.metrics.names import CHANCE, HEADLINE
from vlgate.shortcuts.scoring import PROBES, Shortcuts, shortcuts
from vlgate.types import Metric, Shape

PRUNED = "solved by its text alone (--prune-shortcuts)"
"""The reason for which a case is dropped."""

_ROUNDS = 60
_STEP = 0.1  # the largest share that is dropped before the probes learn again


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What each probe gets right of a set; ``chance`` is what guessing gives. Empty if the probes cannot be run."""

    probes: Mapping[str, Metric]
    chance: float

    @property
    def above(self) -> dict[str, Metric]:
        """The probes that are above chance: so is their whole interval."""
        return {name: metric for name, metric in self.probes.items() if metric.low > self.chance}

    @property
    def why(self) -> str:
        """Whether text alone is above chance, in words."""
        if not self.probes:
            return "not measured: fewer than ten images"
        if self.above:
            return f"above chance, by {', '.join(self.above)}"
        below = [name for name, metric in self.probes.items() if metric.high < self.chance]
        said = "not above chance: the interval of no probe is above it"
        return f"{said}, and that of {', '.join(below)} is below it" if below else said


def reached(items: Sequence[Item], shape: Shape) -> Reached:
    """Return what each probe gets right of a set."""
    return _reached(shortcuts(as_task(items, "made/set", shape)), shape)


def pruned(items: Sequence[Item], shape: Shape) -> tuple[list[Item], int]:
    """Drop the items that the probes solve most surely, until none of the probes is above chance.

    If they are above chance until fewer than ``FEWEST`` items are left, all stay: dropping would cost cases and prove
    nothing.

    Returns: the items that stay, in their order, and the number of those dropped.
    """
    left = list(items)
    for _ in range(_ROUNDS):
        found = shortcuts(as_task(left, "made/set", shape))
        above = _reached(found, shape).above
        if not above:
            return left, len(items) - len(left)
        worst = max(above, key=lambda name: above[name].value)
        kept = _without(found, worst, above[worst], CHANCE[shape][HEADLINE[shape]])
        if kept is None:
            break
        left = [left[place] for place in kept]
    return list(items), 0


def _without(found: Shortcuts, probe: str, metric: Metric, chance: float) -> list[int] | None:
    """The places of the cases without those that a probe solves most surely; None if too few would be left."""
    n, scores = len(found.cases), found.scores[:, PROBES.index(probe)]
    beyond = ceil((metric.value - chance) / (1 - chance) * n)  # what it solves beyond guessing
    number = min(beyond, ceil(_STEP * n))
    if number > n - FEWEST:
        return None
    surest = set(np.argsort(-scores, kind="stable")[:number].tolist())
    return [place for place in range(n) if place not in surest]


def _reached(found: Shortcuts, shape: Shape) -> Reached:
    probes = {name: metric for name in PROBES if (metric := found.reached(name)) is not None}
    return Reached(probes=probes, chance=CHANCE[shape][HEADLINE[shape]])
