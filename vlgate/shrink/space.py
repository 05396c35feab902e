"""Which changes keep a case's truths: not every picture may be cropped, nor every question be asked of a darker one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from vlgate.shrink.moves import PICTURE_MOVES, Move
from vlgate.shrink.texts import Text, text_of
from vlgate.types import Case, Read

_COLOUR = re.compile(
    r"\b(?:amber|aqua|beige|black|blond\w*|blu\w+|bright\w*|brown\w*|brunette|colou?r\w*|crimson|cyan|dark\w*|day\w*|dim|gold\w*"
    r"|gr[ae]y\w*|green\w*|indigo|ivory|lavender|light\w*|lilac|lit|magenta|maroon|mauve|navy|night\w*|olive|orange|pale|peach"
    r"|pink\w*|purpl\w+|red|redd\w+|rust\w*|salmon|scarlet|shad\w+|shiny|silver\w*|sunny|tan|taupe|teal|ton\w+|turquoise|violet"
    r"|white\w*|yellow\w*)\b"
)
_PLACE = re.compile(
    r"\b(?:above|across|against|atop|behind|below|beneath|beside|between|bottom|diagonal\w*|down|facing|flat|front|high\w*"
    r"|horizontal\w*|inverted|laying|lean\w+|left\w*|level|low\w*|lying|next|on|over|right\w*|sideways|slant\w*|standing|straight"
    r"|tall\w*|tilt\w*|top|under\w*|up|upper|upright|upside|vertical\w*)\b"
)
_NUMBER = re.compile(
    r"\d|\b(?:all|count\w*|couple|double|dozen\w*|every\w*|exactly|few\w*|group\w*|half|least|less|lone|lots?|many|more|most|multiple"
    r"|number|once|only|pairs?|several|single|twice|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)s?"
    r"|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|second|third|triple)\b"
)
_EDGE = re.compile(r"\b(?:borders?|corners?|edges?|margins?|sides?|whole|entire\w*|crop\w*|partial\w*|cut)\b")
_NEVER = {
    "dark": (_COLOUR,),
    "bright": (_COLOUR,),
    "contrast": (_COLOUR,),
    "turn": (_PLACE, _NUMBER, _EDGE),
    "crop": (_NUMBER, _EDGE),
}
"""The words that forbid a kind of change. Each list is rather too long: a change that is left out costs little, one
that makes the truth false would blame the model for nothing."""
WORDING = "wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The changes of one case: directions of picture changes, weakest first, and other wordings, nearest first."""

    pictures: tuple[tuple[Move, ...], ...]
    wordings: tuple[Move, ...]

    @property
    def directions(self) -> tuple[tuple[Move, ...], ...]:
        """All directions; the wordings are one, whose moves exclude each other."""
        return (self.wordings, *self.pictures) if self.wordings else self.pictures


def space(case: Case) -> Space:
    """The changes of a case that leave its truths as they are.

    Colours forbid changes of brightness and contrast; words of place forbid rotation; numbers, edges and corners forbid
    cropping and rotation, and so does a picture that is perturbed already, which may have been cut to what is asked
    about. The words of all texts, choices and answers of the case count.

    Returns: the changes; without a picture no picture changes.

    >>> from vlgate.types import Match, Picture
    >>> picture = Picture(key="1.jpg", load=lambda: None)
    >>> case = Case(id="1", requests=(Match(picture=picture, text="Two red cups."),), truths=(True,))
    >>> [moves[0].kind for moves in space(case).pictures]
    ['blur', 'jpeg']
    """
    texts = " ".join(_texts(case)).lower()
    pictures = [request.picture for request in case.requests if not isinstance(request, Read)]
    tight = {"crop", "turn"} if any("#" in picture.key for picture in pictures) else set()
    kinds = [
        kind
        for kind in PICTURE_MOVES
        if pictures and kind not in tight and not any(never.search(texts) for never in _NEVER.get(kind, ()))
    ]
    return Space(pictures=tuple(PICTURE_MOVES[kind] for kind in kinds), wordings=_wordings(case))


def _texts(case: Case) -> Iterator[str]:
    for request, truth in zip(case.requests, case.truths, strict=True):
        text = text_of(request)
        yield from (text.words, *text.choices, *([truth] if isinstance(truth, str) else []))


def _wordings(case: Case) -> tuple[Move, ...]:
    """Each other wording of each text of the case, nearest first; one text is changed at a time."""
    texts = dict.fromkeys(text_of(request) for request in case.requests)
    found = [(text, instead) for text in texts for instead in _others(text) if instead not in texts]
    distances = [_share(text, instead) for text, instead in found]
    order = sorted(range(len(found)), key=distances.__getitem__)
    return tuple(
        Move(
            kind=WORDING,
            strength=number,
            says=_in_words(found[place][0].words, found[place][1].words),
            distance=distances[place],
            text=found[place][0],
            instead=found[place][1],
        )
        for number, place in enumerate(order, start=1)
    )


def _others(text: Text) -> Iterator[Text]:
    from vlgate.perturb.order import reverse_choices
    from vlgate.perturb.rewording import rewordings

    for words in rewordings(text.words, text.choices):
        yield Text(words=words, choices=text.choices)
    reverse = reverse_choices(text.words, text.choices)
    if reverse is not None:
        yield Text(words=reverse[0], choices=reverse[1])


def _share(text: Text, other: Text) -> float:
    """The share of words that differ, above 0."""
    words, others = text.words.split(), other.words.split()
    return max(1 - SequenceMatcher(None, words, others, autojunk=False).ratio(), 1 / (len(words) + len(others)))


def _in_words(text: str, other: str) -> str:
    """What stands in place of what, without the words that both begin and end with.

    >>> _in_words("Is there a cup?", "Do you see a cup?")
    "'Is there' to 'Do you see'"
    """
    a, b = text.split(), other.split()
    start = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    left = min(len(a), len(b)) - start
    stop = next((at for at in range(left) if a[-1 - at] != b[-1 - at]), left)
    if start and min(len(a), len(b)) == start + stop:  # words were added or left out: one beside them shows where
        start -= 1
    old, new = (" ".join(words[start : len(words) - stop]) for words in (a, b))
    return f"{old!r} to {new!r}" if old and new else f"{text!r} to {other!r}"
