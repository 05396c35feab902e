"""Cases that are judged by the scores of their requests alone: all of a batch at once, in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from vlgate.judging.judged import Verdicts, lacking, scored
from vlgate.judging.replies import Replies, replies_to
from vlgate.metrics import bla, ranking, winoground
from vlgate.metrics.names import HEADLINE
from vlgate.types import Batch, Case, FloatArray, Prediction, Request, Shape, State

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
    return ranking.facts(_scores(cases, replies, rows), accepted, batch.ties)


def _quads(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    return winoground.facts(_scores(cases, replies, rows), batch.ties)


def _twin_captions(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    return winoground.twin_facts(_scores(cases, replies, rows), batch.ties)


def _sets(batch: Batch, cases: Sequence[Case], replies: Replies, rows: Sequence[int]) -> dict[str, FloatArray]:
    return bla.facts(_scores(cases, replies, rows), bla.METRICS[batch.task.shape], batch.ties)


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
