"""The text of the model cards, with the figures in tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vlgate.metrics.stats import proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The main metric of a task; ``kinds`` has (accuracy, number) of the original questions of each kind."""

    metric: str
    value: float
    low: float
    high: float
    chance: float | None
    kinds: Mapping[str, tuple[float, int]]


REACHED = """
## What it reaches

Unseen scenes: the tasks of two seeds, each figure with its 95 % interval. The *twin* had the same training with one
blank image in place of all images: what it reaches, the texts tell.
"""


def card(name: str, seeds: Sequence[int], runs: Sequence[Mapping[str, Figure]]) -> str:
    """Return the card of a model: the text beside this file, and tables of figures.

    Args:
        name: the model's name.
        seeds: the seeds of all runs but the last.
        runs: the figures of each run by task; the last is the twin's.
    """
    text = Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8")
    *own, twin = runs
    lines = [f"| task | metric | {' | '.join(f'seed {seed}' for seed in seeds)} | twin | chance |"]
    lines.append("|---|---|" + "---|" * (len(runs) + 1))
    for task, figure in own[0].items():
        cells = [_shown(run[task]) for run in own] + [f"{twin[task].value:.2f}"]
        chance = "" if figure.chance is None else f"{figure.chance:.2f}"
        lines.append(f"| `{task}` | {figure.metric} | {' | '.join(cells)} | {chance} |")
    return "\n".join([text + REACHED, *lines, *_by_kind(own), ""])


def _shown(figure: Figure) -> str:
    return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})"


def _by_kind(runs: Sequence[Mapping[str, Figure]]) -> Iterator[str]:
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
