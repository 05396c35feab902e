"""The text of a request, with its choices."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.types import Ask, Compare, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A caption, or a question with its choices."""

    words: str
    choices: tuple[str, ...] = ()


def text_of(request: Request) -> Text:
    """Return the text of a request, with its choices."""
    if isinstance(request, Ask | Compare):
        return Text(words=request.question, choices=request.choices)
    return Text(words=request.text)
