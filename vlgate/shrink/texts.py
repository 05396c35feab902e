"""The text of a request, with its choices."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate import types
from vlgate.types import Ask, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A caption, or a question with its choices."""

    words: str
    choices: tuple[str, ...] = ()


def text_of(request: Request) -> Text:
    """Return the text of a request, with its choices."""
    return Text(words=types.text_of(request), choices=request.choices if isinstance(request, Ask) else ())
