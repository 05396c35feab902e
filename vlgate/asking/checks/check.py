"""The outcome of a check of a model, and the comparison of its replies to the same requests in several rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from vlgate.types import Case, Match, Prediction, Predictor, Request

# What a check of a model says, whatever it looked at.

CheckOutcome = Literal["ok", "suspect", "not applicable", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check of a model found, with a sentence that says why; ``failed`` means that the check could not run.

    ``n`` counts the comparisons. ``share`` is the share of them with the expected result, None if nothing was compared.
    ``largest`` is the largest difference between two scores of one request, None if it is not measured.
    """

    name: str
    outcome: CheckOutcome
    why: str
    n: int = 0
    share: float | None = None
    largest: float | None = None


# Compare the replies to the same requests in several rounds: what follows from rounding, and what does not.

REQUESTS = 24
MOST_FAILED = 0.25
"""The largest share of requests that may fail in one of the rounds: with more, a check says nothing of the others."""
ROUNDING = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""The largest difference of two scores, relative to the largest score, that rounding explains, by dtype.

float16 and bfloat16 have a relative precision of 1e-3 and 8e-3; a network's rounding errors add up to several times
that. The scores of float32 models differ by 1e-6 to 1e-5 between sizes of batches.
"""

Replies = Mapping[Request, Prediction]


def together(model: Predictor, requests: Sequence[Request]) -> Replies:
    """Ask a model the first ``REQUESTS`` distinct requests together, which is a round of several checks."""
    return model.predict(list(dict.fromkeys(requests))[:REQUESTS])


def compare(
    name: str, rounds: Sequence[Replies], sentences: tuple[str, str], tolerance: float, cases: Sequence[Case] = ()
) -> Check:
    """Compare the replies of several rounds to the same requests.

    ``sentences`` say how the requests were asked, and what to do if the replies differ by more than rounding.
    ``tolerance`` is the largest difference of two scores of one request that rounding explains, relative to the largest
    score if that is above 1. Requests that failed in a round are left out: a service that is busy is not a model that
    changes its mind.

    Returns: ``suspect`` if a score differs by more than the tolerance, if an answer changes, or if a yes or no changes
        although the score stays the same; also if more than ``MOST_FAILED`` of the requests with a reply have none in
        another round. ``not applicable`` if no request has a reply.
    """
    asked, advice = sentences
    requests = [request for request in rounds[0] if any(replies[request].problem is None for replies in rounds)]
    answered = [request for request in requests if all(replies[request].problem is None for replies in rounds)]
    failed = _failed(requests, answered, rounds)
    if not requests:
        why = ": ".join(filter(None, (f"none of {len(rounds[0])} requests has a reply", _problem(rounds[0], rounds))))
        return Check(name=name, outcome="not applicable", why=why)
    if len(requests) - len(answered) > MOST_FAILED * len(requests):
        remedy = "see that the model replies to each, and run it again"
        return Check(name=name, outcome="suspect", why=f"requests were asked {asked}; {failed}; {remedy}")
    spreads = {request: _spread(request, rounds) for request in answered}
    largest = max(spreads.values())
    allowed = tolerance * max(1.0, _highest(answered, rounds))
    changed = sum(
        len({_said(replies[request]) for replies in rounds}) > 1
        or (_undecided(request, rounds) and not 0 < spreads[request] <= allowed)
        for request in answered
    )
    pairs = [pair for pair in combinations(answered, 2) if _comparable(*pair)]
    turned = sum(len({_order(replies[a], replies[b]) for replies in rounds}) > 1 for a, b in pairs)
    suspect = changed > 0 or largest > allowed
    why = (
        f"{len(answered)} requests were asked {asked}: scores differ by at most {largest:.3g}, "
        f"{changed} other replies change, {turned} of {len(pairs)} pairs of scores change their order"
    )
    why = "; ".join(filter(None, (why, failed)))
    if suspect:
        why = f"{why}; {advice}"
    elif largest:
        whole = [case for case in cases if all(request in spreads for request in case.requests)]
        could = sum(_could_change(case, rounds, largest) for case in whole)
        why = f"{why}; such differences are within rounding, and could change {could} of {len(whole)} verdicts"
    n = len(answered) + len(pairs)
    return Check(
        name=name,
        outcome="suspect" if suspect else "ok",
        why=why,
        n=n,
        share=1 - (changed + turned) / n,
        largest=largest,
    )


def _failed(requests: Sequence[Request], answered: Sequence[Request], rounds: Sequence[Replies]) -> str:
    """How many requests have a reply in some rounds only, and why; empty if all have one in each."""
    kept = set(answered)
    left = [request for request in requests if request not in kept]
    if not left:
        return ""
    count = f"{len(left)} of {len(requests)} requests have no reply in some of {len(rounds)} rounds"
    return f"{count}, so they are not compared: {_problem(left, rounds)}"


def _problem(requests: Iterable[Request], rounds: Sequence[Replies]) -> str:
    problems = (replies[request].problem for request in requests for replies in rounds)
    return next((problem for problem in problems if problem is not None), "")


def _could_change(case: Case, rounds: Sequence[Replies], largest: float) -> bool:
    """Whether two scores of a case differ by no more than rounding, or a yes or no of it changes."""
    scored = [request for request in case.requests if _scores(request, rounds)]
    close = any(_gap(a, b, rounds) <= largest for a, b in combinations(scored, 2) if a != b)
    return close or any(_undecided(request, rounds) for request in case.requests)


def _comparable(request: Request, other: Request) -> bool:
    return isinstance(request, Match) and isinstance(other, Match) and request.image == other.image


def _order(reply: Prediction, other: Prediction) -> int | None:
    if reply.score is None or other.score is None:
        return None
    return (reply.score > other.score) - (reply.score < other.score)


def _said(reply: Prediction) -> tuple[object, ...]:
    return reply.answer, reply.accepted is None


def _undecided(request: Request, rounds: Sequence[Replies]) -> bool:
    return len({replies[request].accepted for replies in rounds}) > 1


def _spread(request: Request, rounds: Sequence[Replies]) -> float:
    scores = _scores(request, rounds)
    return max(scores) - min(scores) if scores else 0.0


def _highest(requests: Sequence[Request], rounds: Sequence[Replies]) -> float:
    return max((abs(score) for request in requests for score in _scores(request, rounds)), default=0.0)


def _gap(request: Request, other: Request, rounds: Sequence[Replies]) -> float:
    scores = ((replies[request].score, replies[other].score) for replies in rounds)
    return min((abs(a - b) for a, b in scores if a is not None and b is not None), default=float("inf"))


def _scores(request: Request, rounds: Sequence[Replies]) -> list[float]:
    return [score for replies in rounds if (score := replies[request].score) is not None]
