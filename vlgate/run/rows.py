"""The replies of a batch as plain values, in which a worker sends them to the main process.

The distinct requests of a batch have the same order in every process, so the replies need no keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from vlgate.types import Batch, Prediction, Request, Verdict

UNASKED = "the run ended before this case was asked"
"""Why there is no reply to a request that never reached the model."""


class Rows(TypedDict):
    """The replies to a batch's distinct requests, one list entry per request, and the counts of its cases.

    ``plan`` is the digest of the plan of the process that asked; empty if no other process judges the replies.
    """

    scores: list[float | None]
    answers: list[str | None]
    accepted: list[bool | None]
    problems: list[str | None]
    skipped: list[bool]
    cut: list[bool]
    judged: int
    missed: int
    plan: str


def pack(verdicts: Sequence[Verdict], plan: str = "") -> Rows:
    """Turn the replies of a batch's verdicts into plain values, with the digest of the plan."""
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
        plan=plan,
    )


def unpack(rows: Rows, batch: Batch) -> dict[Request, Prediction]:
    """Turn plain values back into the replies of a batch.

    Raises: ValueError if the number of replies is not the number of the batch's distinct requests.
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
    """Return predictions for a batch that was never scored; ``why`` says why there are no replies."""
    return {request: Prediction(request=request, problem=why) for request in distinct(batch)}


def distinct(batch: Batch) -> Iterable[Request]:
    """Return the distinct requests of a batch, in the order of first appearance."""
    return dict.fromkeys(request for case in batch.cases for request in case.requests)
