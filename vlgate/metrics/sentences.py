"""Why a case is right or wrong, in one sentence for each shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

from vlgate.metrics.shape_rules import YES


class CaseReplies(NamedTuple):
    """The replies to one case: scores, and of an answered shape what is said, whether it was read, and the truths."""

    # ``said`` is None for a tie, ``accepted`` NaN for none; ``unread`` tells of the answers that could not be read.
    # ``statement``: the case is a text, not a question. ``outcomes``: what each two replies of a case asked together
    # come to.

    scores: Sequence[float]
    accepted: Sequence[float] = ()
    said: Sequence[str | None] = ()
    read: Sequence[bool] = ()
    truths: Sequence[str] = ()
    unread: str = ""
    statement: bool = False
    outcomes: Sequence[str] = ()


def pair(case: CaseReplies) -> str:
    caption, foil = case.scores
    return f"the caption scores {caption:.6g}, {_order(caption, foil)} the foil's {foil:.6g}"


def quad(case: CaseReplies) -> str:
    i0c0, i0c1, i1c0, i1c1 = case.scores
    held = (i0c0 > i0c1) + (i1c1 > i1c0) + (i0c0 > i1c0) + (i1c1 > i0c1)
    return f"{held} of 4 comparisons hold (image 0: {i0c0:.6g}, {i0c1:.6g}; image 1: {i1c0:.6g}, {i1c1:.6g})"


def twin_captions(case: CaseReplies) -> str:
    _, _, usual, own = case.scores
    prior = "; the counterfactual image fits the caption of the normal one better" if usual > own else ""
    return quad(case) + prior


def sentence_set(case: CaseReplies) -> str:
    true_1, true_2, false_1, false_2 = case.scores
    held = sum(true > false for true in (true_1, true_2) for false in (false_1, false_2))
    listed = f"true: {true_1:.6g}, {true_2:.6g}; false: {false_1:.6g}, {false_2:.6g}"
    return f"{held} of 4 comparisons of a true with a false sentence hold ({listed})"


def choice(case: CaseReplies) -> str:
    true, *others = case.scores
    best = max(others)
    what = f"the best of {len(others)} false ones" if len(others) > 1 else "the false one"
    return f"the true candidate scores {true:.6g}, {_order(true, best)} {what} with {best:.6g}"


def two_true(case: CaseReplies) -> str:
    first, second, false = case.scores
    held = (first > false) + (second > false)
    return f"{held} of 2 true captions score above the false one ({first:.6g}, {second:.6g}; false: {false:.6g})"


def questions(case: CaseReplies) -> str:
    (first, second), (right, other) = case.said, case.truths
    return f"answered {_shown(first)} and {_shown(second)}; right are {right!r} and {other!r}{case.unread}"


def twin_questions(case: CaseReplies) -> str:
    second, (right, other) = case.said[1], case.truths
    usual = case.read[1] and second == right != other
    return questions(case) + ("; the second is the answer of the normal image" if usual else "")


def single(case: CaseReplies) -> str:
    [said], [truth] = case.said, case.truths
    truth = YES if truth == YES else "no"
    if not case.statement:
        return f"answered {_shown(said)}; right is {truth!r}{case.unread}"
    [score], [accepted] = case.scores, case.accepted
    if isnan(accepted):
        return f"the model gives a score, {score:.6g}, but neither yes nor no; right is {truth}"
    return f"said {said}, with a score of {score:.6g}; right is {truth}"


def question_quad(case: CaseReplies) -> str:
    held = sum(read and said == truth for said, truth, read in zip(case.said, case.truths, case.read, strict=True))
    said, right = ", ".join(map(_shown, case.said)), ", ".join(map(repr, case.truths))
    return f"{held} of 4 answers are right: answered {said}; right are {right}{case.unread}"


def together(case: CaseReplies, labels: Sequence[str]) -> str:
    each = ", ".join(f"{label}: {outcome}" for label, outcome in zip(labels, case.outcomes, strict=True))
    right = list(case.outcomes).count("right")
    return f"{right} of {len(case.outcomes)} right in both orders ({each}){case.unread}"


def _order(true: float, false: float) -> str:
    return "above" if true > false else "level with" if true == false else "below"


def _shown(said: str | None) -> str:
    return "a tie" if said is None else repr(said)
