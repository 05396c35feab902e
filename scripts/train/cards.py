"""The text of the model cards, with the figures in tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vlgate.metrics.stats import proportion, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The main metric of a task in one run, with its interval, of ``n`` cases with the design effect ``deff``.

    ``kinds`` has (accuracy, number) of the original questions of each kind.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    deff: float
    chance: float | None
    kinds: Mapping[str, tuple[float, int]]


Run = Mapping[str, Figure]
"""The figures of a run, by task."""
REACHED = """
## What it reaches

Unseen scenes: the tasks of seed 0, which the shipped gates judge, and of {runs} seeds together, each figure with its
95 % interval. The *twin* had the same training with one blank image in place of all images: what it reaches, the texts
tell.
"""


def card(name: str, own: Sequence[Run], twins: Sequence[Run]) -> str:
    """Return the card of a model: the text beside this file, and tables of figures.

    Args:
        name: the model's name.
        own: the figures of its runs, one for each seed from 0 on.
        twins: those of its twin's runs on the same seeds.
    """
    text = Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8")
    lines = ["| task | metric | seed 0 | all seeds | twin, all seeds | chance |", "|---|---|---|---|---|---|"]
    for task, figure in own[0].items():
        cells = [
            _shown(figure.value, figure.low, figure.high),
            *(_pooled([run[task] for run in runs]) for runs in (own, twins)),
        ]
        chance = "" if figure.chance is None else f"{figure.chance:.2f}"
        lines.append(f"| `{task}` | {figure.metric} | {' | '.join(cells)} | {chance} |")
    return "\n".join([text + REACHED.format(runs=len(own)), *lines, *_by_kind(own), ""])


def _pooled(figures: Sequence[Figure]) -> str:
    """The figure of several runs, whose images differ, with Wilson's interval at the effective number of cases."""
    total = sum(figure.n for figure in figures)
    value = sum(figure.value * figure.n for figure in figures) / total
    return _shown(value, *wilson(value, total**2 / sum(figure.n * figure.deff for figure in figures)))


def _shown(value: float, low: float, high: float) -> str:
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def _by_kind(runs: Sequence[Run]) -> Iterator[str]:
    """The accuracy of the original questions by their kind, over all tasks and seeds."""
    right: dict[str, list[float]] = {}  # of each kind, how many are right, and how many there are
    for run in runs:
        for task, figure in run.items():
            # These have changed images, or the questions of other tasks once more.
            if not task.endswith(("visual-inv", "occlusion-dir", "mirror-inv")):
                for kind, (value, number) in figure.kinds.items():
                    sums = right.setdefault(kind, [0.0, 0.0])
                    sums[0] += value * number
                    sums[1] += number
    if right:
        yield from ("", "| original questions | accuracy | n |", "|---|---|---|")
    for kind, (hits, total) in sorted(right.items()):
        number = round(total)
        found = proportion((np.arange(number) < round(hits)).astype(np.float64))
        yield f"| {kind} | {found.value:.2f} ({found.low:.2f} to {found.high:.2f}) | {number} |"
