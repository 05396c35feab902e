"""Asks a model about the same drawn cases at every severity of a perturbation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from vlgate.asking.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.stats import proportion
from vlgate.perturb.images import perturbed
from vlgate.perturb.images.pixels import SEVERITIES
from vlgate.types import Batch, Case, FloatArray, Match, Metric, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """``right`` has 1 for a case that a model gets right, else 0: shape (6, n), a row for each severity from 0 to 5."""

    model: str
    family: str
    right: FloatArray

    @property
    def points(self) -> tuple[Metric, ...]:
        """The accuracy at each severity, with its interval; every case has an image of its own."""
        return tuple(proportion(row) for row in self.right)

    @property
    def rises(self) -> list[tuple[int, int]]:
        """The pairs of severities with a higher accuracy at the higher one, at 5 % over all pairs (Bonferroni)."""
        pairs = list(combinations(range(len(self.right)), 2))
        level = 0.05 / len(pairs)
        return [(mild, strong) for mild, strong in pairs if better(self.right[strong], self.right[mild], level)]


def better(one: FloatArray, other: FloatArray, level: float = 0.05) -> bool:
    """Return whether the first of two paired rows of 0 and 1 is right more often, by McNemar's exact test, two-sided.

    >>> better(np.ones(6), np.zeros(6)), better(np.ones(5), np.zeros(5))
    (True, False)
    """
    gained, lost = int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())
    changed = gained + lost
    tail = sum(comb(changed, more) for more in range(gained, changed + 1))
    return 2 * tail / 2.0**changed < level


def curves(predictor: ModelPredictor, tasks: Sequence[Task], families: Sequence[str]) -> Iterator[Curve]:
    """Yield the curve of each family of perturbations; the unchanged images are asked about once."""
    clean = right(predictor, tasks)
    for family in families:
        rows = [clean, *(right(predictor, [changed(task, f"{family}-{n}") for task in tasks]) for n in SEVERITIES)]
        yield Curve(model=predictor.name, family=family, right=np.stack(rows))


def right(predictor: ModelPredictor, tasks: Sequence[Task], fact: str = "") -> FloatArray:
    """Return a fact of each case of all tasks, by default that of the main metric, shape (n,).

    Raises: ValueError if a case has no reply.
    """
    found: list[float] = []
    for task in tasks:
        replies = predictor.predict(request for case in task.cases for request in case.requests)
        verdicts = judge(Batch(task=task, positions=tuple(range(len(task.cases)))), replies)
        if any(verdict.state != "judged" for verdict in verdicts):
            raise ValueError(f"{predictor.name} has no reply to a case of {task.id}; ask a model that has")
        found.extend(verdict.facts[fact or SHAPES[task.shape].headline] for verdict in verdicts)
    return np.array(found, dtype=np.float64)


def changed(task: Task, name: str) -> Task:
    """Return a task that matches texts with its images perturbed."""
    return replace(task, cases=tuple(_changed(case, name) for case in task.cases))


def _changed(case: Case, name: str) -> Case:
    pairs = [request for request in case.requests if isinstance(request, Match)]
    return replace(case, requests=tuple(replace(pair, image=perturbed(pair.image, name)) for pair in pairs))
