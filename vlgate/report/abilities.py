"""What the model can and cannot do, in plain lines: one per task, from the interval of its headline metric."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import Literal

from vlgate.gates.decide import first_word_doubt
from vlgate.metrics.shapes import SHAPES
from vlgate.record.results import RunResult, TaskResult
from vlgate.sources.registry import measures
from vlgate.types import Metric

Word = Literal["can", "cannot", "unknown"]
WORDS: tuple[Word, ...] = ("cannot", "unknown", "can")
HEADING = (
    "can: the interval is above the middle of text alone (or chance) and 1; "
    "cannot: it is below the middle of chance and 1, or a known limit holds; unknown: neither"
)
_BESIDE = 11  # the characters of a line beside its task and its figures: a word and blanks
_LEAST_WORDS = 24  # characters; fewer do not make a question


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """Whether the model can do what a task asks, with the figures that say so and the task's question.

    ``short`` are the figures without the interval. ``limits`` holds the known limits of the task that hold, with their
    reasons.
    """

    task: str
    word: Word
    figures: str
    short: str
    question: str
    limits: tuple[str, ...] = ()


def abilities(run: RunResult) -> list[Ability]:
    """Return one ability per task with judged cases: those that the model lacks first, in the order of the run.

    A model can do what a task asks if the interval of the headline metric is above the middle between the task's
    floor and 1. The floor is the chance level, or the value of the text-only model if that is higher, so that a
    task that can be solved without the image shows no ability. It cannot if the interval is below the middle
    between chance and 1, or if a known limit says so and holds. Anything else is unknown.
    """
    limits: dict[str, list[str]] = {}
    for decision in run.decisions:
        if decision.outcome == "cannot":
            limits.setdefault(decision.gate.task, []).append(limit_words(decision.gate.max, decision.gate.why))
    found = [_ability(result, tuple(limits.get(result.task.id, ()))) for result in run.results]
    return sorted((one for one in found if one is not None), key=lambda one: WORDS.index(one.word))


def ability_lines(run: RunResult, width: int | None = None) -> list[str]:
    """Return the abilities as lines of a table, below a line that counts them and says how they are found."""
    found = abilities(run)
    if not found:
        return []
    words = [one.word for one in found]
    counts = ", ".join(f"{words.count(word)} {word}" for word in WORDS if word in words)
    task = max(len(one.task) for one in found)
    long = max(len(one.figures) for one in found)
    brief = width is not None and task + long + _BESIDE > width
    figures = max(len(one.short) for one in found) if brief else long
    lines = []
    for one in found:
        said = one.short if brief else one.figures
        line = f"{one.word:<8} {one.task:<{task}}  {said:<{figures}}"
        words_left = [one.question, *one.limits] if width is None else list(one.limits or (one.question,))
        lines.append(_with(line, " ".join(words_left), width))
    return [f"{len(found)} task{'s' if len(found) > 1 else ''}: {counts}", *_wrapped(HEADING, width), *lines]


def _with(line: str, words: str, width: int | None) -> str:
    # A line with words behind it, as many as there is room for; none if that is too few to be understood
    room = None if width is None else width - len(line) - 2
    if room is not None and room < _LEAST_WORDS:
        return line.rstrip()
    return f"{line}  {words if room is None else shorten(words, room, placeholder=' ...')}".rstrip()


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrap(text, width)


def ability(
    task: str,
    metric: Metric,
    *,
    chance: float | None,
    blind: float | None,
    limits: tuple[str, ...],
    doubt: str = "",
) -> Ability:
    """Return whether a model can do what a task asks."""
    floor = max(chance or 0.0, blind or 0.0)
    word: Word = "unknown"
    if limits or metric.high < (1.0 + (chance or 0.0)) / 2:
        word = "cannot"
    elif metric.low >= (1.0 + floor) / 2 and floor < 1.0:
        word = "can"
    beside = f"chance {chance:.2f}" if chance is not None and floor == chance else f"text only {floor:.2f}"
    value, n = f"{metric.value:.2f}", f"n = {metric.n:,}, {beside}"
    word = "unknown" if doubt else word
    return Ability(
        task=task,
        word=word,
        figures=doubt or f"{value} ({metric.low:.2f}-{metric.high:.2f}), {n}",
        short=doubt or f"{value}, {n}",
        question=measures(task),
        limits=limits,
    )


def unmeasured(metric: Metric, chance: float | None, *, tied: int, yes_or_no: bool, neither: tuple[int, int]) -> str:
    """Return why the headline metric of a task says nothing about the model; empty if it does.

    It says nothing if the scores mean nothing (see ``first_word_doubt``), or if every reply is a yes or a no and
    the ties that follow decide: with each of them counted as right, it would be above the middle of chance and 1.
    """
    if first_word_doubt(*neither):
        return "not measured: its replies begin with neither yes nor no"
    middle = (1.0 + (chance or 0.0)) / 2
    if yes_or_no and metric.value < middle <= metric.value + tied / metric.n:
        return "not measured: yes/no replies only"
    return ""


def limit_words(most: float | None, why: str) -> str:
    return f"(known limit {1.0 if most is None else most:g}{f': {why}' if why else ''})"


def _ability(result: TaskResult, limits: tuple[str, ...]) -> Ability | None:
    name = SHAPES[result.task.shape].headline
    metric = result.metrics.get(name)
    if metric is None:
        return None
    blind = result.blind.get(name)
    reached, chance = None if blind is None else blind.value, result.chance.get(name)
    doubt = unmeasured(metric, chance, tied=result.tied, yes_or_no=result.yes_or_no, neither=result.neither)
    return ability(result.task.id, metric, chance=chance, blind=reached, limits=limits, doubt=doubt)
