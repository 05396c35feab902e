"""What the replies to cases say: each answer read, and of cases asked together what each two replies come to.

The requests of a case asked together are pairs of one question with the candidates in two orders. A pair says something
only if both replies mean the same image, text or answer. A model that always names the same position says nothing, and
is wrong; ``vlgate.run.together`` makes the requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vlgate.judging.answers import normal_answer, normal_choice, read_reply
from vlgate.metrics.sentences import CaseReplies
from vlgate.metrics.shape_rules import YES
from vlgate.types import Ask, Case, Compare, Request


class Reading(NamedTuple):
    """What the replies to a case say, in normal form: None for a tie; with whether each was read, and the truths.

    ``outcomes`` are those of a case that is asked together: what each two replies come to, ``right``, ``wrong``,
    ``unread``, ``tied`` or ``depends on the order``.
    """

    said: list[str | None]
    read: list[bool]
    truths: list[str]
    outcomes: Sequence[str] = ()


def right_answers(case: Case) -> list[str]:
    """Return the right answers of a case, in normal form; of a statement ``yes`` or ``no``."""
    return [
        normal_choice(str(truth), _choices(request)) if isinstance(truth, str) else YES if truth else "no"
        for request, truth in zip(case.requests, case.truths, strict=True)
    ]


def said(answer: str | None, question: Ask | Compare) -> tuple[str | None, bool]:
    """Return the choice that an answer names, None for a tie, and whether it names one; without choices, any text."""
    if answer is None:
        return None, True
    choice = read_reply(answer, question)
    return (normal_answer(answer), False) if choice is None else (normal_choice(choice, question.choices), True)


def reading(case: Case, answers: Sequence[str | None], accepted: Sequence[float], *, together: bool) -> Reading:
    """Read the replies to a case; a statement is answered by what the model accepts, and unread if it does not say."""
    read = [
        said(answer, request)
        if isinstance(request, Ask | Compare)
        else (YES if accepts == 1.0 else "no", accepts == accepts)  # noqa: PLR0124  # not NaN
        for request, answer, accepts in zip(case.requests, answers, accepted, strict=True)
    ]
    replies = Reading([text for text, _ in read], [known for _, known in read], right_answers(case))
    if not together:
        return replies
    pairs = range(0, len(case.requests), 2)
    return replies._replace(outcomes=[_outcome(replies, first, _choices(case.requests[first])) for first in pairs])


def repeats_truths(replies: Reading) -> bool:
    """Return whether the second pair of replies gives the right answers of the first pair, as a prior does."""
    return all(replies.read[2:4]) and replies.said[2:4] == replies.truths[:2]


def case_replies(
    case: Case, replies: Reading, scores: Sequence[float], accepted: Sequence[float], answers: Sequence[str | None]
) -> CaseReplies:
    """Return what the sentence of a case is made from."""
    return CaseReplies(
        scores=scores,
        accepted=accepted,
        said=replies.said,
        read=replies.read,
        truths=replies.truths,
        unread=_unread(case, answers, replies),
        statement=not isinstance(case.requests[0], Ask | Compare),
        outcomes=replies.outcomes,
    )


def _unread(case: Case, answers: Sequence[str | None], replies: Reading) -> str:
    return "".join(
        f"; {answer!r} {_names_nothing(request.choices)}"
        for request, answer, read in zip(case.requests, answers, replies.read, strict=True)
        if not read and isinstance(request, Ask | Compare)
    )


def _names_nothing(choices: tuple[str, ...]) -> str:
    return f"names none of {', '.join(map(repr, choices))}, or several" if choices else "is empty"


def _choices(request: Request) -> tuple[str, ...]:
    return request.choices if isinstance(request, Ask | Compare) else ()


def _outcome(replies: Reading, first: int, offered: tuple[str, ...]) -> str:
    pair = slice(first, first + 2)
    texts, truths = replies.said[pair], replies.truths[pair]
    if not all(replies.read[pair]):
        return "unread"
    if None in texts:
        return "tied"
    if texts == truths:
        return "right"
    if truths[0] == truths[1]:
        same = texts[0] == texts[1]
    else:  # positions: the second order is the first one rotated, so each candidate moves as far as the true one
        choices = [normal_choice(choice, offered) for choice in offered]
        places = [choices.index(text) for text in (*truths, *texts) if text is not None]
        same = (places[1] - places[0] - places[3] + places[2]) % len(choices) == 0
    return "wrong" if same else "depends on the order"
