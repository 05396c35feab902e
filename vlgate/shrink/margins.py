"""How far a case is from another verdict."""

from __future__ import annotations

from vlgate.explaining.margin import Margin, margin_of
from vlgate.types import Ask, Shape, Verdict


def margin(verdict: Verdict, shape: Shape) -> float | None:
    """Return how far a case is from another verdict, None if it cannot be told from its own replies.

    It is the smallest lead of a true text over the false ones that the rule of the shape compares it with, and for
    questions the share of right answers.
    """
    if shape == "single":
        return None
    try:
        known = margin_of(verdict.case, shape, None)
        asked = known or Margin(answers=_questions(verdict))
        return asked.of({reply.request: reply for reply in verdict.predictions}) if asked.requests else None
    except (KeyError, ValueError):  # a reply has no score
        return None


def _questions(verdict: Verdict) -> tuple[tuple[Ask, str], ...]:
    asked = zip(verdict.case.requests, verdict.case.truths, strict=True)
    return tuple((request, str(truth)) for request, truth in asked if isinstance(request, Ask))
