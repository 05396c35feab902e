"""Check that a model's replies do not depend on the other requests of the batch.

If they do, every verdict depends on which requests happen to be asked together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from vlgate.checks.check import Check
from vlgate.checks.near_copies import Anew, asked_as, company, renamed
from vlgate.checks.rounds import ROUNDING, Replies, compare, together
from vlgate.errors import described
from vlgate.types import Case, Predictor, Request

_ADVICE = "check that the model is in evaluation mode and masks its padding"


def check_batch_invariance(
    model: Predictor,
    requests: Sequence[Request],
    tolerance: float = ROUNDING["float32"],
    cases: Sequence[Case] = (),
    first: Replies | None = None,
    anew: Anew = "",
) -> Check:
    """Check whether replies depend on what else is asked in the same batch.

    The first ``REQUESTS`` distinct requests are asked three times: together; together in reverse order, with all other
    requests behind them; and one at a time.

    Args:
        model: the model to ask; its exceptions pass through. It must neither cache its replies, which would hide every
            difference, nor change the order of the requests.
        requests: the requests to ask it. Whole cases are best, because the texts of one image are compared. Those
            beyond ``REQUESTS`` fill a call as the run fills it: a model may depend on more company than a few requests.
        tolerance: see ``rounds.compare``.
        cases: the cases that the requests belong to, to count the verdicts that rounding could change.
        first: the round of ``together``, if the model was asked it already.
        anew: what of a request the model has no memory of: images get other names in the third round ("all"), and
            near-copies are asked alone and in a group (see ``near_copies.company``).

    Returns: the check; see ``rounds.compare``.
    """
    first = together(model, requests) if first is None else first
    asked = list(first)
    others = [request for request in dict.fromkeys(requests) if request not in first]
    rounds = (
        first,
        model.predict([*asked[::-1], *others]),
        {request: asked_as(model, [request], _change(anew))[request] for request in asked},
    )
    found = compare(
        "batch_invariance",
        rounds,
        (
            "together, in reverse order and one at a time",
            _ADVICE,
        ),
        tolerance,
        cases,
    )
    if not anew or found.outcome != "ok":
        return found
    try:
        hidden = company(model, cases, tolerance, anew)
    except Exception as error:  # noqa: BLE001  # a user's model may know the texts of the run only
        return replace(found, why=f"{found.why}; near-copies could not be asked ({described(error)})")
    return replace(found, outcome="suspect", why=f"{found.why}; {hidden}; {_ADVICE}") if hidden else found


def _change(anew: Anew) -> Callable[[Request], Request]:
    return renamed if anew == "all" else lambda request: request
