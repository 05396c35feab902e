"""Candidates as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vlgate.making.kinds.kind import Made
from vlgate.perturb.foils.candidate import Candidate, Foil, Found, SentenceSet, Swap

Json = dict[str, Any]


def as_json(made: Made) -> Json:
    """Return what one input gave as a JSON value."""
    return {
        "image": made.image,
        "origin": made.origin,
        "candidates": [_coded(one) for one in made.found.candidates],
        "refused": list(made.found.refused),
        "extra": list(made.extra),
    }


def from_json(value: Mapping[str, Any]) -> Made:
    """Return what ``as_json`` has coded."""
    candidates = tuple(_decoded(one) for one in value["candidates"])
    found = Found(candidates=candidates, refused=tuple(value["refused"]))
    return Made(image=value["image"], origin=value["origin"], found=found, extra=tuple(value["extra"]))


def _coded(one: Candidate) -> Json:
    common = {"why": one.why, "tags": dict(one.tags)}
    if isinstance(one, Foil):
        return {"caption": one.caption, "foil": one.foil, "classes": one.classes, **common}
    if isinstance(one, SentenceSet):
        return {"true": one.true, "false": one.false, **common}
    return {"images": one.images, "captions": one.captions, **common}


def _decoded(value: Mapping[str, Any]) -> Candidate:
    why, tags = value["why"], value["tags"]
    if "foil" in value:
        first, second = value["classes"]
        return Foil(caption=value["caption"], foil=value["foil"], classes=(first, second), why=why, tags=tags)
    if "true" in value:
        return SentenceSet(true=_two(value["true"]), false=_two(value["false"]), why=why, tags=tags)
    return Swap(images=_two(value["images"]), captions=_two(value["captions"]), why=why, tags=tags)


def _two(values: Any) -> tuple[str, str]:
    first, second = values
    return first, second
