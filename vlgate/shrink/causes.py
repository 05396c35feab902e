"""Why a change breaks a case: the kind of edit, what was edited, and what the case asks of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vlgate.shrink.moves import Move

_ACTS = {"move": "moved", "enlarge": "resized", "reduce": "resized", "recolour": "recoloured", "remove": "removed"}
_IMAGES = {
    "dark": "brightness",
    "bright": "brightness",
    "turn": "rotation",
    "wording": "other words",
    "cover": "covered",
}
SEVERAL = "several"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What a find has in common with others.

    ``edit`` is the kind of edit ("moved", "blur"), ``what`` that which was edited ("a thing that the texts name"), and
    ``faculty`` what the case asks of the model, the last part of its task ("relations").
    """

    edit: str
    what: str
    faculty: str


def cause_of(moves: Sequence[Move], task: str) -> Cause:
    """Return the cause of a find; changes of several kinds together, or of several things, are "several"."""
    edits = dict.fromkeys(_edit(move.kind) for move in moves)
    what = dict.fromkeys(move.about for move in moves)
    return Cause(
        edit=next(iter(edits)) if len(edits) == 1 else SEVERAL,
        what=next(iter(what)) if len(what) == 1 else SEVERAL,
        faculty=task.rpartition("/")[2],
    )


def clusters(causes: Sequence[Cause]) -> list[tuple[Cause, int]]:
    """Return the causes with the number of finds of each, the most frequent first, equal ones by name."""
    counted = Counter(causes)
    return sorted(counted.items(), key=lambda found: (-found[1], found[0].edit, found[0].what, found[0].faculty))


def _edit(kind: str) -> str:
    word = kind.split(maxsplit=1)[0]
    return _ACTS.get(word) or _IMAGES.get(word, word)
