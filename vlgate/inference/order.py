"""The order in which requests reach a model.

A case holds its true text before its false one. If a model saw requests in that order, scores that only follow the
position would be right. A seeded hash of the image and the text decides the order instead.

Requests about one image follow each other no more often than by chance: the answers to crossed questions about an
image differ, so a model whose answers alternate would be right about each image half of the time. They stay near, in
one block. In a call of a single case they are all there is: an alternating model is then right about a sixth of crossed
questions, and guessing about a sixteenth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from vlgate.types import Ask, Batch, Case, Compare, LazyImage, Match, Read, Request, images_of

Item = TypeVar("Item", Match, Ask, Compare, LazyImage, str)
Reply = TypeVar("Reply")
BLOCK = 64
"""Requests about one image are in one block of this many, or two: its pixels are still there for the last of them."""


def in_hashed_order(
    items: Sequence[Item], seed: int | None, ask: Callable[[Sequence[Item]], Sequence[Reply]]
) -> list[Reply]:
    """Call ``ask`` with the items in the order of a seeded hash.

    The items of one image stay near each other, so that its pixels are decoded once; see ``BLOCK``.

    Args:
        items: the items to ask.
        seed: the seed of the hash; None to keep the order of ``items``.
        ask: returns one reply per item.

    Returns: one reply per item, in the order of ``items``.

    >>> in_hashed_order(["a", "b", "c"], 0, lambda texts: [text.upper() for text in texts])
    ['A', 'B', 'C']
    """
    return reordered(items, hashed_order(items, seed), ask)


def reordered(
    items: Sequence[Item], places: Sequence[int], ask: Callable[[Sequence[Item]], Sequence[Reply]]
) -> list[Reply]:
    """Call ``ask`` with the items in the order of ``places``; return one reply per item, in the order of ``items``."""
    replies = ask([items[place] for place in places])
    found = dict(zip(places, replies, strict=True))
    return [found[place] for place in range(len(items))]


def by_image(batches: Iterable[Batch]) -> list[Request]:
    """Return the distinct requests of batches, those about one image together, so that it is decoded and encoded once.

    The images are in the order in which the batches first ask for them, whatever the task.
    """
    found: dict[object, dict[Request, None]] = {}
    for batch in batches:
        for case in batch.cases:
            for request in case.requests:
                about = images_of(request) or request
                found.setdefault(about, {})[request] = None
    return [request for some in found.values() for request in some]


def hashed_order(items: Sequence[Item], seed: int | None) -> Sequence[int]:
    """Return the positions of the items in the order of their hashes; items with equal hashes keep their order."""
    if seed is None or len(items) < 2:
        return range(len(items))
    return _order(((item.image.key, item.text) if type(item) is Match else _parts(item) for item in items), seed)


def hashed_cases(cases: Sequence[Case], seed: int) -> Sequence[int]:
    """Return the positions of cases in the order of hashes of their images and ids.

    A call may hold the requests of one case only. The cases of a file may alternate between true and false, so their
    own order must tell nothing either. Those whose first requests are about the same image stay near each other.
    """
    return _order(((_parts(case.requests[0])[0], case.id) for case in cases), seed)


def _order(parts: Iterable[tuple[str, str]], seed: int) -> list[int]:
    """The positions of pairs of an image's key and a text in the order of their hashes; equal ones keep their order.

    The hash of the image decides the block, the hash of both the place in it.
    """
    salt = seed.to_bytes(16, "big", signed=True)
    images: dict[str, bytes] = {}
    of_image, of_both = [], []
    for name, text in parts:
        image = images.get(name)
        if image is None:
            image = images[name] = blake2b(salt + name.encode(errors="surrogatepass"), digest_size=8).digest()
        of_image.append(image)
        of_both.append(blake2b(image + text.encode(errors="surrogatepass"), digest_size=8).digest())
    image_keys, keys = (np.frombuffer(b"".join(found), "<u8") for found in (of_image, of_both))
    places = np.lexsort((keys, image_keys))
    blocks = np.arange(len(places)) // BLOCK
    order: list[int] = places[np.lexsort((keys[places], blocks))].tolist()
    return order


def _parts(item: Request | LazyImage | str) -> tuple[str, str]:
    """The key of an item's image and the item's text; empty if it has none. Of several images it is the smallest key.

    So questions about the same images in another order stay near each other.
    """
    if isinstance(item, Compare):
        keys = [image.key for image in item.images]
        return min(keys), "\0".join((*keys, item.question, *item.choices))
    if isinstance(item, Match):
        return item.image.key, item.text
    if isinstance(item, Ask):
        return item.image.key, "\0".join((item.question, *item.choices))
    if isinstance(item, Read):
        return "", item.text
    return (item.key, "") if isinstance(item, LazyImage) else ("", item)
