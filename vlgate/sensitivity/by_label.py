"""What a model with a defect of reading reaches on tasks whose images nobody can read for it: photographs.

Such a model knows which texts are true, as the labels say, but takes two texts that say the same to it for equal: it
guesses between a caption and a foil that only the broken faculty tells apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.names import HEADLINE
from vlgate.sensitivity.readings import alike
from vlgate.types import Batch, Case, Match, Metric, Prediction, Task, Verdict

GUESS = 0.5
"""The score of a text that says the same as one of the other truth; true texts have 1, false ones 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The main metric of a task for a model with a defect of reading, and the share of cases that it has to guess."""

    metric: Metric
    guessed: float


def labelled(task: Task, defect: str) -> Labelled | None:
    """Return what a model that knows the labels reaches with a defect of ``READINGS``; a guess counts 1/2.

    Returns: None if the task has no cases, or asks anything but whether a text fits an image.
    """
    if not task.cases or not all(isinstance(one, Match) for case in task.cases for one in case.requests):
        return None
    verdicts = [verdict for place in range(len(task.cases)) for verdict in _judged(task, place, defect)]
    guessed = sum(any(one.score == GUESS for one in verdict.predictions) for verdict in verdicts)
    found = metrics(columns(task.shape, verdicts))
    return Labelled(metric=found[HEADLINE[task.shape]], guessed=guessed / len(verdicts))


def _judged(task: Task, place: int, defect: str) -> Sequence[Verdict]:
    """Judge one case by itself: two cases of an image may disagree about a text."""
    replies = {reply.request: reply for reply in _replies(task.cases[place], defect)}
    return judge(Batch(task=task, positions=(place,), ties="half"), replies)


def _replies(case: Case, defect: str) -> Iterator[Prediction]:
    told = [(pair, truth) for pair, truth in zip(case.requests, case.truths, strict=True) if isinstance(pair, Match)]
    for pair, truth in told:
        unsure = any(
            truth != another and pair.image == other.image and alike(defect, pair.text, other.text)
            for other, another in told
        )
        yield Prediction(request=pair, score=GUESS if unsure else float(bool(truth)))
