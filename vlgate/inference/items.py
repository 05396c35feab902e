"""What an item that a model is asked is: its image, its text, and what tells it from every other item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from vlgate.inference.alike import text_of
from vlgate.types import Ask, LazyImage, Match


def image_of(item: object) -> LazyImage | None:
    """Return the image of an item; None if it has none."""
    if isinstance(item, Match | Ask):
        return item.image
    return item if isinstance(item, LazyImage) else None


def text_in(item: object) -> str:
    """Return the text of an item; empty if it has none."""
    if isinstance(item, Match | Ask):
        return text_of(item)
    return item if isinstance(item, str) else ""


def told(item: object, images: Mapping[LazyImage, bytes]) -> bytes | None:
    """Return what an item is, as bytes of which no two are equal; None if its image cannot be read."""
    if isinstance(item, Match):  # the most frequent kind
        digest = images.get(item.image)
        return None if digest is None else b"m" + digest + as_bytes(item.text)
    if isinstance(item, str):
        return b"t" + as_bytes(item)
    image = image_of(item)
    digest = None if image is None else images.get(image)
    if digest is None or isinstance(item, LazyImage):
        return None if digest is None else b"i" + digest
    return b"a" + digest + as_bytes(repr((item.question, item.choices)) if isinstance(item, Ask) else repr(item))


def named(item: object, called: str) -> Hashable:
    """Return what an item is in this run: equal if its image's name and path and its text are."""
    if isinstance(item, LazyImage):
        return called, item.key, item.where
    return (
        (called, item.image.key, item.image.where, item.question, item.choices)
        if isinstance(item, Ask)
        else (called, item)
    )


def as_bytes(text: str) -> bytes:
    """Return a text as bytes; two texts never give the same ones."""
    return text.encode(errors="surrogatepass")
