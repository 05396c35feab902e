"""Negate a sentence about existence.

VALSE's existence instrument (section 3.1) contrasts "There are no animals shown." with "There are animals shown."
CARETS' negation test (section 3.3) asks "Is there no cup?" after "Is there a cup?", and the answer must change.
"""

from __future__ import annotations

import re

from vlgate.perturb.grammar import article

# "a lot", "a few" and the like are quantities, not things, and "no" does not negate them.
_QUANTITY = (
    r"(?:lot|few|couple|bit|little|number|pair|variety|group|bunch|dozen|plenty|handful|multitude|great|good|whole)\b"
)
_SINGULAR = re.compile(
    rf"(?P<head>there is|is there) (?P<word>an?|any|no) (?!{_QUANTITY}|one\b|longer\b|way\b)(?P<rest>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_PLURAL = re.compile(
    r"(?P<head>there are|are there) (?:(?P<word>some|any|no) )?(?P<rest>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
# To negate the first operand or the first sentence alone, or twice, would not negate the text.
_JOINED = re.compile(
    r"\b(?:and|or|nor|but|not|never|without|nothing|only|also|except|because|if)\b|n't\b|[,;:]|[.?!]\s*\w",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b(?:THERE|IS|ARE)\b")
_OTHER_QUANTITY = re.compile(
    r"(?:exactly|only|just|at|more|fewer|less|many|few|several|all|both|two|three|four|five|six|seven|eight|nine|ten|\d+"
    r"|the|not|a|an|each|every|one|plenty|lots|dozens|hundreds|thousands|tons|loads|numerous|multiple|various|different"
    r"|other|most|enough|these|those|such|almost|about|nearly|eleven|twelve|twenty|hardly|so)\b",
    re.IGNORECASE,
)


def negate(text: str) -> str | None:
    """Turn a sentence about existence into its negation, and a negated one back.

    The noun after "There is no" is taken to be countable: "There is no cup." becomes "There is a cup."

    Captions of any other form need a parse: see ``captions.negating.negated``.

    Returns: the new text, or None if the text is not one plain statement or question about existence.

    >>> negate("There is a red cup in the image.")
    'There is no red cup in the image.'
    >>> negate("Is there no apple?")
    'Is there an apple?'
    >>> negate("There are no cups.")
    'There are cups.'
    >>> negate("There is a cup and a ball.") is None
    True
    """
    if _JOINED.search(text) or _CAPITALS.search(text):
        return None
    if found := _SINGULAR.fullmatch(text):
        positive = article(found["rest"])
    elif (found := _PLURAL.fullmatch(text)) and not _OTHER_QUANTITY.match(found["rest"]):
        positive = "any" if found["head"].lower() == "are there" else ""
    else:
        return None
    word = positive if (found["word"] or "").lower() == "no" else "no"
    return " ".join(part for part in (found["head"], word, found["rest"]) if part)


def flip(answer: str) -> str | None:
    """Return the answer to the negated question: "no" for "yes" and "yes" for "no", None for anything else.

    >>> flip("yes"), flip("red")
    ('no', None)
    """
    return {"yes": "no", "no": "yes"}.get(answer)
