"""Replace a spatial relation by its opposite.

VALSE's relations instrument (section 3.4) replaces prepositions, and so do VL-CheckList's spatial relations (section
3). Here the replacement is the opposite, which is false whenever the relation holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from vlgate.perturb.grammar import capitalised_like

_TWOS = (
    ("left of", "right of"),
    ("left side of", "right side of"),
    ("above", "below"),
    ("over", "under"),
    ("in front of", "behind"),
    ("inside", "outside"),
)
OPPOSITES: Mapping[str, str] = MappingProxyType({a: b for two in _TWOS for a, b in (two, two[::-1])})
# A particle or an adverb has no thing behind it ("bending over to kiss a dog"); "what is left of it" is about no side.
_PLACE = re.compile(
    rf"(?:{'|'.join(OPPOSITES)}) (?:the|an?|his|her|its|their|this|that|these|those|some|another|two|three)\b",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    rf"\b(?:(?:bend|bent|lean|look|lay|laid|jump|turn|go|went|gone|run|ran|watch|hang|hung|drape|all|what is|what's)\w*"
    rf"(?: (?:right|out|up|down))?|from|up) (?:{'|'.join(OPPOSITES)})\b",
    re.IGNORECASE,
)
_RELATION = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)


def opposite_relation(text: str) -> str | None:
    """Replace the spatial relation of ``text`` by its opposite.

    Captions of any form need a parse: see ``captions.spatial.opposed``.

    Returns: the new text, or None if it names no such relation or more than one, or the relation is not directly before
    a thing.

    >>> opposite_relation("The cup is to the left of the ball.")
    'The cup is to the right of the ball.'
    >>> opposite_relation("Below the cup is a ball.")
    'Above the cup is a ball.'
    """
    if len(_RELATION.findall(text)) != 1 or _PLACE.search(text) is None or _NO_PLACE.search(text) is not None:
        return None
    return _RELATION.sub(lambda found: capitalised_like(found[0], OPPOSITES[found[0].lower()]), text)
