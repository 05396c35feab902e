"""Why a case is right or wrong, in one sentence for each shape; numbers as sentences and tables show them."""

from collections.abc import Sequence
from math import isnan
from typing import Any, NamedTuple

from vlgate.metrics.shape_rules import YES

_DIGITS = tuple(f".{digits}g" for digits in range(3, 10))


def figure(value: float, *bounds: float | None, sign: str = "") -> str:
    """Return a number with three decimals, or up to six to keep it on its side of the bounds.

    >>> figure(0.49962, 0.5), figure(0.5, 0.5), figure(1 / 3, None, sign="+")
    ('0.4996', '0.500', '+0.333')
    """
    for digits in range(3, 7):
        text = f"{value:{sign}.{digits}f}"
        ends = [(float(text), value, bound) for bound in bounds if bound is not None]
        if all((near > bound, near < bound) == (exact > bound, exact < bound) for near, exact, bound in ends):
            break
    return text


def told_apart(*scores: float | None) -> list[Any]:
    """Return scores with three significant digits, or as many, up to nine, as tell different ones apart.

    >>> told_apart(0.71234, 0.64), told_apart(0.71234, 0.71229, None), told_apart(0.815, 0.8149999999999999)
    (['0.712', '0.64'], ['0.71234', '0.71229', None], ['0.815', '0.815'])
    """
    kinds = len({score if score is None else f"{score:.9g}" for score in scores})
    for digits in _DIGITS:
        texts = [score if score is None else format(score, digits) for score in scores]
        if len(set(texts)) == kinds:
            break
    return [f"{float(text):.9g}" if text and "e" in text else text for text in texts]  # 1230, not 1.23e+03


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
    caption, foil = told_apart(*case.scores)
    return f"the caption scores {caption}, {_order(*case.scores, alike=caption == foil)} the foil's {foil}"


def quad(case: CaseReplies) -> str:
    i0c0, i0c1, i1c0, i1c1 = told_apart(*case.scores)
    held = sum(case.scores[high] > case.scores[low] for high, low in ((0, 1), (3, 2), (0, 2), (3, 1)))
    return f"{held} of 4 comparisons hold (image 0: {i0c0}, {i0c1}; image 1: {i1c0}, {i1c1})"


def twin_captions(case: CaseReplies) -> str:
    _, _, usual, own = case.scores
    prior = "; the counterfactual image fits the caption of the normal one better" if usual > own else ""
    return quad(case) + prior


def sentence_set(case: CaseReplies) -> str:
    true_1, true_2, false_1, false_2 = told_apart(*case.scores)
    held = sum(true > false for true in case.scores[:2] for false in case.scores[2:])
    listed = f"true: {true_1}, {true_2}; false: {false_1}, {false_2}"
    return f"{held} of 4 comparisons of a true with a false sentence hold ({listed})"


def choice(case: CaseReplies) -> str:
    true, *others = told_apart(*case.scores)
    rival = max(case.scores[1:])
    best = others[case.scores.index(rival, 1) - 1]
    order = _order(case.scores[0], rival, alike=true == best)
    what = f"the best of {len(others)} false ones" if len(others) > 1 else "the false one"
    return f"the true candidate scores {true}, {order} {what} with {best}"


def two_true(case: CaseReplies) -> str:
    first, second, false = told_apart(*case.scores)
    held = sum(true > case.scores[2] for true in case.scores[:2])
    return f"{held} of 2 true captions score above the false one ({first}, {second}; false: {false})"


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
    [score], [accepted] = told_apart(*case.scores), case.accepted
    if isnan(accepted):
        return f"the model gives a score, {score}, but neither yes nor no; right is {truth}"
    return f"said {said}, with a score of {score}; right is {truth}"


def question_quad(case: CaseReplies) -> str:
    held = sum(read and said == truth for said, truth, read in zip(case.said, case.truths, case.read, strict=True))
    said, right = ", ".join(map(_shown, case.said)), ", ".join(map(repr, case.truths))
    return f"{held} of 4 answers are right: answered {said}; right are {right}{case.unread}"


def together(case: CaseReplies, labels: Sequence[str]) -> str:
    each = ", ".join(f"{label}: {outcome}" for label, outcome in zip(labels, case.outcomes, strict=True))
    right = list(case.outcomes).count("right")
    return f"{right} of {len(case.outcomes)} right in both orders ({each}){case.unread}"


def _order(true: float, false: float, *, alike: bool) -> str:
    """How a score stands to another one, and by how much if they are ``alike`` in the digits that are shown."""
    order = "above" if true > false else "level with" if true == false else "below"
    return f"by {abs(true - false):.1g} {order}" if alike and true != false else order


def _shown(said: str | None) -> str:
    return "a tie" if said is None else repr(said)
