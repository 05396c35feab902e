"""Check that a model gives the same replies when it is asked the same requests again."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.checks.check import Check
from vlgate.checks.near_copies import Anew, asked_as, renamed
from vlgate.checks.rounds import ROUNDING, Replies, compare, together
from vlgate.types import Case, Predictor, Request


def check_determinism(
    model: Predictor,
    requests: Sequence[Request],
    tolerance: float = ROUNDING["float32"],
    cases: Sequence[Case] = (),
    first: Replies | None = None,
    anew: Anew = "",
) -> Check:
    """Check whether replies change when the same requests are asked again, in the same order.

    The first ``REQUESTS`` distinct requests are asked twice.

    Args:
        model: the model to ask; its exceptions pass through. It must not cache its replies.
        requests: the requests to ask it.
        tolerance: see ``rounds.compare``.
        cases: the cases that the requests belong to, to count the verdicts that rounding could change.
        first: the round of ``together``, if the model was asked it already.
        anew: whether images get other names in the second round ("all").

    Returns: the check; see ``rounds.compare``.
    """
    first = together(model, requests) if first is None else first
    rounds = (first, asked_as(model, list(first), renamed) if anew == "all" else model.predict(list(first)))
    return compare(
        "determinism",
        rounds,
        (
            "twice in the same order",
            "switch off dropout and sampling, keep nothing between two calls, and use no names of images",
        ),
        tolerance,
        cases,
    )
