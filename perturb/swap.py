"""Replace a phrase by another, or exchange two phrases.

``replace`` makes foils as in FOIL it! and in VALSE's noun phrases (VALSE, section 3.6). ``exchange`` makes captions as
in Winoground (section 3): two captions of exactly the same words that mean different things.
"""

from __future__ import annotations

import re

from vlgate.perturb.grammar import only_span, put
from vlgate.perturb.inflection import plural, singular

_ARTICLE = re.compile(
    r"(?:an?|the|some|any|no|two|three|four|five|six|seven|eight|nine|ten|\d+|many|several) ", re.IGNORECASE
)
# Words that agree with the number of a noun: verbs anywhere, and a determiner directly before the noun.
_FORMS = re.compile(r"\b(?:is|are|was|were|has|have|does|do)\b", re.IGNORECASE)
_DETERMINER = re.compile(
    r"\b(?:an?|one|this|that|each|every|another|these|those|many|several|few|both|two|three|four|five|six|seven|eight|nine"
    r"|ten|\d+)(?: \w+)? $",
    re.IGNORECASE,
)


def replace(text: str, old: str, new: str) -> str | None:
    """Replace the phrase ``old`` by ``new``; an article before it agrees, and a capital letter is kept.

    Returns: the new text, or None if ``old`` does not occur exactly once as whole words, or equals ``new``, or one is
    singular, the other one is plural, and a word of the text agrees with it.

    >>> replace("A cup and a ball.", "cup", "apple")
    'An apple and a ball.'
    """
    span = only_span(text, old)
    if span is None or old.lower() == new.lower() or _disagree(text, span, old, new):
        return None
    return put(text, span, new)


def exchange(text: str, first: str, second: str) -> str | None:
    """Exchange the phrases ``first`` and ``second``, which are written as given, or with a capital to begin a sentence.

    Returns: the new text, or None if one of them does not occur exactly once as whole words, or they overlap, or one is
    singular, the other one is plural, and a word of the text agrees with it.

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
    if _disagree(text, left, first, second) or _disagree(text, right, second, first):
        return None
    return put(put(text, right, first), left, second)


def _disagree(text: str, span: tuple[int, int], old: str, new: str) -> bool:
    """Whether a word of the text agrees with a phrase whose number changes."""
    numbers = {_is_plural(old), _is_plural(new)}
    if numbers != {True, False}:
        return False
    before = text[: span[0]]
    own = _ARTICLE.match(old) is not None and _ARTICLE.match(new) is not None
    return _FORMS.search(text) is not None or (not own and _DETERMINER.search(before) is not None)


def _is_plural(phrase: str) -> bool | None:
    """Whether the last noun of a phrase is a known plural, or a known singular; None if neither or both."""
    noun = phrase.rsplit(" ", maxsplit=1)[-1]
    one, many = singular(noun), plural(noun)
    return None if (one is None) == (many is None) else one is not None
