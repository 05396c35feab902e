"""A search as plain values, as ``shrunk.jsonl`` holds it, and the cause of the break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from vlgate.metrics.clusters import image_of
from vlgate.probes.explaining.margin import margin
from vlgate.probes.shrink.moves import Move, text_of
from vlgate.types import Batch, Prediction

if TYPE_CHECKING:
    from vlgate.probes.shrink.search import Search


_EDITS = {
    "move": "moved",
    "enlarge": "resized",
    "reduce": "resized",
    "recolour": "recoloured",
    "remove": "removed",
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
    words = [move.kind.split(maxsplit=1)[0] for move in moves]
    edits = dict.fromkeys(_EDITS.get(word, word) for word in words)
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
    distance: float | None = None  # the sum of the distances of ``steps``
    steps: tuple[Mapping[str, Value], ...] = ()  # the moves of a find: family, kind, strength, says, distance
    # For each request of a find its truth; image, text, choices and reply before and after the change, with the prefix
    # ``changed_``; and ``picture`` and ``changed_picture``, the files of the images in the folder of the run.
    requests: tuple[Mapping[str, Value], ...] = ()
    why: str = ""  # the sentences of the verdicts before and after the change
    why_changed: str = ""
    shape: str = ""
    capability: str = ""
    margin: float | None = None  # the least lead of a true text, or the share of right answers, before and after
    margin_changed: float | None = None
    cause: Mapping[str, str] = field(default_factory=dict)  # which finds it belongs with; see ``Cause``
    model: str = ""
    seed: int = 0
    no_parts: str = ""  # why no region of a photograph was covered


def recorded(batch: Batch, search: Search) -> Shrunk:
    """Turn the search of a batch's one case into plain values."""
    original, find, shape = search.original, search.find, batch.task.shape
    shrunk = Shrunk(
        task=batch.task.id,
        case=original.case.id,
        ending=search.ending,
        says=says(search),
        calls=search.calls,
        budget=search.budget,
        changes=search.changes,
        note=search.note,
        why=original.why,
        shape=shape,
        capability=batch.task.capability,
        seed=search.seed,
        no_parts=search.no_parts,
    )
    if find is None:
        return shrunk
    before_and_after = zip(original.case.truths, original.predictions, find.verdict.predictions, strict=True)
    named = ("family", "kind", "strength", "says", "distance")
    return replace(
        shrunk,
        distance=find.distance,
        steps=tuple({name: getattr(move, name) for name in named} for move in find.moves),
        requests=tuple(
            {"truth": truth, **_reply(before), **{f"changed_{name}": value for name, value in _reply(after).items()}}
            for truth, before, after in before_and_after
        ),
        why_changed=find.verdict.why,
        margin=margin(original, shape),
        margin_changed=margin(find.verdict, shape),
        cause=asdict(cause_of(find.moves, batch.task.id)),
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


def _reply(reply: Prediction) -> dict[str, Value]:
    text = text_of(reply.request)
    known = {name: getattr(reply, name) for name in ("score", "answer", "accepted")}
    return {"image": image_of(reply.request), "text": text.words, "choices": text.choices, **known}
