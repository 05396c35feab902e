"""From predictions to verdicts: the replies to all cases of a batch as arrays, judged by the rule of their shape.

The rules are in ``vlgate.metrics``: a fact is what a case contributes to the metric of the same name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vlgate.judging.judged import Replies, Verdicts, lacking, replies_to, starts_of, truncated
from vlgate.judging.readings import Reading, case_replies, reading, repeats_truths, said
from vlgate.metrics import sentences
from vlgate.metrics.compute import in_rows
from vlgate.metrics.shape_rules import ShapeReplies
from vlgate.metrics.shapes import SHAPES, ShapeSpec
from vlgate.types import Ask, Batch, Case, Compare, FloatArray, Prediction, Request, State, Verdict

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
    told: dict[int, str] = {}
    facts = list(verdicts.facts)
    together = spec.together if batch.task.together else None
    if rows:
        judged = verdicts if len(rows) == len(cases) else verdicts.take(rows)
        _refuse_unscored(judged.replies)
        arrays = ShapeReplies(
            scores=in_rows(judged.cases, judged.replies.scores),
            accepted=in_rows(judged.cases, judged.replies.accepted),
            ties=batch.ties,
            stays=batch.task.capability == "invariance",
        )
        if spec.answered or together:
            read = _readings(judged, together=together is not None)
            arrays = _with_answers(arrays, read)
            told = dict(zip(rows, _sentences(judged, read, spec), strict=True))
        rule = together.rule if together else spec.rule
        for row, of_case in zip(rows, facts_of(rule(arrays)), strict=True):
            facts[row] = of_case
    right = np.array([of_case.get(spec.headline) == 1.0 for of_case in facts], dtype=np.bool_)
    found = replace(verdicts, right=right, facts=facts)
    if not told:
        return found
    return replace(found, shape=None, told=[told.get(row) or found.why(row) for row in range(len(found))])


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


def _refuse_unscored(replies: Replies) -> None:
    for place in np.flatnonzero(np.isnan(replies.scores)).tolist():
        if not isinstance(replies.requests[place], Ask | Compare):
            raise ValueError(f"a judged reply has no score: {replies.at(place)!r}")  # noqa: TRY004  # it is missing


def _parts(judged: Verdicts) -> Iterator[tuple[Case, range, Sequence[str | None], list[float]]]:
    """Each case with the places of its replies, the answers, and what the model accepts."""
    replies = judged.replies
    answers, accepted = replies.answers or [None] * len(replies.requests), replies.accepted.tolist()
    for case, start, end in zip(judged.cases, judged.starts[:-1], judged.starts[1:], strict=True):
        yield case, range(start, end), answers[start:end], accepted[start:end]


def _readings(judged: Verdicts, *, together: bool) -> list[Reading]:
    return [reading(case, answers, accepts, together=together) for case, _, answers, accepts in _parts(judged)]


def _with_answers(arrays: ShapeReplies, read: Sequence[Reading]) -> ShapeReplies:
    return replace(
        arrays,
        said=np.array([one.said for one in read], dtype=object),
        read=np.array([one.read for one in read], dtype=np.bool_),
        truths=np.array([one.truths for one in read], dtype=object),
        outcomes=np.array([one.outcomes for one in read], dtype=object),
        prior=np.array([repeats_truths(one) for one in read], dtype=np.bool_),
    )


def _sentences(judged: Verdicts, read: Sequence[Reading], spec: ShapeSpec) -> Iterator[str]:
    scores = judged.replies.scores.tolist()
    for one, (case, places, answers, accepts) in zip(read, _parts(judged), strict=True):
        replies = case_replies(case, one, scores[places.start : places.stop], accepts, answers)
        labels = spec.together.labels if spec.together and one.outcomes else ()
        why = sentences.together(replies, labels) if one.outcomes else spec.why(replies)
        yield why + truncated(judged.replies, places)
