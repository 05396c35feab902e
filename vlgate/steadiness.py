"""Before a model's figures count: does a reply depend on its neighbours?

A model whose replies change with the batch makes every verdict an accident.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from vlgate.checks import Check
from vlgate.types import Match, Prediction, Predictor, Request

REQUESTS = 32
_Replies = Mapping[Request, Prediction]


def check_batches(model: Predictor, requests: Sequence[Request], tolerance: float = 1e-4) -> Check:
    """Whether replies depend on what else is asked with them.

    The first ``REQUESTS`` distinct requests are asked together, in reverse, and one at a time. ``model`` must not keep
    its replies: behind a cache this check sees nothing.

    Args:
        model: to ask; what it raises passes through.
        requests: to ask it, best whole cases, so that there are texts of one picture to compare.
        tolerance: how far two scores of one request may lie apart, as a part of the largest score where that is
            above 1.

    Returns: ``suspect`` where a score differs by more than that, an answer or a yes or no changes, a request has a
        reply in one way and none in another, or the order of two scores of one picture changes, a tie being an order
        of its own; ``not applicable`` where nothing has a reply.
    """
    asked = list(dict.fromkeys(requests))[:REQUESTS]
    ways = (
        model.predict(asked),
        model.predict(asked[::-1]),
        {request: model.predict([request])[request] for request in asked},
    )
    answered = [request for request in asked if any(way[request].problem is None for way in ways)]
    if not answered:
        return Check(name="batches", outcome="not applicable", why=f"none of {len(asked)} requests has a reply")
    pairs = [pair for pair in combinations(answered, 2) if _comparable(*pair)]
    changed = sum(len({_said(way[request]) for way in ways}) > 1 for request in answered)
    turned = sum(len({_order(way[a], way[b]) for way in ways}) > 1 for a, b in pairs)
    largest, highest = _spread(answered, ways)
    why = (
        f"{len(answered)} requests asked together, in reverse and one at a time: scores differ by "
        f"at most {largest:.3g}, {changed} other replies and {turned} of {len(pairs)} orders of two scores change"
    )
    steady = largest <= tolerance * max(1.0, highest) and not changed and not turned
    return Check(
        name="batches",
        outcome="ok" if steady else "suspect",
        why=why if steady else f"{why}; is the model in evaluation mode, and its padding masked?",
        n=len(answered) + len(pairs),
        share=1 - (changed + turned) / (len(answered) + len(pairs)),
        largest=largest,
    )


def _comparable(request: Request, other: Request) -> bool:
    return isinstance(request, Match) and isinstance(other, Match) and request.picture == other.picture


def _order(reply: Prediction, other: Prediction) -> int | None:
    if reply.score is None or other.score is None:
        return None
    return (reply.score > other.score) - (reply.score < other.score)


def _said(reply: Prediction) -> tuple[object, ...]:
    """What of a reply must be the same in any batch, scores apart."""
    return reply.answer, reply.accepted, reply.problem is None


def _spread(requests: Sequence[Request], ways: Sequence[_Replies]) -> tuple[float, float]:
    """The largest difference between the scores of one request, and the largest score's size."""
    scores = [[score for way in ways if (score := way[request].score) is not None] for request in requests]
    spreads = [max(some) - min(some) for some in scores if some]
    return max(spreads, default=0.0), max((abs(score) for some in scores for score in some), default=0.0)
