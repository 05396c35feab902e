"""Requests arranged for a model once, for all methods that are asked about them: compared, and in a hashed order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from vlgate.inference.alike import Pair, SeenPixels, keys_of
from vlgate.inference.batching import Problem
from vlgate.inference.order import hashed_order, reordered
from vlgate.types import images_of

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged(Generic[Pair]):
    """Requests in the order in which a model gets them.

    Attributes:
        requests: n requests.
        keys: what each is to the model apart from its images.
        whole: what each is to the model; None if no two are the same.
        watched: those that are asked, one for each of ``whole``; the pixels of some are noted.
        order: the places in ``watched`` in the order of the asking.
        pixels: the noted pixels.
    """

    requests: Sequence[Pair]
    keys: Sequence[Hashable]
    whole: Sequence[Hashable] | None
    watched: Sequence[Pair]
    order: Sequence[int]
    pixels: SeenPixels

    def ask(self, ask: Callable[[Sequence[Pair]], Sequence[Reply | Problem]]) -> list[Reply | Problem]:
        """Ask, and return one reply per request; those that are the same to the model get the same reply."""
        replies: Sequence[Reply | Problem] = reordered(self.watched, self.order, ask)
        if self.whole is not None:
            found = dict(zip(dict.fromkeys(self.whole), replies, strict=True))
            replies = [found[one] for one in self.whole]
        return self.pixels.levelled(map(images_of, self.requests), replies, self.keys)


def arranged(requests: Sequence[Pair], texts: Mapping[str, Hashable], seed: int | None) -> Arranged[Pair]:
    """Arrange distinct requests.

    Args:
        requests: the requests.
        texts: what each text is to the model; empty if distinct texts are distinct to it.
        seed: of the order; None to keep that of ``requests``.
    """
    pixels = SeenPixels()
    keys = keys_of(requests, texts)
    watched = pixels.watched_in(requests, keys)
    whole = list(zip(map(images_of, requests), keys, strict=True)) if texts else None
    if whole is not None:
        first = dict(zip(reversed(whole), reversed(watched), strict=True))
        watched = [first[one] for one in dict.fromkeys(whole)]
    order = hashed_order(watched, seed)
    return Arranged(requests=requests, keys=keys, whole=whole, watched=watched, order=order, pixels=pixels)
