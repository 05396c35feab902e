"""The first step to a model: requests that are the same to it are asked once, in a hashed order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from vlgate.asking.batching import Asking, Call, Caller, Problem
from vlgate.asking.items import Ordered, hashed_order, images_in, with_images_in
from vlgate.types import Ask, Compare, LazyImage, Match, images_of, text_of

if TYPE_CHECKING:
    from PIL.Image import Image

# Requests that are the same to a model get exactly the same reply, in whatever batch they stand.
#
# Two texts may have the same tokens, because a tokenizer ignores case or cuts at the model's context. Two images may
# have the same pixels, such as a photograph and its crop to a box that holds all of it. In batches of different shapes
# their scores would differ by rounding, and a tie would be a win for one of them by chance.

Reply = TypeVar("Reply")


def keys_of(requests: Sequence[Match | Ask | Compare], texts: Mapping[str, Hashable]) -> list[Hashable]:
    """What each request is to a model apart from its images; ``texts`` holds the keys of ``text_keys``."""
    keys = [texts.get(text, text) for text in map(text_of, requests)]
    return [
        key if isinstance(request, Match) else (key, request.choices)
        for request, key in zip(requests, keys, strict=True)
    ]


def asked_the_same(requests: Sequence[Match | Ask | Compare], keys: Sequence[Hashable]) -> set[LazyImage]:
    """The images about which a model is asked the same as about another one."""
    first: dict[Hashable, tuple[LazyImage, ...]] = {}
    compared: set[LazyImage] = set()
    for request, key in zip(requests, keys, strict=True):
        own = images_of(request)
        images = first.setdefault(key, own)
        if images is not own and images != own:
            compared.update(images, own)
    return compared


def pixel_digest(image: Image) -> bytes:
    # 16 bytes that differ between images with different pixels
    return blake2b(image.tobytes(), digest_size=16, key=repr(image.size).encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLoad:
    """Loads an image as it is, and notes a digest of its pixels; ``made`` is the image."""

    made: LazyImage
    digests: dict[LazyImage, bytes]

    def __call__(self) -> Image:
        loaded = self.made.load()
        self.note(loaded)
        return loaded

    def note(self, loaded: Image) -> None:
        self.digests[self.made] = pixel_digest(loaded)


@dataclass(frozen=True, slots=True)
class SeenPixels:
    """Notes the pixels of the images that a model loads, so that images with equal ones get the same reply."""

    # Nothing is decoded for it: the digest is made when the model loads the image, in the model's own thread.

    digests: dict[LazyImage, bytes] = field(default_factory=dict)

    def watched_in(self, items: Sequence[Ordered], compared: Iterable[LazyImage]) -> Sequence[Ordered]:
        """The same items; the pixels of the images that are ``compared`` are noted when they are loaded."""
        watched = {image: replace(image, load=WatchedLoad(made=image, digests=self.digests)) for image in compared}
        if not watched:
            return items
        return [
            with_images_in(item, lambda image: watched.get(image, image))  # type: ignore[misc]
            if not watched.keys().isdisjoint(images_in(item))
            else item
            for item in items
        ]

    def levelled(
        self, items: Sequence[object], replies: Sequence[Reply | Problem], keys: Sequence[Hashable]
    ) -> list[Reply | Problem]:
        """Give items with equal pixels and equal ``keys`` the reply of the first of them; a problem stays as it is."""
        if len(set(self.digests.values())) == len(self.digests):
            return list(replies)
        first: dict[Hashable, Reply | Problem] = {}
        levelled: list[Reply | Problem] = []
        for item, key, reply in zip(items, keys, replies, strict=True):
            images = images_in(item)
            if isinstance(reply, Problem) or not self.digests.keys() >= set(images):
                levelled.append(reply)
            else:
                levelled.append(first.setdefault((*map(self.digests.__getitem__, images), key), reply))
        return levelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """A step for n distinct items: each of those that are the same to the model is asked once, in a hashed order."""

    # It is made once for all methods that are asked about the items. ``keys`` are what each is to the model apart from
    # its images, ``asked`` those that are asked, with noted ``pixels``. ``places`` are those of the n replies among the
    # replies to ``asked``; None if they are in one order.

    keys: Sequence[Hashable]
    asked: Sequence[Any]
    places: Sequence[int] | None
    pixels: SeenPixels

    def __call__(self, _: Caller, then: Asking, call: Call, items: Sequence[Any]) -> list[Any]:
        replies = then(call, self.asked)
        if self.places is not None:
            replies = [replies[place] for place in self.places]
        return self.pixels.levelled(items, replies, self.keys)


def arranged(
    items: Sequence[Ordered],
    keys: Sequence[Hashable],
    seed: int | None,
    *,
    compared: Iterable[LazyImage] = (),
    dedupe: bool = False,
) -> Arranged:
    """Arrange n distinct items; ``seed`` is that of the order, None keeps it."""
    # With ``dedupe``, items of equal images and ``keys`` are asked once. The pixels of the images ``compared`` are
    # noted.
    pixels = SeenPixels()
    watched = pixels.watched_in(items, compared)
    groups: Sequence[int] = range(len(items))  # the place in ``watched`` of the item that is asked for each
    if dedupe:
        first: dict[Hashable, int] = {}
        of_group: list[Ordered] = []
        whole = list(zip(map(images_in, items), keys, strict=True))
        for item, key in zip(watched, whole, strict=True):
            if key not in first:
                first[key] = len(of_group)
                of_group.append(item)
        watched, groups = of_group, [first[key] for key in whole]
    order = hashed_order(watched, seed)
    if order == groups:
        return Arranged(keys=keys, asked=watched, places=None, pixels=pixels)
    rank = dict(zip(order, range(len(order)), strict=True))
    places = [rank[group] for group in groups]
    return Arranged(keys=keys, asked=[watched[place] for place in order], places=places, pixels=pixels)
