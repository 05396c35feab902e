"""Check that a model's replies do not depend on the other requests of the batch.

If they do, every verdict depends on which requests happen to be asked together.
"""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.checks.check import Check
from vlgate.checks.rounds import ROUNDING, Replies, compare, together
from vlgate.types import Case, Predictor, Request


def check_batch_invariance(
    model: Predictor,
    requests: Sequence[Request],
    tolerance: float = ROUNDING["float32"],
    cases: Sequence[Case] = (),
    first: Replies | None = None,
) -> Check:
    """Check whether replies depend on what else is asked in the same batch.

    The first ``REQUESTS`` distinct requests are asked three times: together, together in reverse order, and one at a
    time.

    Args:
        model: the model to ask; its exceptions pass through. It must neither cache its replies, which would hide every
            difference, nor change the order of the requests.
        requests: the requests to ask it. Whole cases are best, because the texts of one image are compared.
        tolerance: see ``rounds.compare``.
        cases: the cases that the requests belong to, to count the verdicts that rounding could change.
        first: the round of ``together``, if the model was asked it already.

    Returns: the check; see ``rounds.compare``.
    """
    first = together(model, requests) if first is None else first
    asked = list(first)
    rounds = (
        first,
        model.predict(asked[::-1]),
        {request: model.predict([request])[request] for request in asked},
    )
    return compare(
        "batch_invariance",
        rounds,
        (
            "together, in reverse order and one at a time",
            "check that the model is in evaluation mode and masks its padding",
        ),
        tolerance,
        cases,
    )
