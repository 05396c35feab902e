"""A find as a user's own case: the changed images and texts, with the truths that they still have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
    images = [named(row["changed_picture"]) for row in requests]
    line = {"task": f"{PREFIX}{task}", **make(find, images, [row["changed_text"] for row in requests])}
    return {**line, "tags": {"edit": cause["edit"], "what": cause["what"]}} if cause else line


def own_id(find: Row, line: Row) -> str:
    """Return the id of a kept case: that of the case, and a digest of what is asked, so that it is kept once."""
    said = repr(sorted((name, value) for name, value in line.items() if name != "tags"))
    return f"{find['case']}-{sha256(said.encode()).hexdigest()[:12]}"


def image_name(file: Path) -> str:
    """Return the name of an image in the data folder, by its content."""
    return f"kept-images/{sha256(file.read_bytes()).hexdigest()[:24]}.png"


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
    line = {
        "image": images[0],
        "question": texts[0],
        "answer": original["truth"],
        "perturbed": texts[1],
        "perturbed_answer": perturbed["truth"],
        "kind": find["capability"],
        **_choices(find),
    }
    return line if images[1] == images[0] else {**line, "perturbed_image": images[1]}


def _question_quad(find: Row, images: list[str], texts: list[str]) -> dict[str, Any]:
    answers = [row["truth"] for row in find["requests"]]
    if len(set(answers)) != 2 or answers[0] != answers[3] or answers[1] != answers[2]:
        raise NotKeptError("own crossed questions have crossed answers")
    return {
        "images": _two(images[0], images[2]),
        "questions": texts[:2],
        "answers": [answers[:2], answers[2:]],
        **_choices(find),
    }


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
