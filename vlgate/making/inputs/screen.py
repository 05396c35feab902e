"""Texts that no kind can use, left out before anything is parsed, and counted by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from vlgate.making.inputs.records import Answer, Caption, Dialog

LONGEST = 2_000
"""The most characters of a text; longer ones are not captions, and are not parsed."""

_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]{2,8});")


def unusable(text: str) -> str | None:
    """Say why a text cannot be used; None if it can.

    >>> unusable("  "), unusable("<b>A dog</b>"), unusable("A dog.")
    ('the text is empty', 'the text holds markup', None)
    """
    if not text.strip():
        return "the text is empty"
    if len(text) > LONGEST:
        return f"the text has more than {LONGEST:,} characters"
    if _MARKUP.search(text):
        return "the text holds markup"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "the text holds half of a surrogate pair"
    if not any("a" <= character <= "z" for character in text.lower()):
        return "the text has no Latin letter"
    return None


def screened(inputs: Sequence[Any], left_out: Counter[str]) -> list[Any]:
    """Return the inputs whose texts can be used; the others are counted in ``left_out``.

    An answer may be a number in digits; the question must be a text.
    """
    kept = []
    for one in inputs:
        reason = next((reason for text in _texts(one) if (reason := unusable(text)) is not None), None)
        if reason is None:
            kept.append(one)
        else:
            left_out[reason] += 1
    return kept


def _texts(one: object) -> Iterator[str]:
    if isinstance(one, Caption):
        yield one.text
    elif isinstance(one, Answer):
        yield one.question
    elif isinstance(one, Dialog):
        yield one.caption
