"""Choices, single questions, crossed questions and two true captions: their replies as facts, and their sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from vlgate.judging.read_case import ReadCase, Unread, right_answers, shown, why_unread
from vlgate.metrics import choice, question_quad, single, two_true
from vlgate.types import Batch, FloatArray, Match, Shape

YES = "yes"


def _choices(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    most = max(len(one.values) for one in judged)
    scores = np.full((len(judged), most), np.nan)
    for row, one in enumerate(judged):
        scores[row, : len(one.values)] = one.values
    name = choice.TEXT if batch.task.shape == "choice" else choice.IMAGE
    return choice.facts(scores, name, batch.ties)


def _two_true(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return two_true.facts(np.array([one.values for one in judged], dtype=np.float64), batch.ties)


def _single(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    said = np.array([_said_yes(one) for one in judged], dtype=np.float64)
    truths = np.array([one.case.truths[0] in (True, YES) for one in judged], dtype=np.bool_)
    read = [type(one.values[0]) is not Unread and not _silent(one) for one in judged]
    return single.facts(said, truths, np.array(read, dtype=np.bool_))


def _silent(one: ReadCase) -> bool:
    """Whether the model says neither yes nor no to a statement: its score alone is not an answer."""
    [reply] = one.replies
    return isinstance(reply.request, Match) and reply.accepted is None


def _said_yes(one: ReadCase) -> float:
    """1.0 for yes, 0.0 for no, and NaN for an answer that is neither."""
    [reply], [said] = one.replies, one.values
    if isinstance(reply.request, Match):
        return np.nan if reply.accepted is None else float(reply.accepted)
    return np.nan if said is None or type(said) is Unread else float(said == YES)


def _question_quads(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    read = np.array([[type(said) is not Unread for said in one.values] for one in judged], dtype=np.bool_)
    right = [[said == truth for said, truth in zip(one.values, right_answers(one.case), strict=True)] for one in judged]
    return question_quad.facts(np.array(right, dtype=np.bool_) & read, read)


RULES: Mapping[Shape, Callable[[Batch, Sequence[ReadCase]], dict[str, FloatArray]]] = MappingProxyType(
    {
        "choice": _choices,
        "image_choice": _choices,
        "two_true": _two_true,
        "single": _single,
        "question_quad": _question_quads,
    },
)


def _why_choice(one: ReadCase) -> str:
    true, *others = one.values
    best = max(others)
    order = "above" if true > best else "level with" if true == best else "below"
    what = f"the best of {len(others)} false ones" if len(others) > 1 else "the false one"
    return f"the true candidate scores {true:.6g}, {order} {what} with {best:.6g}"


def _why_two_true(one: ReadCase) -> str:
    first, second, false = one.values
    held = (first > false) + (second > false)
    return f"{held} of 2 true captions score above the false one ({first:.6g}, {second:.6g}; false: {false:.6g})"


def _why_single(one: ReadCase) -> str:
    [reply], [said] = one.replies, one.values
    truth = YES if one.case.truths[0] in (True, YES) else "no"
    if _silent(one):
        return f"the model gives a score, {said:.6g}, but neither yes nor no; right is {truth}"
    if isinstance(reply.request, Match):
        return f"said {YES if reply.accepted else 'no'}, with a score of {said:.6g}; right is {truth}"
    return f"answered {shown(said)}; right is {truth!r}{why_unread(one)}"


def _why_question_quad(one: ReadCase) -> str:
    truths = right_answers(one.case)
    held = sum(said == truth and type(said) is not Unread for said, truth in zip(one.values, truths, strict=True))
    said = ", ".join(map(shown, one.values))
    return f"{held} of 4 answers are right: answered {said}; right are {', '.join(map(repr, truths))}{why_unread(one)}"


SENTENCES: Mapping[Shape, Callable[[ReadCase], str]] = MappingProxyType(
    {
        "choice": _why_choice,
        "image_choice": _why_choice,
        "two_true": _why_two_true,
        "single": _why_single,
        "question_quad": _why_question_quad,
    },
)
