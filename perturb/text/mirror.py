"""Exchange left and right in a text about an image that is mirrored by ``flip``.

If the text is true of the image, the new text is true of the mirrored image; if it is false, the new text is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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

_DETERMINER = r"(?:the|an?|its|his|her|their|your|my|our|whose|\w+'s|\w+s')"
_PLACE = (
    r"(?:far|extreme|very|upper|lower|top|bottom|front|back|rear|near|middle|cent(?:er|re)|immediate|picture's|image's)"
)
_TURNING = r"(?:turn|veer|swerv|curv|bend|bent|lean|tilt|slant)(?:ing|ed|s|es|e)?"
_MOVING = (
    r"(?:fac|look|point|go|mov|head|walk|run|driv|rid|travel|swing|gaz|glanc|flow|fly|shift|ran|rode|drove|went|gone|staring)"
    r"(?:n?ing|ed|es|s|e)?"
)
_PART = (
    r"(?:side|hand|half|corner|edge|part|end|arm|leg|foot|feet|eye|ear|shoulder|wing|turn|lane|wheel|shoe|glove|paw|knee|"
    r"elbow|wrist|tire|portion|third|quarter|section|column|row|wall|bank|sock|door|window|horn|headlight|light|background|"
    r"foreground|margin|border|boundary|lower|upper|front|rear|back|most|facing|profile|finger|arrow|engine|person|man|woman|one)s?"
)

_ADVERB = (
    r"(?:now|away|here|there|next|in|on|at|behind|besides?|by|above|below|under|before|after|beneath|through|into|onto|over|"
    r"up|down|off|out|outside|inside|across|against|around|along|near|where|when|as|or wrong|underneath)"
)

# The first rule that fits what stands before and behind the word, in lower case, decides: "swap", "keep" or None.
_KEEP, _SWAP = "keep", "swap"
_Rule = tuple[str, str, str, str | None]  # the word (or "" for both), before, behind, what to do
_RULES: tuple[_Rule, ...] = (
    # one word with what follows
    ("", r"", r"-over|-angled?\b|-of-way|-click|-wing(?:er)?\b", _KEEP),
    ("", r"", r"(?:most|wards?|hand| ?handed|hander|side)\b", _SWAP),
    ("", r"", r"-(?:most|hand|handed|hander|facing|sided?)\b", _SWAP),
    # one beside the other
    ("", r"\b(?:left|right) (?:or|and|to|than) (?:the |to the |on the )?$|\b(?:left|right)[-/]$", r"", _SWAP),
    ("", r"", r" (?:or|and|to) (?:(?:to |on |from )?the )?(?:left|right)\b(?! now| away)|[-/](?:left|right)\b", _SWAP),
    # idioms
    ("right", r"", r" (?:side up|side out|way up|angled?s?|triangles?|of way)\b", _KEEP),
    ("right", r"\b(?:all|that's|that is|you're|am i|it's) $", r"", _KEEP),
    ("right", r", $", r"\W*$", _KEEP),
    (
        "right",
        r"\bthe $",
        r" (?:answer|way|place|time|size|choice|thing|order|kind|amount|track|moment|tools?)\b",
        _KEEP,
    ),
    ("right", r"\bthe $", r" one\b", None),
    ("left", r"\b(?:what|all|little|nothing|much|none|something|anything|that)(?:'s| is| was)? $", r" of\b", _KEEP),
    ("left", r"\b(?:what|who|that|he|she|it|there)'s $", rf"(?! {_PART}\b)", _KEEP),
    ("left", r"\b(?:some|any|much|many|lots|most|half|nothing|anything) (?:\w+ )?$", r"\b", None),
    ("left", r"", r" ?overs?\b", _KEEP),
    # directions by what stands before
    ("", rf"\b(?:on|to|at|in|from|towards?|into|by|off|along) {_DETERMINER} (?:{_PLACE} )?$", r"", _SWAP),
    (
        "",
        rf"\b(?:on|at|from|towards?) (?:{_PLACE} )?$",
        r"(?! now| away| behind| next| in front| beside| under)",
        _SWAP,
    ),
    ("", r"\bto $", r"(?! (?:the|an?|his|her|their|its)\b)", _SWAP),
    ("", r"", r" of\b", _SWAP),
    ("", rf"\b{_TURNING} $", r"", _SWAP),
    ("left", rf"\b{_MOVING} $", r"", _SWAP),
    ("right", rf"\b{_MOVING} $", r"(?:\W*$| (?:or|and|towards?)\b)", _SWAP),
    ("right", rf"\b{_MOVING} $", r" (?:at|in front|into|through|up|behind|next|past|by)\b", _KEEP),
    ("right", rf"\b{_MOVING} $", rf" {_PART}\b", _SWAP),
    ("right", rf"\b{_MOVING} $", r"", None),
    ("left", r"\b(?:upper|lower|top|bottom)[ -]$", rf" {_DETERMINER}\b", None),
    ("", r"\b(?:upper|lower|top|bottom)[ -]$", r"", _SWAP),
    # other meanings by what stands around
    ("left", r"", rf" (?:{_DETERMINER}|this|that|these|those)\b", _KEEP),
    (
        "left",
        r"",
        r" (?:behind|alone|out|open|off|standing|unattended|untouched|uneaten|unfinished|blank|empty)\b",
        _KEEP,
    ),
    (
        "left",
        r"\b(?:has|have|had|having|was|were|is|are|be|been|being|gets?|got|just|who|that) $",
        rf"(?! {_PART}\b)",
        _KEEP,
    ),
    ("right", r"", rf" {_ADVERB}\b", _KEEP),
    ("right", r"\b(?:is|are|was|were|be|this|it) $", r"\W*$", _KEEP),
    ("right", rf"\b{_DETERMINER} $", r" to (?!the\b)", None),
    # directions as adjectives, and alone
    ("", rf"\b{_DETERMINER} (?:{_PLACE} )?$", r"", _SWAP),
    ("", rf"\b{_PLACE}[ -]$", r"", _SWAP),
    ("", r"", rf" {_PART}\b", _SWAP),
    ("", r"^\W*$", r"^\W*$", _SWAP),
)


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
        if meaning is None:
            return None
        parts += [text[end : word.start()], _exchange(word[0]) if meaning == _SWAP else word[0]]
        end = word.end()
    return _TURN.sub(lambda turn: _exchange(turn[0]), "".join(parts) + text[end:])


def _meaning(text: str, word: re.Match[str]) -> str | None:
    """Return "swap" for a direction, "keep" for another meaning, None if neither is certain."""
    side, before, behind = word[0].lower(), text[: word.start()].lower(), text[word.end() :].lower()
    for which, ahead, after, meaning in _RULES:
        if which in {"", side} and re.search(rf"(?:{ahead})", before) and re.match(rf"(?:{after})", behind):
            return meaning
    return None


def _exchange(word: str) -> str:
    opposite = _OPPOSITE[word.lower()]
    shapes: dict[bool, Callable[[str], str]] = {word.isupper(): str.upper, word.istitle(): str.title}
    return shapes.get(True, str)(opposite)
