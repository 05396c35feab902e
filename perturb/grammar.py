"""Articles, capital letters, and writing one phrase over another.

The rules are those of a school grammar with a short list of exceptions. They are made for captions and the questions of
templates.
"""

from __future__ import annotations

import re

# The sound decides, not the letter: "an hour", "a unicorn", "a one-way street", "an umbrella". The pronunciation is
# American: "an herb". An abbreviation begins with the name of its first letter: "an SUV", "an x-ray", "a UFO".
_SOUNDS_LIKE_A_VOWEL = re.compile(
    r"(?:hour|honest|honou?r|heir|herb(?:s|al)?\b|8|11\b|18\b|[aeiou]"
    r"|[fhlmnrsx]\b|(?:hdtv|lcd|led|mlb|mp3|nba|nfl|rv|suv)s?\b|xray|xbox)",
    re.IGNORECASE,
)
_SOUNDS_LIKE_A_CONSONANT = re.compile(
    r"(?:eu|ewe|one(?:s|sies?|way)?\b|once\b|ouija|uni(?![dmn])|us[aeu]|ut[ei]|ubi|uku|uri|u\b|(?:ufo|uk|ups|us|usb)s?\b)",
    re.IGNORECASE,
)
_ARTICLE_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_SENTENCE_BEFORE = re.compile(r"(?:^|[.?!]\s+)$")


def article(phrase: str) -> str:
    """Return the indefinite article of ``phrase``, by the sound of its first word.

    >>> [article(word) for word in ("cup", "apple", "orange cup", "hour", "unicorn")]
    ['a', 'an', 'an', 'an', 'a']
    """
    vowel = _SOUNDS_LIKE_A_VOWEL.match(phrase) and not _SOUNDS_LIKE_A_CONSONANT.match(phrase)
    return "an" if vowel else "a"


def with_article(phrase: str) -> str:
    """Return ``phrase`` with its indefinite article before it.

    >>> with_article("umbrella")
    'an umbrella'
    """
    return f"{article(phrase)} {phrase}"


def capitalised_like(model: str, phrase: str) -> str:
    """Return ``phrase`` with a capital first letter if ``model`` begins with one.

    >>> capitalised_like("To", "above")
    'Above'
    """
    return phrase[:1].upper() + phrase[1:] if model[:1].isupper() else phrase


def only_span(text: str, phrase: str) -> tuple[int, int] | None:
    """Find ``phrase`` in ``text`` as whole words, in upper or lower case.

    Returns: (start, stop), or None if it does not occur exactly once.
    """
    spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)]
    return spans[0] if phrase and len(spans) == 1 else None


def put(text: str, span: tuple[int, int], phrase: str) -> str:
    """Write ``phrase`` over ``text[start:stop]``.

    A capital letter at the start of a sentence is kept, and an indefinite article directly before the span agrees with
    the new phrase.

    >>> put("A red cup.", (2, 5), "orange")
    'An orange cup.'
    """
    before, old, after = text[: span[0]], text[span[0] : span[1]], text[span[1] :]
    if _SENTENCE_BEFORE.search(before):
        phrase = capitalised_like(old, phrase)
    found = _ARTICLE_BEFORE.search(before)
    if found:
        before = before[: found.start()] + capitalised_like(found[1], article(phrase)) + found[2]
    return before + phrase + after
