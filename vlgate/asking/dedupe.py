"""Requests that are the same to a model are asked once; requests arranged in a hashed order for all its methods."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from vlgate.asking.batching import Problem
from vlgate.asking.items import hashed_order, reordered
from vlgate.types import Ask, Compare, LazyImage, Match, images_of, with_images

if TYPE_CHECKING:
    from PIL.Image import Image


# Requests that are the same to a model get exactly the same reply, in whatever batch they stand.
#
# Two texts may have the same tokens, because a tokenizer ignores case or cuts at the model's context. Two images may
# have the same pixels, such as a photograph and its crop to a box that holds all of it. In batches of different shapes
# their scores would differ by rounding, and a tie would be a win for one of them by chance.

Pair = TypeVar("Pair", Match, Ask, Compare)
Item = TypeVar("Item")
Reply = TypeVar("Reply")


def asked_once(
    items: Sequence[Item], keys: Sequence[Hashable], ask: Callable[[list[Item]], list[Reply]]
) -> list[Reply]:
    """Ask the first item of each key.

    Args:
        items: n items.
        keys: a key per item; equal keys mean that the items are the same to the model.
        ask: returns one reply per item.

    Returns: n replies; items with equal keys have the same one.

    >>> asked_once(["A dog", "a dog"], ["a dog", "a dog"], lambda texts: [text.upper() for text in texts])
    ['A DOG', 'A DOG']
    """
    first: dict[Hashable, Item] = {}
    for item, key in zip(items, keys, strict=True):
        first.setdefault(key, item)
    if len(first) == len(items):
        return ask(list(items))
    found = dict(zip(first, ask(list(first.values())), strict=True))
    return [found[key] for key in keys]


def keys_of(requests: Sequence[Match | Ask | Compare], texts: Mapping[str, Hashable]) -> list[Hashable]:
    """Return what each request is to a model apart from its images; ``texts`` holds the keys of ``text_keys``."""
    return [
        texts.get(one.text, one.text)
        if isinstance(one, Match)
        else (texts.get(one.question, one.question), one.choices)
        for one in requests
    ]


def asked_the_same(requests: Sequence[Match | Ask | Compare], keys: Sequence[Hashable]) -> set[LazyImage]:
    """Return the images about which a model is asked the same as about another one."""
    first: dict[Hashable, tuple[LazyImage, ...]] = {}
    compared: set[LazyImage] = set()
    for request, key in zip(requests, keys, strict=True):
        own = images_of(request)
        images = first.setdefault(key, own)
        if images is not own and images != own:
            compared.update(images, own)
    return compared


def pixel_digest(image: Image) -> bytes:
    """Return 16 bytes that differ between images with different pixels."""
    return blake2b(image.tobytes(), digest_size=16, key=repr(image.size).encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLoad:
    """Loads an image as it is, and notes a digest of its pixels; ``made`` is the image."""

    made: LazyImage
    digests: dict[LazyImage, bytes]

    def __call__(self) -> Image:
        """Return the image."""
        loaded = self.made.load()
        self.note(loaded)
        return loaded

    def note(self, loaded: Image) -> None:
        """Note the pixels of the image; see ``ahead.Noting``."""
        self.digests[self.made] = pixel_digest(loaded)


@dataclass(frozen=True, slots=True)
class SeenPixels:
    """Notes the pixels of the images that a model loads, so that images with equal ones get the same reply.

    Nothing is decoded for it: the digest is made when the model loads the image, in the model's own thread.
    """

    digests: dict[LazyImage, bytes] = field(default_factory=dict)

    def watched(self, image: LazyImage) -> LazyImage:
        """Return the same image, whose pixels are noted when it is loaded."""
        return replace(image, load=WatchedLoad(made=image, digests=self.digests))

    def watched_in(self, requests: Sequence[Pair], keys: Sequence[Hashable]) -> list[Pair]:
        """Return the same requests; images that are asked the same are noted when they are loaded.

        Only these can tie: nothing compares two texts about two images. ``keys`` holds what each request is to the
        model apart from its image.
        """
        compared = asked_the_same(requests, keys)
        if not compared:
            return list(requests)
        watched = {image: self.watched(image) for image in compared}
        return [
            cast("Pair", with_images(one, lambda image: watched.get(image, image)))
            if not watched.keys().isdisjoint(images_of(one))
            else one
            for one in requests
        ]

    def levelled(
        self,
        images: Iterable[tuple[LazyImage, ...]],
        replies: Sequence[Reply | Problem],
        keys: Sequence[Hashable] | None = None,
    ) -> list[Reply | Problem]:
        """Give items with equal pixels the reply of the first of them; a problem stays as it is.

        Args:
            images: the images of each of n items.
            replies: n replies.
            keys: what else a reply depends on, per item; None if it depends on nothing else.
        """
        if len(set(self.digests.values())) == len(self.digests):
            return list(replies)
        first: dict[Hashable, Reply | Problem] = {}
        return [
            reply
            if isinstance(reply, Problem) or not self.digests.keys() >= set(some)
            else first.setdefault((*map(self.digests.__getitem__, some), key), reply)
            for some, key, reply in zip(images, keys or [None] * len(replies), replies, strict=True)
        ]


# Requests arranged for a model once, for all methods that are asked about them: compared, and in a hashed order.


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
