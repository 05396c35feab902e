"""From predictions to verdicts: turn the replies of each case into facts and a sentence.

The rules are in ``vlgate.metrics``, one file per shape of case: a fact is what the case contributes to the metric of
the same name. This module puts the replies into arrays for these rules, and writes the sentence of each verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from vlgate.judging import further_shapes
from vlgate.judging.answers import normal_answer, read_answer
from vlgate.judging.read_case import ReadCase, Unread, why_unread
from vlgate.metrics import bla, questions, ranking, winoground
from vlgate.metrics.names import HEADLINE
from vlgate.types import Ask, Batch, Case, FloatArray, Prediction, Request, Shape, State, Verdict

_NO_FACTS: Mapping[str, float] = {}
_normal = lru_cache(maxsize=4096)(normal_answer)  # the right answers of a task are few, and its cases many


def judge(batch: Batch, predictions: Mapping[Request, Prediction]) -> tuple[Verdict, ...]:
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
    found = [_read(case, tuple(map(predictions.__getitem__, case.requests))) for case in batch.cases]
    if batch.task.shape == "single":
        found = [further_shapes.with_yes_or_no(one) if isinstance(one, ReadCase) else one for one in found]
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
        if isinstance(reply.request, Ask) and isinstance(_said(reply.answer, reply.request.choices), Unread)
    ]


def _read(case: Case, replies: tuple[Prediction, ...]) -> ReadCase | Verdict:
    """The values of a case's replies; a verdict that says why if one of them cannot be judged."""
    values: list[Any] = []
    lacking: list[tuple[bool, str]] = []
    for reply in replies:
        if reply.problem is not None:
            lacking.append((reply.skipped, reply.problem))
        elif isinstance(reply.request, Ask):
            values.append(_said(reply.answer, reply.request.choices))
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


def _said(answer: str | None, choices: tuple[str, ...]) -> str | Unread | None:
    """The choice that an answer names, in normal form; None for a tie."""
    if answer is None:
        return None
    read = read_answer(answer, choices) if choices else answer
    return Unread(normal_answer(answer)) if read is None else _normal(read)


def _verdicts(batch: Batch, judged: Sequence[ReadCase]) -> list[Verdict]:
    shape = batch.task.shape
    headline, sentence = HEADLINE[shape], _SENTENCES[shape]
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
        for one, facts in zip(judged, _facts(_RULES[shape](batch, judged)), strict=True)
    ]


def _facts(columns: Mapping[str, FloatArray]) -> list[dict[str, float]]:
    """The facts of each case, from the columns of a rule; a fact that is NaN does not apply to a case.

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


def _cut(replies: Sequence[Prediction]) -> str:
    cut = sum(reply.cut for reply in replies)
    return f"; the model did not read the end of {cut} of {len(replies)} texts" if cut else ""


def _pairs(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    accepted = np.array([reply.accepted for one in judged for reply in one.replies], dtype=np.float64)
    return ranking.facts(_scores(judged), accepted.reshape(len(judged), 2), batch.ties)


def _quads(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return winoground.facts(_scores(judged), batch.ties)


def _sets(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return bla.facts(_scores(judged), bla.METRICS[batch.task.shape], batch.ties)


def _question_pairs(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    stays = batch.task.capability == "invariance"
    rows = [(*one.values, *_truths(one)) for one in judged]
    right = np.array([(first == one, second == two) for first, second, one, two in rows], dtype=np.bool_)
    read = np.array([(type(first) is not Unread, type(second) is not Unread) for first, second, _, _ in rows])
    # A tie is not an answer, so two ties do not agree either.
    consistent = [
        first is not None and second is not None and (first == second) == stays for first, second, _, _ in rows
    ]
    return questions.facts(right & read, np.array(consistent, dtype=np.bool_), read)


def _twin_questions(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    rows = [(*one.values, *_truths(one)) for one in judged]
    right = np.array([(first == one, second == two) for first, second, one, two in rows], dtype=np.bool_)
    read = np.array([(type(first) is not Unread, type(second) is not Unread) for first, second, _, _ in rows])
    prior = np.array([second == one for _, second, one, _ in rows], dtype=np.bool_)
    return questions.twin_facts(right & read, prior, read[:, 1])


def _twin_captions(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return winoground.twin_facts(_scores(judged), batch.ties)


def _scores(judged: Sequence[ReadCase]) -> FloatArray:
    return np.array([one.values for one in judged], dtype=np.float64)


def _truths(one: ReadCase) -> list[str]:
    return [_normal(str(truth)) for truth in one.case.truths]


_RULES: Mapping[Shape, Callable[[Batch, Sequence[ReadCase]], dict[str, FloatArray]]] = {
    "pair": _pairs,
    "quad": _quads,
    "image_quad": _quads,
    "set": _sets,
    "active_passive_set": _sets,
    "questions": _question_pairs,
    **further_shapes.RULES,
    "twin_questions": _twin_questions,
    "twin_captions": _twin_captions,
}


def _why_pair(one: ReadCase) -> str:
    caption, foil = one.values
    order = "above" if caption > foil else "level with" if caption == foil else "below"
    return f"the caption scores {caption:.6g}, {order} the foil's {foil:.6g}"


def _why_quad(one: ReadCase) -> str:
    i0c0, i0c1, i1c0, i1c1 = one.values
    held = (i0c0 > i0c1) + (i1c1 > i1c0) + (i0c0 > i1c0) + (i1c1 > i0c1)
    scores = f"image 0: {i0c0:.6g}, {i0c1:.6g}; image 1: {i1c0:.6g}, {i1c1:.6g}"
    return f"{held} of 4 comparisons hold ({scores})"


def _why_set(one: ReadCase) -> str:
    true_1, true_2, false_1, false_2 = one.values
    held = sum(true > false for true in (true_1, true_2) for false in (false_1, false_2))
    listed = f"true: {true_1:.6g}, {true_2:.6g}; false: {false_1:.6g}, {false_2:.6g}"
    return f"{held} of 4 comparisons of a true with a false sentence hold ({listed})"


def _why_questions(one: ReadCase) -> str:
    (first, second), (right, other) = one.values, _truths(one)
    why = f"answered {first!r} and {second!r}; right are {right!r} and {other!r}"
    return why + why_unread(one) if type(first) is Unread or type(second) is Unread else why


def _why_twin_questions(one: ReadCase) -> str:
    (_, second), (right, other) = one.values, _truths(one)
    usual = type(second) is not Unread and second == right != other
    return _why_questions(one) + ("; the second is the answer of the normal image" if usual else "")


def _why_twin_captions(one: ReadCase) -> str:
    _, _, usual, own = one.values
    why = "; the counterfactual image fits the caption of the normal one better" if usual > own else ""
    return _why_quad(one) + why


_SENTENCES: Mapping[Shape, Callable[[ReadCase], str]] = {
    "pair": _why_pair,
    "quad": _why_quad,
    "image_quad": _why_quad,
    "set": _why_set,
    "active_passive_set": _why_set,
    "questions": _why_questions,
    **further_shapes.SENTENCES,
    "twin_questions": _why_twin_questions,
    "twin_captions": _why_twin_captions,
}
