"""Other wordings of a statement that say the same of any image: the place of a thing from the other one, and frames."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vlgate.perturb.grammar import capitalised_like

_CONVERSE = {
    "to the left of": "to the right of",
    "to the right of": "to the left of",
    "above": "below",
    "below": "above",
}
"""Relations that hold from one thing to the other exactly if the other one holds back; "behind" may go by what is the
front of a thing itself, so that it is not among them."""
_WORD = r"(?!(?:and|or|but|nor|not|that|which|who|than|is|are)\b)[a-z]+"
_THING = rf"(?:{_WORD} ){{0,2}}{_WORD}"
_PLACED = re.compile(rf"(The {_THING}) is ({'|'.join(_CONVERSE)}) (the {_THING})(\.?)")
_THERE = re.compile(r"(There (?:is|are) (?:no |an? |exactly |some |a number of )?[a-z][a-z ,-]*?)(\.?)")
_IMAGE = re.compile(r"\b(?:pictures?|photos?|images?|scenes?|foreground|background)\b")
_NAMES = ("picture", "image")


def restated(text: str) -> Iterator[str]:
    """Yield texts that are true of an image exactly if ``text`` is.

    >>> list(restated("The red cup is above the ball."))
    ['The ball is below the red cup.']
    >>> list(restated("There is no cup."))[:2]
    ['There is no cup in the picture.', 'In the picture, there is no cup.']
    >>> list(restated("A picture of a cup."))
    ['An image of a cup.']
    """
    placed = _PLACED.fullmatch(text)
    if placed is not None:
        one, relation, other, end = placed.groups()
        yield f"{capitalised_like('T', other)} is {_CONVERSE[relation]} {one[0].lower()}{one[1:]}{end}"
        return
    there = _THERE.fullmatch(text)
    if there is not None and _IMAGE.search(text) is None:
        said, end = there.groups()
        for name in _NAMES:
            yield f"{said} in the {name}{end}"
            yield f"In the {name}, {said[0].lower()}{said[1:]}{end}"
    elif text.endswith((" in the picture.", " in the picture")) and text.startswith(("There is ", "There are ")):
        plain, end = text.removesuffix(".").removesuffix(" in the picture"), "." * text.endswith(".")
        yield f"{plain}{end}"
        for name in _NAMES:
            if name != "picture":
                yield f"{plain} in the {name}{end}"
            yield f"In the {name}, {plain[0].lower()}{plain[1:]}{end}"
    elif text.startswith("A picture of "):
        yield "An image of " + text.removeprefix("A picture of ")
