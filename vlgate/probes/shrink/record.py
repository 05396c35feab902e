"""A search as plain values, as ``shrunk.jsonl`` holds it, the cause of the break, and a find as a user's own case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from vlgate.metrics.clusters import image_of
from vlgate.probes.explaining.record import margin
from vlgate.types import Ask, Batch, Prediction, text_of

if TYPE_CHECKING:  # what makes the changes loads the drawn world, which the reports of no other run need
    from vlgate.probes.shrink.moves import Move
    from vlgate.probes.shrink.search import Search

_EDITS = {"move": "moved", "recolour": "recoloured", "remove": "removed", "wording": "other words", "cover": "covered"}
_EDITS |= {"enlarge": "resized", "reduce": "resized", "dark": "brightness", "bright": "brightness", "turn": "rotation"}
SEVERAL = "several"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    # ``edit`` is the kind of edit ("moved", "blur"), ``what`` that which was edited ("a thing that the texts name"),
    # and ``faculty`` what the case asks of the model, the last part of its task ("relations").

    edit: str
    what: str
    faculty: str


def cause_of(moves: Sequence[Move], task: str) -> Cause:
    words = [move.kind.split(maxsplit=1)[0] for move in moves]
    edits = dict.fromkeys(_EDITS.get(word, word) for word in words)
    abouts = dict.fromkeys(move.about for move in moves)
    edit, what = (next(iter(some)) if len(some) == 1 else SEVERAL for some in (edits, abouts))
    return Cause(edit=edit, what=what, faculty=task.rpartition("/")[2])


def clusters(causes: Sequence[Cause]) -> list[tuple[Cause, int]]:
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
    original, find, shape = search.original, search.find, batch.task.shape
    same = ("ending", "calls", "budget", "changes", "note", "seed", "no_parts")
    shrunk = Shrunk(
        task=batch.task.id,
        case=original.case.id,
        says=says(search),
        why=original.why,
        shape=shape,
        capability=batch.task.capability,
        **{name: getattr(search, name) for name in same},
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
    request = reply.request
    known = {name: getattr(reply, name) for name in ("score", "answer", "accepted")}
    choices = request.choices if isinstance(request, Ask) else ()
    return {"image": image_of(request), "text": text_of(request), "choices": choices, **known}


Row = Mapping[str, Any]  # A find, as a line of ``shrunk.jsonl``, or one of its requests
Named = Callable[[str], str]  # returns the name of an image in the data folder, given its file in the folder of the run
PREFIX = "kept/"


class NotKeptError(ValueError):
    """A find that no line of own cases can say."""


def own_case(find: Row, named: Named) -> dict[str, Any]:
    """Return a find as a line of own cases, without an id; ``named`` names its images in the data folder."""
    make = _KINDS.get(find["shape"])
    if make is None:
        raise NotKeptError(f"there is no own case of the shape {find['shape']!r}")
    requests = find["requests"]
    if any(not row.get("changed_picture") for row in requests):
        raise NotKeptError("an image of the find is not in the folder of the run")
    task = re.sub(r"[^A-Za-z0-9._/-]+", "-", find["task"].removeprefix(PREFIX))
    cause = find["cause"]
    images = [named(row["changed_picture"]) for row in requests]
    line = {"task": f"{PREFIX}{task}", **make(find, images, [row["changed_text"] for row in requests])}
    return {**line, "tags": {"edit": cause["edit"], "what": cause["what"]}} if cause else line


def own_id(find: Row, line: Row) -> str:
    """Return the id of a kept case: that of the case, and a digest of what is asked, so that it is kept once."""
    said = repr(sorted((name, value) for name, value in line.items() if name != "tags"))
    return f"{find['case']}-{sha256(said.encode()).hexdigest()[:12]}"


def _two(image: str, other: str) -> list[str]:
    if image == other:
        raise NotKeptError("its two images are the same after the change")
    return [image, other]


def _choices(find: Row) -> dict[str, Any]:
    offered = [row["changed_choices"] for row in find["requests"]]
    if any(one != offered[0] for one in offered):
        raise NotKeptError("own questions offer the same choices each time")
    return {"choices": list(offered[0])} if offered[0] else {}


def _set(_: Row, images: list[str], texts: list[str]) -> dict[str, Any]:
    return {"image": images[0], "true": texts[:2], "false": texts[2:]}


def _single(find: Row, images: list[str], texts: list[str]) -> dict[str, Any]:
    truth = find["requests"][0]["truth"]
    if isinstance(truth, bool):
        return {"image": images[0], "statement": texts[0], "is_true": truth}
    return {"image": images[0], "question": texts[0], "answer": truth}


def _questions(find: Row, images: list[str], texts: list[str]) -> dict[str, Any]:
    original, perturbed = find["requests"]
    line = {"image": images[0], "question": texts[0], "answer": original["truth"], "perturbed": texts[1]}
    line |= {"perturbed_answer": perturbed["truth"], "kind": find["capability"], **_choices(find)}
    return line if images[1] == images[0] else {**line, "perturbed_image": images[1]}


def _question_quad(find: Row, images: list[str], texts: list[str]) -> dict[str, Any]:
    answers = [row["truth"] for row in find["requests"]]
    if len(set(answers)) != 2 or answers[0] != answers[3] or answers[1] != answers[2]:
        raise NotKeptError("own crossed questions have crossed answers")
    crossed = {"questions": texts[:2], "answers": [answers[:2], answers[2:]]}
    return {"images": _two(images[0], images[2]), **crossed, **_choices(find)}


def _twins(find: Row, images: list[str], texts: list[str]) -> dict[str, Any]:
    if texts[0] != texts[1]:
        raise NotKeptError("own twins have one question about both images")
    image, twin = _two(images[1], images[0])
    answer, prior = find["requests"][1]["truth"], find["requests"][0]["truth"]
    return {"image": image, "twin": twin, "question": texts[1], "answer": answer, "prior": prior, **_choices(find)}


_KINDS: Mapping[str, Callable[[Row, list[str], list[str]], dict[str, Any]]] = {
    "pair": lambda _, images, texts: {"image": images[0], "caption": texts[0], "foil": texts[1]},
    "choice": lambda _, images, texts: {"image": images[0], "caption": texts[0], "foils": texts[1:]},
    "image_choice": lambda _, images, texts: {"image": images[0], "other_images": images[1:], "caption": texts[0]},
    "quad": lambda _, images, texts: {"images": _two(images[0], images[2]), "captions": texts[:2]},
    "set": _set,
    "active_passive_set": _set,
    "two_true": lambda _, images, texts: {"image": images[0], "true": texts[:-1], "false": texts[-1]},
    "single": _single,
    "questions": _questions,
    "question_quad": _question_quad,
    "twin_questions": _twins,
}
