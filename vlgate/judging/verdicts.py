"""From predictions to verdicts: all cases of a batch at once by their scores, the others reply by reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vlgate.judging import shapes
from vlgate.judging.answers import normal_answer, normal_choice, read_reply
from vlgate.judging.judged import Replies, Verdicts, lacking, replies_to, scored
from vlgate.judging.shapes import ReadCase, Unread, right_answers, shown, why_unread
from vlgate.metrics import answer_rules, score_rules
from vlgate.metrics.measures import of_ties
from vlgate.metrics.names import HEADLINE
from vlgate.types import Ask, Batch, Case, Compare, FloatArray, Prediction, Request, Shape, State, Verdict

# Cases that are judged by the scores of their requests alone: all of a batch at once, in columns.

_NO_FACTS: Mapping[str, float] = {}


def judge_scores(batch: Batch, predictions: Mapping[Request, Prediction]) -> Verdicts:
    """Judge each case of a batch of a shape in ``SCORED``; see ``verdicts.judge``."""
    cases = batch.cases
    replies = replies_to([request for case in cases for request in case.requests], predictions)
    width = len(cases[0].requests) if cases else 0
    states: list[State] = ["judged"] * len(cases)
    for row in {place // width for place in replies.problems}:
        skipped, _ = lacking(replies, range(row * width, (row + 1) * width))
        states[row] = "skipped" if skipped else "unscored"
    rows = [row for row, state in enumerate(states) if state == "judged"]
    found = facts_of(SCORED[batch.task.shape](batch, cases, replies, rows)) if rows else []
    facts = [_NO_FACTS] * len(cases)
    for row, one in zip(rows, found, strict=True):
        facts[row] = one
    headline = HEADLINE[batch.task.shape]
    right = np.array([one.get(headline) == 1.0 for one in facts], dtype=np.bool_)
    return Verdicts(cases=cases, replies=replies, states=states, right=right, facts=facts, shape=batch.task.shape)


def facts_of(columns: Mapping[str, FloatArray]) -> list[dict[str, float]]:
    """Return the facts of each case, from the columns of a rule; a fact that is NaN does not apply to a case.

    Cases with equal facts share them, because there are few different ones.
    """
    values = np.stack(list(columns.values()), axis=1)
    known = ~np.isnan(values)
    kept = np.asarray(known.any(axis=0))
    names = [name for name, keep in zip(columns, kept.tolist(), strict=True) if keep]
    if known[:, kept].all():
        rows = list(map(tuple, values[:, kept].tolist()))
        shared = {row: dict(zip(names, row, strict=True)) for row in set(rows)}
        return [shared[row] for row in rows]
    return [
        {name: value for name, value, has in zip(columns, row, there, strict=True) if has}
        for row, there in zip(values.tolist(), known.tolist(), strict=True)
    ]


def _pairs(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    accepted = replies.accepted.reshape(len(cases), 2)[rows]
    return score_rules.pair_case_metrics(_scores(cases, replies, rows), accepted, batch.ties)


def _quads(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    return score_rules.quad_case_metrics(_scores(cases, replies, rows), batch.ties)


def _twin_captions(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    return score_rules.quad_twin_case_metrics(_scores(cases, replies, rows), batch.ties)


def _sets(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    return score_rules.set_case_metrics(
        _scores(cases, replies, rows), score_rules.SET_METRICS[batch.task.shape], batch.ties
    )


def _scores(cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> FloatArray:
    """The scores of the judged cases, of shape (m, k).

    Raises: ValueError if a reply has none.
    """
    found = replies.scores.reshape(len(cases), -1)[rows]
    for row, column in np.argwhere(np.isnan(found)).tolist():
        scored(replies.at(rows[row] * found.shape[1] + column))
    return found


SCORED: Mapping[Shape, Callable[[Batch, Sequence[Case], Replies, Sequence[int]], dict[str, FloatArray]]] = {
    "pair": _pairs,
    "quad": _quads,
    "image_quad": _quads,
    "twin_captions": _twin_captions,
    "set": _sets,
    "active_passive_set": _sets,
}
"""The rule of each shape, from a batch, its cases, their replies, and the rows of the cases that can be judged."""


# From predictions to verdicts: turn the replies of each case into facts and a sentence.
#
# The rules are in ``vlgate.metrics``, one file per shape of case: a fact is what the case contributes to the metric of
# the same name. This module puts the replies into arrays for these rules, and writes the sentence of each verdict.


def judge(batch: Batch, predictions: Mapping[Request, Prediction]) -> Sequence[Verdict]:
    """Judge each case of a batch by the replies to its requests.

    A case is right if its fact for the headline metric of its shape (``metrics.names.HEADLINE``) is 1.

    Args:
        batch: the cases, and what a tie counts.
        predictions: one per distinct request of the batch; more do no harm.

    Returns: one verdict per case, in the batch's order. A case that lacks a reply is ``skipped`` if it was left out on
        purpose, and ``unscored`` otherwise; such a case is neither right nor wrong. An answer that names none of the
        choices, or several, is a reply: it is wrong, and lowers the fact ``read``.
    Raises: KeyError if a request has no prediction at all.
    """
    if batch.task.shape in SCORED and not batch.task.together:
        return judge_scores(batch, predictions)
    found = [_read(case, tuple(map(predictions.__getitem__, case.requests))) for case in batch.cases]
    judged = [one for one in found if isinstance(one, ReadCase)]
    if len(judged) == len(found):
        return tuple(_verdicts(batch, judged)) if judged else ()
    verdicts = iter(_verdicts(batch, judged) if judged else ())
    return tuple(next(verdicts) if isinstance(one, ReadCase) else one for one in found)


def unread(verdict: Verdict) -> list[Prediction]:
    """Return the answers of a judged case that name none of the choices, or several."""
    return [
        reply
        for reply in verdict.predictions
        if isinstance(reply.request, Ask | Compare) and isinstance(_said(reply.answer, reply.request), Unread)
    ]


def _read(case: Case, replies: tuple[Prediction, ...]) -> ReadCase | Verdict:
    """The values of a case's replies; a verdict that says why if one of them cannot be judged."""
    values: list[Any] = []
    lacking: list[tuple[bool, str]] = []
    for reply in replies:
        if reply.problem is not None:
            lacking.append((reply.skipped, reply.problem))
        elif isinstance(reply.request, Ask | Compare):
            values.append(_said(reply.answer, reply.request))
        elif reply.score is None:
            raise ValueError(f"a judged reply has no score: {reply!r}")
        else:
            values.append(reply.score)
    if not lacking:
        return ReadCase(case, replies, tuple(values))
    skipped, problem = min(lacking)  # a failure outweighs a request that was left out on purpose, whatever their order
    state: State = "skipped" if skipped else "unscored"
    why = f"{case.origin or case.id}: {problem}"
    return Verdict(case=case, predictions=replies, state=state, right=False, facts=_NO_FACTS, why=why)


