"""A case whose replies can all be judged, with what each says."""

from __future__ import annotations

from typing import Any, NamedTuple

from vlgate.judging.answers import normal_choice
from vlgate.types import Ask, Case, Compare, Prediction


class Unread(str):
    """The normal text of an answer that names none of the choices, or several, or that is empty."""

    __slots__ = ()


class ReadCase(NamedTuple):
    """A case whose replies can all be judged.

    ``values`` holds one entry per request: the score, or the choice that the answer names, in normal form. It is an
    ``Unread`` if the answer names none of the choices, or several, and None for a tie between choices.
    """

    case: Case
    replies: tuple[Prediction, ...]
    values: tuple[Any, ...]


def right_answers(case: Case) -> list[str]:
    """Return the right answers to the questions of a case, in normal form."""
    return [
        normal_choice(str(truth), request.choices if isinstance(request, Ask | Compare) else ())
        for request, truth in zip(case.requests, case.truths, strict=True)
    ]


def shown(said: str | None) -> str:
    """Return what a sentence shows of the choice that an answer names.

    >>> shown("yes"), shown(None)
    ("'yes'", 'a tie')
    """
    return "a tie" if said is None else repr(said)


def why_unread(one: ReadCase) -> str:
    """Return what a sentence says about the answers that could not be read; empty if there is none."""
    return "".join(
        f"; {reply.answer!r} {_names_nothing(reply.request.choices)}"
        for reply, said in zip(one.replies, one.values, strict=True)
        if type(said) is Unread and isinstance(reply.request, Ask | Compare)
    )


def _names_nothing(choices: tuple[str, ...]) -> str:
    return f"names none of {', '.join(map(repr, choices))}, or several" if choices else "is empty"
