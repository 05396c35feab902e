"""What the model is weak and strong at, in plain lines: one per task, from the interval of its headline metric."""

from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import Literal

from vlgate.gates.decide import first_word_doubt
from vlgate.metrics.shapes import SHAPES
from vlgate.record.results import RunResult
from vlgate.sources.registry import measures
from vlgate.types import Metric

Word = Literal["strong", "weak", "unclear"]
WORDS: tuple[Word, ...] = ("weak", "unclear", "strong")
HEADING = (
    "strong: the interval is above the middle of text alone (or chance) and 1; "
    "weak: it is below the middle of chance and 1, or a known limit holds; unclear: neither"
)
_BESIDE = 11  # the characters of a line beside its task and its figures: a word and blanks
_LEAST_WORDS = 24  # characters; fewer do not make a question


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    task: str
    word: Word
    figures: str
    short: str  # the figures without the interval
    question: str
    doubt: str = ""  # why the task is not measured
    limits: tuple[str, ...] = ()  # the known limits of the task that hold, with their reasons


# A model is strong at a task if the interval of the headline metric is above the middle between the task's floor
# and 1. The floor is the chance level, or the value of the text-only model if that is higher, so that a task that can
# be solved without the image shows no ability. It is weak if the interval is below the middle between chance and 1, or
# if a known limit says so and holds. Anything else is unclear.
def abilities(run: RunResult) -> list[Ability]:
    found = []
    for result in run.results:
        name = SHAPES[result.task.shape].headline
        if (metric := result.metrics.get(name)) is None:
            continue
        known = [decision.gate for decision in run.decisions if decision.outcome == "cannot"]
        limits = tuple(limit_words(gate.max, gate.why) for gate in known if gate.task == result.task.id)
        blind, chance = result.blind.get(name), result.chance.get(name)
        reached = None if blind is None else blind.value
        doubt = unmeasured(metric, chance, tied=result.tied, yes_or_no=result.yes_or_no, neither=result.neither)
        found.append(ability(result.task.id, metric, chance=chance, blind=reached, limits=limits, doubt=doubt))
    return sorted(found, key=lambda one: WORDS.index(one.word))


def ability_lines(run: RunResult, width: int | None = None) -> list[str]:
    found = abilities(run)
    if not found:
        return []
    words = [one.word for one in found]
    counts = ", ".join(f"{words.count(word)} {word}" for word in WORDS if word in words)
    task = max(len(one.task) for one in found)
    long = max(len(one.figures) for one in found)
    brief = width is not None and task + long + _BESIDE > width
    figures = max(len(one.short) for one in found) if brief else long
    heading = [HEADING] if width is None else wrap(HEADING, width)
    lines = [f"{len(found)} task{'s' if len(found) > 1 else ''}: {counts}", *heading]
    for one in found:
        line = f"{one.word:<8} {one.task:<{task}}  {one.short if brief else one.figures:<{figures}}"
        text = " ".join([one.question, *one.limits] if width is None else one.limits or (one.question,))
        room = len(text) if width is None else width - len(line) - 2
        if width is None:
            line = f"{line}  {text}"
        elif room >= _LEAST_WORDS:  # with fewer characters it cannot be understood
            line = f"{line}  {shorten(text, room, placeholder=' ...')}"
        lines.append(line.rstrip())
    return lines


def ability(
    task: str, metric: Metric, *, chance: float | None, blind: float | None, limits: tuple[str, ...], doubt: str = ""
) -> Ability:
    floor = max(chance or 0.0, blind or 0.0)
    word: Word = "unclear"
    if not doubt and (limits or metric.high < (1.0 + (chance or 0.0)) / 2):
        word = "weak"
    elif not doubt and metric.low >= (1.0 + floor) / 2 and floor < 1.0:
        word = "strong"
    beside = f"chance {chance:.2f}" if chance is not None and floor == chance else f"text only {floor:.2f}"
    value, n = f"{metric.value:.2f}", f"n = {metric.n:,}, {beside}"
    figures, short = doubt or f"{value} ({metric.low:.2f}-{metric.high:.2f}), {n}", doubt or f"{value}, {n}"
    return Ability(
        task=task, word=word, figures=figures, short=short, question=measures(task), doubt=doubt, limits=limits
    )


def unmeasured(metric: Metric, chance: float | None, *, tied: int, yes_or_no: bool, neither: tuple[int, int]) -> str:
    if first_word_doubt(*neither):
        return "not measured: its replies begin with neither yes nor no"
    # If every reply is a yes or a no, and with each tie counted as right it would be above the middle, ties decide.
    middle = (1.0 + (chance or 0.0)) / 2
    if yes_or_no and metric.value < middle <= metric.value + tied / metric.n:
        return "not measured: yes/no replies only"
    return ""


def limit_words(most: float | None, why: str) -> str:
    return f"(known limit {1.0 if most is None else most:g}{f': {why}' if why else ''})"
