"""What a test sends to the process that the user started: the replies, in plain values that cross to it unchanged.

A batch's distinct requests come in the same order in every process, so that their replies need no keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from vlgate.types import Batch, Prediction, Request, Verdict


class Rows(TypedDict):
    """The replies to a batch's distinct requests, a list entry each, and how its cases came out."""

    scores: list[float | None]
    answers: list[str | None]
    accepted: list[bool | None]
    problems: list[str | None]
    skipped: list[bool]
    cut: list[bool]
    judged: int
    missed: int


def pack(verdicts: Sequence[Verdict]) -> Rows:
    """Put the replies of a batch's verdicts into plain values."""
    replies = list({p.request: p for verdict in verdicts for p in verdict.predictions}.values())
    return Rows(
        scores=[reply.score for reply in replies],
        answers=[reply.answer for reply in replies],
        accepted=[reply.accepted for reply in replies],
        problems=[reply.problem for reply in replies],
        skipped=[reply.skipped for reply in replies],
        cut=[reply.cut for reply in replies],
        judged=sum(verdict.state == "judged" for verdict in verdicts),
        missed=sum(verdict.state == "judged" and not verdict.right for verdict in verdicts),
    )


def unpack(rows: Rows, batch: Batch) -> dict[Request, Prediction]:
    """Take the replies of a batch out of plain values.

    Raises: ValueError where there are more or fewer of them than the batch has distinct requests.
    """
    requests = distinct(batch)
    columns = zip(
        rows["scores"], rows["answers"], rows["accepted"], rows["problems"], rows["skipped"], rows["cut"], strict=True
    )
    return {
        request: Prediction(
            request=request, score=score, answer=answer, accepted=accepted, problem=problem, skipped=skipped, cut=cut
        )
        for request, (score, answer, accepted, problem, skipped, cut) in zip(requests, columns, strict=True)
    }


def unreplied(batch: Batch, why: str) -> dict[Request, Prediction]:
    """Predictions of a batch that was never scored."""
    return {request: Prediction(request=request, problem=why) for request in distinct(batch)}


def distinct(batch: Batch) -> Iterable[Request]:
    """The distinct requests of a batch, in the order of first appearance."""
    return dict.fromkeys(request for case in batch.cases for request in case.requests)
