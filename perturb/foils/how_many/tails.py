"""Which words can follow the noun of "There are # nouns", and which would make a sentence that is not English."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.perturb.inflection import plural, singular
from vlgate.perturb.parsing.parsed import Token

_PLACES = frozenset(
    {"on", "in", "at", "to", "behind", "near", "under", "above", "beside", "below", "beneath", "inside"}
)
# Singular nouns that stand without an article behind a preposition of place: idioms, and names of stuff.
_BARE = frozenset(
    (
        *(
            "display",
            "color",
            "colour",
            "top",
            "front",
            "back",
            "night",
            "day",
            "sight",
            "tap",
            "motion",
            "fire",
            "flight",
        ),
        *("bed", "work", "school", "home", "tv", "television", "traffic", "line", "view", "action", "bloom", "focus"),
        *("uniform", "costume", "water", "grass", "snow", "sand", "dirt", "mud", "ice", "shade", "sunlight", "ground"),
        *(
            "picture",
            "photo",
            "image",
            "pic",
            "photograph",
            "background",
            "foreground",
            "frame",
            "shot",
            "scene",
            "town",
        ),
        *(
            "black",
            "white",
            "red",
            "blue",
            "green",
            "yellow",
            "brown",
            "orange",
            "pink",
            "purple",
            "gray",
            "grey",
            "left",
        ),
        *(
            "right",
            "land",
            "shore",
            "air",
            "formation",
            "use",
            "transit",
            "sequence",
            "place",
            "total",
            "church",
            "case",
        ),
    )
)


def unsayable(tail: Sequence[Token]) -> str:
    """Return why a tail cannot follow the noun it tells something about; empty if it can.

    "There are 3 cups" may go on with "on the table", "standing", "visible" or "that are red", but not with "are red".
    """
    if not tail:
        return ""
    if tail[0].tag in {"CC", "EX"} or tail[-1].tag in {"CC", "DT"}:
        return "more than one clause"
    for place, token in enumerate(tail):
        before = tail[place - 1] if place else None
        if _finite(token) and not any(word.tag in {"WDT", "WP", "MD", "WRB", "TO"} for word in tail[:place]):
            return "more than one clause"
        if place + 1 == len(tail) and _without_article(token, before):
            return "a noun without an article"
    stranded = len(tail) > 1 and tail[-1].tag in {"IN", "TO"} and tail[-2].tag[:2] in {"JJ", "VB"}
    return "a preposition without its noun" if stranded and tail[-1].dep not in {"prt", "advmod"} else ""


def _finite(token: Token) -> bool:
    return token.tag in {"VBP", "VB", "MD"} or (token.tag == "VBZ" and singular(token.lower) is None)


def _without_article(token: Token, before: Token | None) -> bool:
    """Whether a countable noun in the singular stands behind a preposition of place: "on flag"."""
    behind = before is not None and before.lower in _PLACES
    return behind and token.tag == "NN" and token.lower not in _BARE and plural(token.lower) is not None
