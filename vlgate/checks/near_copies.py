"""Requests that a model has no memory of: images under other names, and near-copies of texts and pixels.

A model with a memory of its own replies in the checks what it replied in the run, so that its replies seem not to
depend on the batch. No memory knows a near-copy: an image with one pixel that differs by one level, and a text with
other marks at its end. Near-copies of one request may get other scores; which of them are asked alone is drawn, so
that in a model that ignores the batch those that are asked alone stand apart by chance only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from vlgate.seeds import generator
from vlgate.types import (
    Case,
    LazyImage,
    Match,
    Prediction,
    Predictor,
    Read,
    Request,
    text_of,
    with_images,
)

if TYPE_CHECKING:
    from PIL.Image import Image

Anew = Literal["", "texts", "all"]
"""What of a request may be new to a model: nothing, the text (a model that knows images by their names), or all."""
_ALONE = 5
"""How many near-copies of a request are asked alone; as many are asked in a group."""
_BY_CHANCE = 2 / comb(2 * _ALONE, _ALONE)
"""The largest probability that the replies alone stand apart from those in a group by chance."""
_LEVEL = 0.001
_CASES = 2  # of each number of requests
_COPIED = 8  # requests of these cases
_GROUP = 24  # requests in a group, as in the other rounds
_ENDS = ("", "m", "mm", " m", "m ", "mmm", " ", " mm", "mm ", "  ", " m ")  # m is the mark at the end of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedLoad:
    """Loads an image with one pixel that differs by one level of 255: the pixel ``place``, counted from the end."""

    image: LazyImage
    place: int

    def __call__(self) -> Image:
        """Return the image, mode RGB."""
        from PIL import Image

        pixels = np.array(self.image.load())
        rows = pixels.reshape(-1, pixels.shape[-1])
        rows[-1 - self.place % len(rows), self.place // len(rows) % rows.shape[1]] ^= 1
        return Image.fromarray(pixels)


def renamed(request: Request) -> Request:
    """Return a request about the same pixels under other names."""
    return with_images(request, lambda image: replace(image, key=f"{image.key}#renamed"))


def near_copy(request: Request, number: int, anew: Anew, place: int = 0) -> Request:
    """Return one of the ten near-copies of a request; those of requests with another ``place`` have other pixels.

    >>> near_copy(Read(text="A red cup."), 1, "texts").text
    'A red cup..'
    """
    text = text_of(request)
    bare = text.rstrip(" .!?")
    mark = text[-1] if text[-1:] in {"!", "?"} else "."
    other = [copy for end in _ENDS if (copy := bare + end.replace("m", mark)) != text][number]
    copy: Request = (
        replace(request, text=other) if isinstance(request, Match | Read) else replace(request, question=other)
    )
    return with_images(copy, lambda image: _touched(image, 2 * _ALONE * place + number)) if anew == "all" else copy


def _touched(image: LazyImage, number: int) -> LazyImage:
    return LazyImage(
        key=f"{image.key}#touched-{number}", where=image.where, load=TouchedLoad(image=image, place=number)
    )


def asked_as(
    model: Predictor, requests: Sequence[Request], change: Callable[[Request], Request]
) -> dict[Request, Prediction]:
    """Ask a model changed requests together; return the predictions by the requests as they were."""
    copies = {request: change(request) for request in requests}
    replies = model.predict(list(copies.values()))
    return {request: replies[copy] for request, copy in copies.items()}


def company(model: Predictor, cases: Sequence[Case], tolerance: float, anew: Anew) -> str:
    """Return how the replies to near-copies depend on what is asked beside them; empty if they do not.

    Args:
        model: the model; its exceptions pass through.
        cases: the cases whose requests are copied: two of each kind and number of requests; others fill the groups.
        tolerance: see ``rounds.compare``.
        anew: what of a request is new.

    Cost: for two cases of two requests, twenty calls of one request and five of up to 24.
    """
    bases = _bases(cases)
    first = dict.fromkeys(one for some in bases for one in some)
    texts = set(map(text_of, first))
    others = (one for case in cases for one in case.requests if text_of(one) not in texts)
    asked = list(dict.fromkeys((*first, *others)))[:_GROUP]
    alone: dict[Request, list[Prediction]] = {one: [] for some in bases for one in some if one in asked}
    grouped: dict[Request, list[Prediction]] = {one: [] for one in alone}
    orders = [generator(f"near-copies:{place}").permutation(2 * _ALONE).tolist() for place in range(len(asked))]
    for turn in range(_ALONE):
        together = [near_copy(one, orders[place][turn], anew, place) for place, one in enumerate(asked)]
        replies = model.predict(together)
        for place, (one, copy) in enumerate(zip(asked, together, strict=True)):
            if one in alone:
                by_itself = near_copy(one, orders[place][_ALONE + turn], anew, place)
                alone[one].append(model.predict([by_itself])[by_itself])
                grouped[one].append(replies[copy])
    for some in bases:
        known = [one for one in some if one in alone and _all_replied((*alone[one], *grouped[one]))]
        apart = sum(_apart(alone[one], grouped[one], tolerance) for one in known)
        if known and _tail(apart, len(known)) < _LEVEL:
            return (
                f"{len(known)} requests were asked anew in {_ALONE} near-copies alone and {_ALONE} in a group, and "
                f"{apart} of them get other replies in a group than alone, which a memory of earlier replies may hide"
            )
    return ""


def _bases(cases: Sequence[Case]) -> list[list[Request]]:
    """The requests of the first cases of each kind and number of requests."""
    chosen: dict[tuple[type, int], list[Case]] = {}
    for case in cases:
        chosen.setdefault((type(case.requests[0]), len(case.requests)), []).append(case)
    requests = ([one for case in some[:_CASES] for one in case.requests] for some in chosen.values())
    return [list(dict.fromkeys(some))[:_COPIED] for some in requests]


def _all_replied(replies: Sequence[Prediction]) -> bool:
    return all(reply.problem is None for reply in replies)


def _apart(alone: Sequence[Prediction], grouped: Sequence[Prediction], tolerance: float) -> bool:
    """Whether all replies alone differ from all in a group in one direction, or are the same and other ones."""
    a, b = ([reply.score for reply in some if reply.score is not None] for some in (alone, grouped))
    if a and b:
        allowed = tolerance * max(1.0, *map(abs, (*a, *b)))
        return max(a) + allowed < min(b) or max(b) + allowed < min(a)
    one, other = ({(reply.answer, reply.accepted) for reply in some} for some in (alone, grouped))
    return len(one) == len(other) == 1 and one != other


def _tail(k: int, n: int) -> float:
    """The probability that at least k of n requests stand apart by chance."""
    return sum(comb(n, j) * _BY_CHANCE**j * (1 - _BY_CHANCE) ** (n - j) for j in range(k, n + 1))
