"""A find as a user's own case: the changed images and texts, with the truths that they still have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

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
    line = {"task": f"{PREFIX}{task}", **make(find, requests, named)}
    return {**line, "tags": {"edit": cause["edit"], "what": cause["what"]}} if cause else line


def own_id(find: Row, line: Row) -> str:
    """Return the id of a kept case: that of the case, and a digest of what is asked, so that it is kept once."""
    said = repr(sorted((name, value) for name, value in line.items() if name != "tags"))
    return f"{find['case']}-{sha256(said.encode()).hexdigest()[:12]}"


def image_name(file: Path) -> str:
    """Return the name of an image in the data folder, by its content."""
    return f"kept-images/{sha256(file.read_bytes()).hexdigest()[:24]}.png"


def _image(row: Row, named: Named) -> str:
    return named(row["changed_picture"])


def _two_images(one: Row, other: Row, named: Named) -> list[str]:
    images = [_image(one, named), _image(other, named)]
    if images[0] == images[1]:
        raise NotKeptError("its two images are the same after the change")
    return images


def _texts(requests: Sequence[Row]) -> list[str]:
    return [row["changed_text"] for row in requests]


def _pair(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    caption, foil = _texts(requests)
    return {"image": _image(requests[0], named), "caption": caption, "foil": foil}


def _choice(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    caption, *foils = _texts(requests)
    return {"image": _image(requests[0], named), "caption": caption, "foils": foils}


def _image_choice(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    image, *others = (_image(row, named) for row in requests)
    return {"image": image, "other_images": others, "caption": requests[0]["changed_text"]}


def _quad(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    return {"images": _two_images(requests[0], requests[2], named), "captions": _texts(requests[:2])}


def _set(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    return {"image": _image(requests[0], named), "true": _texts(requests[:2]), "false": _texts(requests[2:])}


def _two_true(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    *true, false = _texts(requests)
    return {"image": _image(requests[0], named), "true": true, "false": false}


def _single(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    [row] = requests
    image = _image(row, named)
    if isinstance(row["truth"], bool):
        return {"image": image, "statement": row["changed_text"], "is_true": row["truth"]}
    return {"image": image, "question": row["changed_text"], "answer": row["truth"]}


def _questions(find: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    original, perturbed = requests
    line = {
        "image": _image(original, named),
        "question": original["changed_text"],
        "answer": original["truth"],
        "perturbed": perturbed["changed_text"],
        "perturbed_answer": perturbed["truth"],
        "kind": find["capability"],
        **_choices(requests),
    }
    other = _image(perturbed, named)
    return line if other == line["image"] else {**line, "perturbed_image": other}


def _question_quad(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    answers = [row["truth"] for row in requests]
    if len(set(answers)) != 2 or answers[0] != answers[3] or answers[1] != answers[2]:
        raise NotKeptError("own crossed questions have crossed answers")
    return {
        "images": _two_images(requests[0], requests[2], named),
        "questions": _texts(requests[:2]),
        "answers": [answers[:2], answers[2:]],
        **_choices(requests),
    }


def _twins(_: Row, requests: Sequence[Row], named: Named) -> dict[str, Any]:
    twin, one = requests
    if one["changed_text"] != twin["changed_text"]:
        raise NotKeptError("own twins have one question about both images")
    image, other = _two_images(one, twin, named)
    return {
        "image": image,
        "twin": other,
        "question": one["changed_text"],
        "answer": one["truth"],
        "prior": twin["truth"],
        **_choices(requests),
    }


def _choices(requests: Sequence[Row]) -> dict[str, Any]:
    offered = [row["changed_choices"] for row in requests]
    if any(one != offered[0] for one in offered):
        raise NotKeptError("own questions offer the same choices each time")
    return {"choices": list(offered[0])} if offered[0] else {}


_KINDS: Mapping[str, Callable[[Row, Sequence[Row], Named], dict[str, Any]]] = {
    "pair": _pair,
    "choice": _choice,
    "image_choice": _image_choice,
    "quad": _quad,
    "set": _set,
    "active_passive_set": _set,
    "two_true": _two_true,
    "single": _single,
    "questions": _questions,
    "question_quad": _question_quad,
    "twin_questions": _twins,
}
