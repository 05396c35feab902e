"""The outcome of a check of a model, and the comparison of its replies to the same requests in several rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from vlgate.types import Case, Match, Prediction, Predictor, Request

CheckOutcome = Literal["ok", "suspect", "not applicable", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check of a model found, with a sentence that says why; ``failed`` means that the check could not run."""

    # ``n`` counts the comparisons. ``share`` is the share of them with the expected result, None if nothing was
    # compared. ``largest`` is the largest difference between two scores of one request, None if it is not measured.

    name: str
    outcome: CheckOutcome
    why: str
    n: int = 0
    share: float | None = None
    largest: float | None = None


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
    """Ask a model the first ``REQUESTS`` distinct requests together: the first round of several checks."""
    return model.predict(list(dict.fromkeys(requests))[:REQUESTS])


def compare(
    name: str, rounds: Sequence[Replies], sentences: tuple[str, str], tolerance: float, cases: Sequence[Case] = ()
) -> Check:
    """Compare the replies of several rounds to the same requests."""
    # ``sentences`` say how the requests were asked, and what to do if the replies differ by more than ``tolerance``:
    # the largest difference of two scores of one request that rounding explains, relative to the largest score if that
    # is above 1. Requests that failed in a round are left out: a service that is busy is not a model that changes its
    # mind.
    # Returns: ``suspect`` if a score differs by more than the tolerance, if an answer changes, or if a yes or no
    # changes although the score stays the same; also if more than ``MOST_FAILED`` of the requests with a reply have
    # none in another round. ``not applicable`` if no request has a reply.
    asked, advice = sentences
    requests = [request for request in rounds[0] if any(replies[request].problem is None for replies in rounds)]
    if not requests:
        why = ": ".join(filter(None, (f"none of {len(rounds[0])} requests has a reply", _problem(rounds[0], rounds))))
        return Check(name=name, outcome="not applicable", why=why)
    left = [request for request in requests if any(replies[request].problem is not None for replies in rounds)]
    count = f"{len(left)} of {len(requests)} requests have no reply in some of {len(rounds)} rounds"
    failed = f"{count}, so they are not compared: {_problem(left, rounds)}" if left else ""
    if len(left) > MOST_FAILED * len(requests):
        remedy = "see that the model replies to each, and run it again"
        return Check(name=name, outcome="suspect", why=f"requests were asked {asked}; {failed}; {remedy}")
    scores = {request: _scores(request, rounds) for request in requests if request not in left}
    spreads = {request: max(some) - min(some) if some else 0.0 for request, some in scores.items()}
    largest = max(spreads.values())
    allowed = tolerance * max([1.0, *(abs(score) for some in scores.values() for score in some)])
    changed = sum(
        len({(replies[request].answer, replies[request].accepted is None) for replies in rounds}) > 1
        or (_undecided(request, rounds) and not 0 < spread <= allowed)
        for request, spread in spreads.items()
    )
    matches = [request for request in scores if isinstance(request, Match)]
    pairs = [(one, other) for one, other in combinations(matches, 2) if one.image == other.image]
    turned = sum(len({_order(replies[a], replies[b]) for replies in rounds}) > 1 for a, b in pairs)
    suspect = changed > 0 or largest > allowed
    why = (
        f"{len(scores)} requests were asked {asked}: scores differ by at most {largest:.3g}, "
        f"{changed} other replies change, {turned} of {len(pairs)} pairs of scores change their order"
    )
    why = f"{why}; {failed}" if failed else why
    if suspect:
        why = f"{why}; {advice}"
    elif largest:
        whole = [case for case in cases if all(request in spreads for request in case.requests)]
        could = sum(_could_change(case, rounds, largest) for case in whole)
        why = f"{why}; such differences are within rounding, and could change {could} of {len(whole)} verdicts"
    n = len(scores) + len(pairs)
    share = 1 - (changed + turned) / n
    return Check(name=name, outcome="suspect" if suspect else "ok", why=why, n=n, share=share, largest=largest)


def _problem(requests: Iterable[Request], rounds: Sequence[Replies]) -> str:
    return next(filter(None, (replies[request].problem for request in requests for replies in rounds)), "")


def _could_change(case: Case, rounds: Sequence[Replies], largest: float) -> bool:
    """Whether two scores of a case differ by no more than rounding, or a yes or no of it changes."""
    scores = [some for request in dict.fromkeys(case.requests) if (some := _scores(request, rounds))]
    gaps = (abs(a - b) for one, other in combinations(scores, 2) for a, b in zip(one, other, strict=False))
    return any(gap <= largest for gap in gaps) or any(_undecided(request, rounds) for request in case.requests)


def _order(reply: Prediction, other: Prediction) -> int | None:
    if reply.score is None or other.score is None:
        return None
    return (reply.score > other.score) - (reply.score < other.score)


def _undecided(request: Request, rounds: Sequence[Replies]) -> bool:
    return len({replies[request].accepted for replies in rounds}) > 1


def _scores(request: Request, rounds: Sequence[Replies]) -> list[float]:
    return [score for replies in rounds if (score := replies[request].score) is not None]
