"""Turn how-many questions with a numeral for an answer into statements that can be said with any number.

The templates are those of VALSE (appendix A.1, after Parcalabescu et al. 2021): "There are N animals shown". If their
output is not English, another form is taken: an adjective goes before its noun ("3 green vegetables"), "have" becomes
"with" ("3 bottles with blue caps"), other verbs go into a relative clause ("3 buildings that surround the tower").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vlgate.perturb.foils.how_many.asked import asked, written
from vlgate.perturb.foils.how_many.noun_number import in_plural
from vlgate.perturb.foils.how_many.numerals import numeral
from vlgate.perturb.foils.how_many.templates import Form, Frame
from vlgate.perturb.foils.how_many.verbs import framed
from vlgate.perturb.grammar import capitalised_like
from vlgate.perturb.parsing.parsed import Parsed

_BARE = re.compile(r"(?<= in) (?=(?:picture|photo|image|pic|photograph|background|foreground|frame|shot|scene)$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement with a place for a quantifier, and the number that is true of the image.

    ``many`` is worded for every number but one, ``one`` for one; ``one`` is None if the words behind the noun allow no
    singular. ``form`` is "there" ("There are # cups"), "object" ("The man has # cups"), "objects" ("The men have
    # cups"), "clause" ("# cups have been broken") or "group" ("# of the cups are red"). ``noun`` is what is counted, in
    the plural.
    """

    number: int
    noun: str
    one: Frame | None
    many: Frame
    form: Form

    def said(self, quantifier: str, *, one: bool = False) -> str | None:
        """Return the sentence with a quantifier, which may be empty, or None if it has no wording for one."""
        frame = self.one if one else self.many
        if frame is None:
            return None
        text = _BARE.sub(" the ", " ".join(part for part in (frame[0], quantifier, frame[1]) if part))
        return f"{capitalised_like('A', text)}."


def statement(question: Parsed, answer: str) -> Statement | str:
    """Turn a how-many question and its answer into a statement.

    Returns: the statement, or a short reason why there is none.
    """
    number = numeral(answer)
    if number is None:
        return "the answer is not a numeral"
    parts = asked(question)
    if isinstance(parts, str):
        return parts
    frames = framed(parts)
    if isinstance(frames, str):
        return frames
    one, many, form = frames
    if number == 1 and one is None:
        return "no wording for one"
    noun = in_plural(parts.noun, parts.head) or written(parts.noun)
    return Statement(number=number, noun=noun, one=one, many=many, form=form)
