"""A search as plain values: it crosses from a worker to the process that reports, and stands in ``shrunk.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vlgate.shrink.texts import text_of
from vlgate.types import Batch, Prediction, Read

if TYPE_CHECKING:
    from vlgate.shrink.moves import Move
    from vlgate.shrink.search import Search

Value = str | float | bool | None | tuple[str, ...]
"""What stands in a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What was found about one case.

    ``ending``, ``calls``, ``budget``, ``changes`` and ``note`` are those of ``Search``; ``says`` is it in words.
    Where a change was found, ``steps`` has its moves (kind, strength, says, distance) and ``distance`` their sum;
    ``requests`` has one entry a request of the case: what is true, and picture, text, choices and reply before and
    after; ``why`` and ``why_changed`` are the two verdicts in words.
    """

    table: str
    case: str
    ending: str
    says: str
    calls: int
    budget: int
    changes: int
    note: str
    distance: float | None = None
    steps: tuple[Mapping[str, Value], ...] = ()
    requests: tuple[Mapping[str, Value], ...] = ()
    why: str = ""
    why_changed: str = ""


def recorded(batch: Batch, search: Search) -> Shrunk:
    """Put the search of a batch's one case into plain values."""
    found = search.find
    return Shrunk(
        table=batch.table.id,
        case=search.original.case.id,
        ending=search.ending,
        says=says(search),
        calls=search.calls,
        budget=search.budget,
        changes=search.changes,
        note=search.note,
        distance=None if found is None else found.distance,
        steps=() if found is None else tuple(_step(move) for move in found.moves),
        requests=_requests(search),
        why=search.original.why,
        why_changed="" if found is None else found.verdict.why,
    )


def says(search: Search) -> str:
    """What a search found, in a sentence."""
    note = f"; {search.note}" if search.note else ""
    calls = f"{search.calls} of {search.budget} calls{note}"
    if search.find is not None:
        return f"broken by {search.find.says} ({calls})"
    if search.ending == "whole":
        return f"not broken by any of {search.changes} changes ({calls})"
    if search.ending == "wrong":
        return f"not searched, being wrong as it stands: {search.original.why}"
    return f"not searched: {search.note or search.original.why}"


def _step(move: Move) -> Mapping[str, Value]:
    return {"kind": move.kind, "strength": move.strength, "says": move.says, "distance": move.distance}


def _requests(search: Search) -> tuple[Mapping[str, Value], ...]:
    if search.find is None:
        return ()
    before, after = search.original, search.find.verdict
    return tuple(
        {
            "truth": truth,
            **_reply(one),
            **{f"changed_{name}": value for name, value in _reply(other).items()},
        }
        for truth, one, other in zip(before.case.truths, before.predictions, after.predictions, strict=True)
    )


def _reply(reply: Prediction) -> dict[str, Value]:
    """What was asked and replied."""
    request = reply.request
    said = text_of(request)
    image = None if isinstance(request, Read) else request.picture.key
    return {
        "image": image,
        "text": said.words,
        "choices": said.choices,
        "score": reply.score,
        "answer": reply.answer,
        "accepted": reply.accepted,
    }
