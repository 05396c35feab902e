"""English at the level of words: articles, plurals, capitals, and putting one phrase in another's place.

The rules are those of a school grammar with a short list of exceptions. They are made for captions and template
questions; a text that the rules cannot treat is left alone by the perturbations above them, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

# The sound decides, not the letter: "an hour", "a unicorn", "a one-way street"; not "an unicorn" or "a umbrella". It is
# the American one: "an herb".
# What is spelled out begins with the name of its first letter: "an SUV", "an x-ray", "a UFO", "a USB stick".
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

IRREGULAR_PLURALS: Mapping[str, str] = MappingProxyType(
    {
        "bookshelf": "bookshelves",
        "bus": "buses",
        "child": "children",
        "deer": "deer",
        "fish": "fish",
        "foot": "feet",
        "goose": "geese",
        "half": "halves",
        "knife": "knives",
        "leaf": "leaves",
        "loaf": "loaves",
        "man": "men",
        "mouse": "mice",
        "person": "people",
        "potato": "potatoes",
        "sheep": "sheep",
        "shelf": "shelves",
        "tomato": "tomatoes",
        "tooth": "teeth",
        "wolf": "wolves",
        "woman": "women",
    },
)
_IRREGULAR_SINGULARS = {plural: noun for noun, plural in IRREGULAR_PLURALS.items()}


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


def plural(noun: str) -> str:
    """Return the plural of a singular noun in lower case.

    >>> [plural(noun) for noun in ("cup", "box", "berry", "fish", "woman")]
    ['cups', 'boxes', 'berries', 'fish', 'women']
    """
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    if re.search(r"(?:s|x|z|ch|sh)$", noun):
        return noun + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", noun) + "s"


def singular(noun: str) -> str | None:
    """Return the singular of a plural noun in lower case, or None where it has no plural ending.

    >>> [singular(noun) for noun in ("cups", "boxes", "horses", "berries", "fish", "glass")]
    ['cup', 'box', 'horse', 'berry', 'fish', None]
    """
    if noun in _IRREGULAR_SINGULARS:
        return _IRREGULAR_SINGULARS[noun]
    if re.search(r"[^aeiou]ies$", noun):
        return noun[:-3] + "y"
    if re.search(r"(?:ss|x|ch|sh)es$", noun):
        return noun[:-2]
    return noun[:-1] if re.search(r"[^s]s$", noun) else None


def capitalised_like(model: str, phrase: str) -> str:
    """Return ``phrase`` with a capital first letter where ``model`` begins with one.

    >>> capitalised_like("To", "above")
    'Above'
    """
    return phrase[:1].upper() + phrase[1:] if model[:1].isupper() else phrase


def only_span(text: str, phrase: str) -> tuple[int, int] | None:
    """Find ``phrase`` in ``text`` as whole words, in any case.

    Returns: (start, stop) where it occurs exactly once, None otherwise.
    """
    spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)]
    return spans[0] if phrase and len(spans) == 1 else None


def put(text: str, span: tuple[int, int], phrase: str) -> str:
    """Write ``phrase`` over ``text[start:stop]``.

    The first letter keeps its capital at the start of a sentence, and an indefinite article directly before the place
    agrees with the new phrase.

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