def _said(answer: str | None, question: Ask | Compare) -> str | Unread | None:
    """The choice that an answer names, in normal form; None for a tie. Without choices, any text but an empty one."""
    if answer is None:
        return None
    read = read_reply(answer, question)
    return Unread(normal_answer(answer)) if read is None else normal_choice(read, question.choices)


def _verdicts(batch: Batch, judged: Sequence[ReadCase]) -> list[Verdict]:
    shape = batch.task.shape
    rule = shapes.TOGETHER_RULES[shape] if batch.task.together else _RULES[shape]
    headline, sentence = HEADLINE[shape], shapes.together_sentence(shape) if batch.task.together else _SENTENCES[shape]
    cut = any(reply.cut for one in judged for reply in one.replies)
    return [
        Verdict(
            case=one.case,
            predictions=one.replies,
            state="judged",
            right=facts[headline] == 1.0,
            facts=facts,
            why=sentence(one) + _cut(one.replies) if cut else sentence(one),
        )
        for one, facts in zip(judged, facts_of(rule(batch, judged)), strict=True)
    ]


def _cut(replies: Sequence[Prediction]) -> str:
    cut = sum(reply.cut for reply in replies)
    return f"; the model did not read the end of {cut} of {len(replies)} texts" if cut else ""


def _question_pairs(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    stays = batch.task.capability == "invariance"
    rows = [(*one.values, *right_answers(one.case)) for one in judged]
    right = np.array([(first == one, second == two) for first, second, one, two in rows], dtype=np.bool_)
    read = np.array([(type(first) is not Unread, type(second) is not Unread) for first, second, _, _ in rows])
    # A tie and an unread reply answer nothing, so they neither agree with another reply nor differ from it.
    consistent = [_answers(first) and _answers(second) and (first == second) == stays for first, second, _, _ in rows]
    return answer_rules.question_pair_case_metrics(right & read, np.array(consistent, dtype=np.bool_), read)


def _twin_questions(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    rows = [(*one.values, *right_answers(one.case)) for one in judged]
    right = np.array([(first == one, second == two) for first, second, one, two in rows], dtype=np.bool_)
    read = np.array([(type(first) is not Unread, type(second) is not Unread) for first, second, _, _ in rows])
    prior = np.array([second == one for _, second, one, _ in rows], dtype=np.bool_)
    tied = np.array([second is None for _, second, _, _ in rows], dtype=np.bool_)
    return answer_rules.question_twin_case_metrics(right & read, prior, read) | of_ties(tied)


def _answers(said: str | None) -> bool:
    """Whether a reply says something that can agree with another one."""
    return said is not None and type(said) is not Unread


_RULES: Mapping[Shape, Callable[[Batch, Sequence[ReadCase]], dict[str, FloatArray]]] = {
    "questions": _question_pairs,
    **shapes.FURTHER_RULES,
    "twin_questions": _twin_questions,
}


def _why_questions(one: ReadCase) -> str:
    (first, second), (right, other) = one.values, right_answers(one.case)
    why = f"answered {shown(first)} and {shown(second)}; right are {right!r} and {other!r}"
    return why + why_unread(one) if type(first) is Unread or type(second) is Unread else why


def _why_twin_questions(one: ReadCase) -> str:
    (_, second), (right, other) = one.values, right_answers(one.case)
    usual = type(second) is not Unread and second == right != other
    return _why_questions(one) + ("; the second is the answer of the normal image" if usual else "")


_SENTENCES: Mapping[Shape, Callable[[ReadCase], str]] = {
    "questions": _why_questions,
    **shapes.FURTHER_SENTENCES,
    "twin_questions": _why_twin_questions,
}
