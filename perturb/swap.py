"""Replace a phrase by another, or exchange two phrases.

``replace`` makes foils as in FOIL it! and in VALSE's noun phrases (VALSE, section 3.6). ``exchange`` makes captions as
in Winoground (section 3): two captions of exactly the same words that mean different things.
"""

from __future__ import annotations

from vlgate.perturb.grammar import only_span, put


def replace(text: str, old: str, new: str) -> str | None:
    """Replace the phrase ``old`` by ``new``; an article before it agrees, and a capital letter is kept.

    Returns: the new text, or None if ``old`` does not occur exactly once as whole words, or equals ``new``.

    >>> replace("A cup and a ball.", "cup", "apple")
    'An apple and a ball.'
    """
    span = only_span(text, old)
    return None if span is None or old.lower() == new.lower() else put(text, span, new)


def exchange(text: str, first: str, second: str) -> str | None:
    """Exchange the phrases ``first`` and ``second``, which are written as given, or with a capital to begin a sentence.

    Returns: the new text, or None if one of them does not occur exactly once as whole words, or they overlap.

    >>> exchange("A cup to the left of an apple.", "a cup", "an apple")
    'An apple to the left of a cup.'
    >>> exchange("A red cup and an orange ball.", "red", "orange")
    'An orange cup and a red ball.'
    """
    left, right = only_span(text, first), only_span(text, second)
    if left is None or right is None:
        return None
    if left > right:
        left, right, first, second = right, left, second, first
    if left[1] > right[0]:
        return None
    return put(put(text, right, first), left, second)
