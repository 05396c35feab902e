"""A search as plain values, as ``shrunk.jsonl`` holds it, and the cause of the break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from vlgate.metrics.clusters import image_of
from vlgate.probes.explaining.margin import margin
from vlgate.probes.shrink.moves import Move, text_of
from vlgate.types import Batch, Prediction

if TYPE_CHECKING:
    from vlgate.probes.shrink.moves import Move
    from vlgate.probes.shrink.search import Search


# Why a change breaks a case: the kind of edit, what was edited, and what the case asks of the model.

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


# A search as plain values, in which a worker sends it to the main process, and ``shrunk.jsonl`` holds it.

Value = str | float | bool | None | tuple[str, ...]  # the types of a record's values


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The search of one case.

    ``ending``, ``calls``, ``budget``, ``changes`` and ``note`` are those of ``Search``; ``says`` describes the search.
    If a change was found, ``steps`` holds its moves (family, kind, strength, says, distance) and ``distance`` the sum
    of their distances. ``requests`` then has one entry per request of the case: the truth, and the image, text, choices
    and reply before and after the change, and as ``picture`` and ``changed_picture`` the files of the images in the
    folder of the run. ``why`` and ``why_changed`` are the sentences of the two verdicts. ``margin`` is the smallest
    lead of a true text over the false ones that it is compared with, for questions the share of right answers, and
    ``margin_changed`` that after the change. ``cause`` says which finds it belongs with: ``edit``, ``what`` and
    ``faculty``. ``shape`` and ``capability`` are those of the task, ``model`` is the one that was asked, and ``seed``
    that of the search. ``no_parts`` says why no region of a photograph was covered.
    """

    task: str
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
    shape: str = ""
    capability: str = ""
    margin: float | None = None
    margin_changed: float | None = None
    cause: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    seed: int = 0
    no_parts: str = ""


def recorded(batch: Batch, search: Search) -> Shrunk:
    """Turn the search of a batch's one case into plain values."""
    found = search.find
    return Shrunk(
        task=batch.task.id,
        case=search.original.case.id,
        ending=search.ending,
        says=says(search),
        calls=search.calls,
        budget=search.budget,
        changes=search.changes,
        note=search.note,
        distance=None if found is None else found.distance,
        steps=()
        if found is None
        else tuple(
            {
                "family": move.family,
                "kind": move.kind,
                "strength": move.strength,
                "says": move.says,
                "distance": move.distance,
            }
            for move in found.moves
        ),
        requests=_requests(search),
        why=search.original.why,
        why_changed="" if found is None else found.verdict.why,
        shape=batch.task.shape,
        capability=batch.task.capability,
        margin=None if found is None else margin(search.original, batch.task.shape),
        margin_changed=None if found is None else margin(found.verdict, batch.task.shape),
        cause={} if found is None else asdict(cause_of(found.moves, batch.task.id)),
        seed=search.seed,
        no_parts=search.no_parts,
    )


def says(search: Search) -> str:
    """Describe what a search found in one sentence."""
    note = f"; {search.note}" if search.note else ""
    calls = f"{search.calls} of {search.budget} calls{note}"
    if search.find is not None:
        return f"broken by {search.find.says} ({calls})"
    if search.ending == "whole":
        return f"not broken by any of {search.changes} changes ({calls})"
    if search.ending == "wrong":
        return f"not searched, because it is wrong without a change: {search.original.why}"
    return f"not searched: {search.note or search.original.why}"


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
    request = reply.request
    said = text_of(request)
    image = image_of(request)
    return {
        "image": image,
        "text": said.words,
        "choices": said.choices,
        "score": reply.score,
        "answer": reply.answer,
        "accepted": reply.accepted,
    }
