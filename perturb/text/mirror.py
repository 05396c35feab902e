"""Exchange left and right in a text about an image that is mirrored by ``flip``.

If the text is true of the image, the new text is true of the mirrored image; if it is false, the new text is false.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

_OPPOSITE = {
    "left": "right",
    "right": "left",
    "clockwise": "counterclockwise",
    "counterclockwise": "clockwise",
    "counter-clockwise": "clockwise",
    "anticlockwise": "clockwise",
    "anti-clockwise": "clockwise",
}
_TURN = re.compile(r"\b(?:counter-?|anti-?)?clockwise\b", re.IGNORECASE)
_SIDE = re.compile(r"\b(?:left|right)(?=(?:most|wards?|hand|handed|hander|side)?\b)", re.IGNORECASE)

# A text about letters or digits in the image: in the mirrored image they cannot be read.
_READ = re.compile(
    r"""\b(?:letter(?:s|ed|ing)?|words?|numbers?(?!\s+of\b)|numbered|numerals?|digits?|texts?|captions?|slogans?|initials|alphabet
    |writ(?:e|es|ten|ing|ings)|wrote|handwrit(?:ten|ing)|reads|readable|legible|spell(?:s|ed|ing)?|spelt
    |(?<!you\ )say|says|said|saying|labell?ed|inscri(?:bed|ption)s?|logos?|brands?|(?:license|licence|number)[ ]plates?
    |times?|o'clock|clock[ ]?face|[ap]\.m\.|name\s+(?:of|on))(?!\w)|\breading\s+(?-i:[A-Z\d])
    |["\u201c\u201d\u00ab\u00bb]|(?<!\w)['\u2018][^'\u2019]+['\u2019](?!\w)|\d:\d\d""",
    re.VERBOSE | re.IGNORECASE,
)
# A word in capitals is written in the image ("the STOP sign"), except for these.
_CAPITALS = re.compile(r"(?<![\w-])(?!(?:LEFT|RIGHT|SUV|ATV|DVD|VCR|UFO|BBQ|LED|LCD|WITH)S?\b)[A-Z]{3,}(?![\w-])")

_LISTS = {
    "determiner": r"(?:the|an?|its|his|her|their|your|my|our|whose|\w+'s|\w+s')",
    "place": r"(?:far|extreme|very|upper|lower|top|bottom|front|back|rear|near|middle|cent(?:er|re)|immediate|picture's"
    r"|image's)",
    "turning": r"(?:turn|veer|swerv|curv|bend|bent|lean|tilt|slant)(?:ing|ed|s|es|e)?",
    "moving": r"(?:fac|look|point|go|mov|head|walk|run|driv|rid|travel|swing|gaz|glanc|flow|fly|shift|ran|rode|drove"
    r"|went|gone|staring)(?:n?ing|ed|es|s|e)?",
    "part": r"(?:side|hand|half|corner|edge|part|end|arm|leg|foot|feet|eye|ear|shoulder|wing|turn|lane|wheel|shoe|glove"
    r"|paw|knee|elbow|wrist|tire|portion|third|quarter|section|column|row|wall|bank|sock|door|window|horn|headlight|light"
    r"|background|foreground|margin|border|boundary|lower|upper|front|rear|back|most|facing|profile|finger|arrow|engine"
    r"|person|man|woman|one)s?",
    "adverb": r"(?:now|away|here|there|next|in|on|at|behind|besides?|by|above|below|under|before|after|beneath|through"
    r"|into|onto|over|up|down|off|out|outside|inside|across|against|around|along|near|where|when|as|or wrong"
    r"|underneath)",
}


@cache
def _rules() -> list[tuple[str, re.Pattern[str], re.Pattern[str], str]]:
    rules = []
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            word, before, behind, meaning = ("" if cell == "-" else cell for cell in line.split("\t"))
            first, second = (re.compile(f"(?:{pattern.format_map(_LISTS)})") for pattern in (before, behind))
            rules.append((word, first, second, meaning))
    return rules


def flip_words(text: str) -> str | None:
    """Return the text that is as true of the mirrored image as ``text`` is of the image.

    "left" and "right" are exchanged if they are directions ("to the left of", "leftmost", "the right hand", "turning
    left"), and so are "clockwise" and "counterclockwise"; capitals stay. "left" as a form of "leave" and "right" as
    "correct" or "exactly" stay as they are ("the man left the room", "leftovers", "right next to", "all right"), and so
    does a text without directions. East and west stay too: an image does not show them.

    Returns: the text, or None if the meaning of "left" or "right" is not clear, or the text is about something that
    cannot be read in a mirror: letters, words, numbers, the time, anything quoted or in capitals.

    >>> flip_words("Is the man who left the room to the LEFT of the door?")
    'Is the man who left the room to the RIGHT of the door?'
    >>> flip_words("What does the sign on the left say?") is None
    True
    """
    # If the whole text is in capitals, they do not mean a word in the image.
    capitals = _CAPITALS.search(text) if text != text.upper() else None
    if _READ.search(text) or capitals:
        return None
    parts, end = [], 0
    for word in _SIDE.finditer(text):
        meaning = _meaning(text, word)
        if meaning == "none":
            return None
        parts += [text[end : word.start()], _exchange(word[0]) if meaning == "swap" else word[0]]
        end = word.end()
    return _TURN.sub(lambda turn: _exchange(turn[0]), "".join(parts) + text[end:])


def _meaning(text: str, word: re.Match[str]) -> str:
    """Return "swap" for a direction, "keep" for another meaning, "none" if neither is certain."""
    before, behind = text[: word.start()].lower(), text[word.end() :].lower()
    for side, ahead, after, meaning in _rules():
        if side in {"", word[0].lower()} and ahead.search(before) and after.match(behind):
            return meaning
    return "none"


def _exchange(word: str) -> str:
    opposite = _OPPOSITE[word.lower()]
    shapes: dict[bool, Callable[[str], str]] = {word.isupper(): str.upper, word.istitle(): str.title}
    return shapes.get(True, str)(opposite)
