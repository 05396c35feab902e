"""The words of a text that are changed one at a time: left out, exchanged for a neutral one, or for another text's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

NEUTRAL = "thing"
"""What a word is exchanged for: a word that names nothing in particular."""
MOST_WORDS = 40
"""The most words of a case that are changed, the first ones."""
MOST_PLACES = 8
"""The most places in which two texts differ that are exchanged, the first ones."""
_WORD = re.compile(r"[\w'\u2019-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Two texts with their words exchanged in one of the places in which they differ; ``words`` are those words."""

    words: str
    texts: tuple[str, str]


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


def swaps(one: str, other: str) -> tuple[Swap, ...]:
    """Return two texts with their words exchanged in each place in which they differ, at most ``MOST_PLACES``.

    Returns: one entry per place; none if they differ in fewer than two, since the exchange would only change the roles
        of the texts.

    >>> [swap.texts[0] for swap in swaps("A dog chases a man", "A man chases a dog")]
    ['A man chases a man', 'A dog chases a dog']
    """
    mine, yours = one.split(), other.split()
    apart = [code for code in SequenceMatcher(None, mine, yours, autojunk=False).get_opcodes() if code[0] != "equal"]
    if len(apart) < 2:
        return ()
    found = []
    for _, a, b, c, d in apart[:MOST_PLACES]:
        texts = [*mine[:a], *yours[c:d], *mine[b:]], [*yours[:c], *mine[a:b], *yours[d:]]
        words = " / ".join(" ".join(some).strip(" .,;:?!") or "nothing" for some in (mine[a:b], yours[c:d]))
        found.append(Swap(words=words, texts=(" ".join(texts[0]), " ".join(texts[1]))))
    return tuple(swap for swap in found if all(swap.texts))


def _changed(text: str, word: str, instead: str) -> str:
    return _WORD.sub(lambda found: instead if found[0].lower() == word else found[0], text)
