"""The words of a text that are left out, or exchanged for a neutral one, one at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

NEUTRAL = "thing"
"""What a word is exchanged for: a word that names nothing in particular."""
MOST_WORDS = 40
"""The most words of a case that are changed, the first ones."""
_WORD = re.compile(r"[\w'\u2019-]+")


def words_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the different words of some texts in lower case, by first appearance, at most ``MOST_WORDS``.

    >>> words_of(["A dog chases a man.", "A man chases a dog."])
    ('a', 'dog', 'chases', 'man')
    """
    found = (word.lower() for text in texts for word in _WORD.findall(text))
    return tuple(dict.fromkeys(found))[:MOST_WORDS]


def left_out(text: str, word: str) -> str | None:
    """Return the text without a word, wherever it stands; None if it has no such word, or none but it.

    >>> left_out("A dog chases a man.", "dog")
    'A chases a man.'
    """
    changed = re.sub(r"\s+([.,;:?!])", r"\1", " ".join(_changed(text, word, "").split()))
    return changed if changed != text and _WORD.search(changed) else None


def exchanged(text: str, word: str) -> str | None:
    """Return the text with ``NEUTRAL`` for a word, wherever it stands; None if it has no such word.

    >>> exchanged("A dog chases a man.", "man")
    'A dog chases a thing.'
    """
    changed = _changed(text, word, NEUTRAL)
    return None if changed == text else changed


def _changed(text: str, word: str, instead: str) -> str:
    return _WORD.sub(lambda found: instead if found[0].lower() == word else found[0], text)
