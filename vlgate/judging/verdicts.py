"""From predictions to verdicts: the replies to all cases of a batch as arrays, judged by the rule of their shape.

The rules are in ``vlgate.metrics``: a fact is what a case contributes to the metric of the same name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vlgate.judging.judged import Replies, Verdicts, lacking, replies_to, starts_of
from vlgate.judging.readings import outcomes, reading, repeats_truths, said
from vlgate.metrics.compute import in_rows
from vlgate.metrics.shape_rules import ShapeReplies
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Ask, Batch, Compare, FloatArray, Prediction, Request, State, Verdict

_NO_FACTS: Mapping[str, float] = {}


def judge(batch: Batch, predictions: Mapping[Request, Prediction]) -> Sequence[Verdict]:
    """Judge each case of a batch by the replies to its requests.

    A case is right if its fact for the headline metric of its shape (``metrics.shapes.SHAPES``) is 1.

    Args:
        batch: the cases, and what a tie counts.
        predictions: one per distinct request of the batch; more do no harm.

    Returns: one verdict per case, in the batch's order. A case that lacks a reply is ``skipped`` if it was left out on
        purpose, and ``unscored`` otherwise; such a case is neither right nor wrong. An answer that names none of the
        choices, or several, is a reply: it is wrong, and lowers the fact ``read``.
    Raises: KeyError if a request has no prediction at all.
    """
    cases, spec = batch.cases, SHAPES[batch.task.shape]
    replies = replies_to([request for case in cases for request in case.requests], predictions)
    verdicts = Verdicts(
        cases=cases,
        replies=replies,
        states=_states(replies, starts_of(cases), len(cases)),
        right=np.zeros(len(cases), dtype=np.bool_),
        facts=[_NO_FACTS] * len(cases),
        shape=batch.task.shape,
    )
    rows = [row for row, state in enumerate(verdicts.states) if state == "judged"]
    if not rows:
        return verdicts
    rule = spec.together.rule if spec.together and batch.task.together else spec.rule
    facts = list(verdicts.facts)
    for row, of_case in zip(rows, facts_of(rule(_shape_replies(batch, verdicts, rows))), strict=True):
        facts[row] = of_case
    right = np.array([of_case.get(spec.headline) == 1.0 for of_case in facts], dtype=np.bool_)
    return replace(verdicts, right=right, facts=facts)


def unread(verdict: Verdict) -> list[Prediction]:
    """Return the answers of a judged case that name none of the choices, or several."""
    return [
        reply
        for reply in verdict.predictions
        if isinstance(reply.request, Ask | Compare) and not said(reply.answer, reply.request)[1]
    ]


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


def _states(replies: Replies, starts: Sequence[int], cases: int) -> list[State]:
    states: list[State] = ["judged"] * cases
    for row in {bisect_right(starts, place) - 1 for place in replies.problems}:
        skipped, _ = lacking(replies, range(starts[row], starts[row + 1]))
        states[row] = "skipped" if skipped else "unscored"
    return states


def _shape_replies(batch: Batch, verdicts: Verdicts, rows: Sequence[int]) -> ShapeReplies:
    """The replies to the cases in ``rows``, which all have one."""
    replies = verdicts.replies if len(rows) == len(verdicts) else verdicts.take(rows).replies
    cases = [verdicts.cases[row] for row in rows]
    for place in np.flatnonzero(np.isnan(replies.scores)).tolist():
        if not isinstance(replies.requests[place], Ask | Compare):
            raise ValueError(f"a judged reply has no score: {replies.at(place)!r}")  # noqa: TRY004  # a value is missing
    scores, accepted = in_rows(cases, replies.scores), in_rows(cases, replies.accepted)
    if not SHAPES[batch.task.shape].answered and not batch.task.together:
        return ShapeReplies(scores=scores, accepted=accepted, ties=batch.ties)
    answers = replies.answers or [None] * len(replies.requests)
    starts = starts_of(cases)
    read = [
        reading(case, answers[start:end], row.tolist())
        for case, row, start, end in zip(cases, accepted, starts[:-1], starts[1:], strict=True)
    ]
    return ShapeReplies(
        scores=scores,
        accepted=accepted,
        ties=batch.ties,
        stays=batch.task.capability == "invariance",
        said=np.array([one.said for one in read], dtype=object),
        read=np.array([one.read for one in read], dtype=np.bool_),
        truths=np.array([one.truths for one in read], dtype=object),
        outcomes=np.array([outcomes(*one) for one in zip(cases, read, strict=True)], dtype=object)
        if batch.task.together
        else np.empty((0, 0), dtype=object),
        prior=np.array([repeats_truths(one) for one in read], dtype=np.bool_),
    )
