"""From predictions to verdicts: the replies to all cases of a batch as arrays, judged by the rule of their shape.

The rules are in ``vlgate.metrics``: a fact is what a case contributes to the metric of the same name.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vlgate.judging.judged import RequestsOf, Verdicts, lacking, replies_to, truncated
from vlgate.judging.normal import normal_answer, normal_choice
from vlgate.metrics import sentences
from vlgate.metrics.compute import in_rows
from vlgate.metrics.sentences import CaseReplies
from vlgate.metrics.shape_rules import YES, ShapeReplies
from vlgate.metrics.shapes import SHAPES, ShapeSpec
from vlgate.types import Ask, Batch, Case, Compare, FloatArray, Prediction, Request, State, Verdict

_NO_FACTS: Mapping[str, float] = {}
_WEIGHTS = np.sqrt(np.arange(2.0, 66.0))  # of columns; their sums tell rows of simple fractions apart
_NO_FACT = 3.0  # in the place of NaN; facts are in 0..1


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
    replies = replies_to(RequestsOf(cases), predictions)
    states: list[State] = ["judged"] * len(cases)
    facts, right = [_NO_FACTS] * len(cases), np.zeros(len(cases), dtype=np.bool_)
    verdicts = Verdicts(cases=cases, replies=replies, states=states, right=right, facts=facts, shape=batch.task.shape)
    for row in {bisect_right(verdicts.starts, problem) - 1 for problem in replies.problems}:
        skipped, _ = lacking(replies, range(*verdicts.starts[row : row + 2]))
        states[row] = "skipped" if skipped else "unscored"
    rows = [row for row, state in enumerate(states) if state == "judged"] if replies.problems else range(len(cases))
    if not rows:
        return verdicts
    judged = verdicts.take(rows)
    for place in np.flatnonzero(np.isnan(judged.replies.scores)).tolist():
        if not isinstance(judged.replies.requests[place], Ask | Compare):
            raise ValueError(f"a judged reply has no score: {judged.replies.at(place)!r}")  # noqa: TRY004  # it is missing
    scores, accepted = (in_rows(judged.starts, got) for got in (judged.replies.scores, judged.replies.accepted))
    stays = batch.task.capability == "invariance"
    arrays = ShapeReplies(scores=scores, accepted=accepted, ties=batch.ties, stays=stays)
    together = spec.together if batch.task.together else None
    readings: list[Reading] = []
    if spec.answered or together:
        readings = [_reading(*part[:3], together=together is not None) for part in _parts(judged)]
        arrays = _with_answers(arrays, readings)
    columns = (together.rule if together else spec.rule)(arrays)
    right[rows] = columns[spec.headline] == 1.0
    for row, of_case in zip(rows, facts_of(columns), strict=True):
        facts[row] = of_case
    if not readings:
        return verdicts
    told = dict(zip(rows, _sentences(judged, readings, spec), strict=True))
    return replace(verdicts, shape=None, told=[told.get(row) or verdicts.why(row) for row in range(len(cases))])


def unread(verdict: Verdict) -> list[Prediction]:
    """Return the answers of a judged case that name none of the choices, or several."""
    return [
        reply
        for reply in verdict.predictions
        if isinstance(reply.request, Ask | Compare) and not _said(reply.answer, reply.request)[1]
    ]


def facts_of(columns: Mapping[str, FloatArray]) -> list[Mapping[str, float]]:
    """Return the facts of each case, from the columns of a rule; a fact that is NaN does not apply to a case."""
    # Cases with equal facts share them, because there are few different ones.
    values = np.stack(list(columns.values()), axis=1)
    values[np.isnan(values)] = _NO_FACT
    _, first, which = np.unique(values @ _WEIGHTS[: len(columns)], return_index=True, return_inverse=True)
    which = which.reshape(-1)
    if not (values[first][which] == values).all():
        first = which = np.arange(len(values))
    pairs = (zip(columns, row, strict=True) for row in values[first].tolist())
    distinct = [{name: value for name, value in row if value != _NO_FACT} for row in pairs]
    return [distinct[number] for number in which.tolist()]


# What the replies to a case say. The requests of a case asked together are pairs of one question with the candidates in
# two orders. A pair says something only if both replies mean the same image, text or answer. A model that always names
# the same position says nothing, and is wrong; ``vlgate.run.together`` makes the requests.


class Reading(NamedTuple):
    """What the replies to a case say, in normal form: None for a tie; with whether each was read, and the truths.

    ``outcomes`` are those of a case that is asked together: what each two replies come to, ``right``, ``wrong``,
    ``unread``, ``tied`` or ``depends on the order``.
    """

    said: list[str | None]
    read: list[bool]
    truths: list[str]
    outcomes: Sequence[str] = ()


def right_answers(case: Case) -> list[str]:
    return [
        normal_choice(str(truth), choices_of(request)) if isinstance(truth, str) else YES if truth else "no"
        for request, truth in zip(case.requests, case.truths, strict=True)
    ]


def choices_of(request: Request) -> tuple[str, ...]:
    return request.choices if isinstance(request, Ask | Compare) else ()


def _said(answer: str | None, question: Ask | Compare) -> tuple[str | None, bool]:
    """The choice that an answer names, None for a tie, and whether it names one; without choices, any text."""
    from vlgate.judging.answers import read_reply

    if answer is None:
        return None, True
    choice = read_reply(answer, question)
    return (normal_answer(answer), False) if choice is None else (normal_choice(choice, question.choices), True)


def _parts(judged: Verdicts) -> Iterator[tuple[Case, Sequence[str | None], list[float], range]]:
    replies = judged.replies
    answers, accepted = replies.answers or [None] * len(replies.requests), replies.accepted.tolist()
    for case, start, end in zip(judged.cases, judged.starts[:-1], judged.starts[1:], strict=True):
        yield case, answers[start:end], accepted[start:end], range(start, end)


def _reading(case: Case, answers: Sequence[str | None], accepted: Sequence[float], *, together: bool) -> Reading:
    read = [
        _said(answer, request)
        if isinstance(request, Ask | Compare)
        else (YES if accepts == 1.0 else "no", accepts == accepts)  # noqa: PLR0124  # not NaN
        for request, answer, accepts in zip(case.requests, answers, accepted, strict=True)
    ]
    replies = Reading([text for text, _ in read], [known for _, known in read], right_answers(case))
    pairs = range(0, len(case.requests), 2) if together else ()
    return replies._replace(outcomes=[_outcome(replies, first, choices_of(case.requests[first])) for first in pairs])


def _outcome(replies: Reading, first: int, offered: tuple[str, ...]) -> str:
    pair = slice(first, first + 2)
    texts, truths = replies.said[pair], replies.truths[pair]
    if not all(replies.read[pair]):
        return "unread"
    if None in texts:
        return "tied"
    if texts == truths:
        return "right"
    if truths[0] == truths[1]:
        same = texts[0] == texts[1]
    else:  # positions: the second order is the first one rotated, so each candidate moves as far as the true one
        choices = [normal_choice(choice, offered) for choice in offered]
        places = [choices.index(text) for text in (*truths, *texts) if text is not None]
        same = (places[1] - places[0] - places[3] + places[2]) % len(choices) == 0
    return "wrong" if same else "depends on the order"


def _with_answers(arrays: ShapeReplies, readings: Sequence[Reading]) -> ShapeReplies:
    # a prior: the second pair of replies gives the right answers of the first pair
    prior = [all(reading.read[2:4]) and reading.said[2:4] == reading.truths[:2] for reading in readings]
    said, read, truths, outcomes = zip(*readings, strict=True)
    texts = [np.array(rows, dtype=object) for rows in (said, truths, outcomes)]
    arrays = replace(arrays, read=np.array(read, dtype=np.bool_), prior=np.array(prior, dtype=np.bool_))
    return replace(arrays, said=texts[0], truths=texts[1], outcomes=texts[2])


def _sentences(judged: Verdicts, readings: Sequence[Reading], spec: ShapeSpec) -> Iterator[str]:
    scores = judged.replies.scores.tolist()
    for reading, (case, answers, accepted, places) in zip(readings, _parts(judged), strict=True):
        unparsed = "".join(
            f"; {answer!r} names none of {', '.join(map(repr, request.choices))}, or several"
            if request.choices
            else f"; {answer!r} is empty"
            for request, answer, read in zip(case.requests, answers, reading.read, strict=True)
            if not read and isinstance(request, Ask | Compare)
        )
        said, read, truths, outcomes = reading
        statement = not isinstance(case.requests[0], Ask | Compare)
        own = scores[places.start : places.stop]
        replies = CaseReplies(own, accepted, said, read, truths, unparsed, statement, outcomes)
        labels = spec.together.labels if spec.together and reading.outcomes else ()
        why = sentences.together(replies, labels) if reading.outcomes else spec.why(replies)
        yield why + truncated(judged.replies, places)
