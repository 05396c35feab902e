"""What the model can and cannot do, in plain lines: one per task, from the interval of its headline metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vlgate.metrics.names import HEADLINE
from vlgate.run.results import RunResult, TaskResult
from vlgate.sources.measures import measures
from vlgate.types import Gate

Word = Literal["can", "cannot", "unknown"]
WORDS: tuple[Word, ...] = ("cannot", "unknown", "can")
HEADING = "can: the interval is above the middle between text alone and no miss; cannot: below that of chance and 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """Whether the model can do what a task asks, with the figures that say so and the task's question.

    ``limits`` holds the known limits of the task that hold, with their reasons.
    """

    task: str
    word: Word
    figures: str
    question: str
    limits: tuple[str, ...] = ()


def abilities(run: RunResult) -> list[Ability]:
    """Return one ability per task with judged cases: those that the model lacks first, in the order of the run.

    A model can do what a task asks if the interval of the headline metric is above the middle between the task's floor
    and 1. The floor is the chance level, or the value of the text-only model if that is higher, so that a task that can
    be solved without the image shows no ability. It cannot if the interval is below the middle between chance and 1, or
    if a known limit says so and holds. Anything else is unknown.
    """
    limits: dict[str, list[str]] = {}
    for decision in run.decisions:
        if decision.outcome == "cannot":
            limits.setdefault(decision.gate.task, []).append(_limit(decision.gate))
    found = [_ability(result, tuple(limits.get(result.task.id, ()))) for result in run.results]
    return sorted((one for one in found if one is not None), key=lambda one: WORDS.index(one.word))


def ability_lines(run: RunResult) -> list[str]:
    """Return the abilities as lines of a table, below a line that says how they are found; empty without results."""
    found = abilities(run)
    if not found:
        return []
    task = max(len(one.task) for one in found)
    figures = max(len(one.figures) for one in found)
    rows = [
        " ".join((f"{one.word:<8} {one.task:<{task}}  {one.figures:<{figures}} ", one.question, *one.limits)).rstrip()
        for one in found
    ]
    return [HEADING, *rows]


def _limit(limit: Gate) -> str:
    most = 1.0 if limit.max is None else limit.max
    return f"(known limit {most:g}{f': {limit.why}' if limit.why else ''})"


def _ability(result: TaskResult, limits: tuple[str, ...]) -> Ability | None:
    name = HEADLINE[result.task.shape]
    metric = result.metrics.get(name)
    if metric is None:
        return None
    chance, blind = result.chance.get(name), result.blind.get(name)
    floor = max(chance or 0.0, 0.0 if blind is None else blind.value)
    word: Word = "unknown"
    if limits or metric.high < (1.0 + (chance or 0.0)) / 2:
        word = "cannot"
    elif metric.low >= (1.0 + floor) / 2 and floor < 1.0:
        word = "can"
    beside = f"chance {chance:.2f}" if chance is not None and floor == chance else f"text only {floor:.2f}"
    figures = f"{metric.value:.2f} of {metric.n:,} ({metric.low:.2f} - {metric.high:.2f}), {beside}"
    return Ability(task=result.task.id, word=word, figures=figures, question=measures(result.task.id), limits=limits)
