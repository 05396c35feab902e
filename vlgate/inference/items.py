"""What an item that a model is asked is: its images, its text, and what tells it from every other item."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from vlgate.types import Ask, Compare, LazyImage, Match, images_of, text_of, with_images


def images_in(item: object) -> tuple[LazyImage, ...]:
    """Return the images of an item, in their order; none for a text."""
    if isinstance(item, Match | Ask | Compare):
        return images_of(item)
    return (item,) if isinstance(item, LazyImage) else ()


def with_images_in(item: object, change: Callable[[LazyImage], LazyImage]) -> object:
    """Return an item with each of its images changed."""
    if isinstance(item, Match | Ask | Compare):
        return with_images(item, change)
    return change(item) if isinstance(item, LazyImage) else item


def text_in(item: object) -> str:
    """Return the text of an item; empty if it has none."""
    if isinstance(item, Match | Ask | Compare):
        return text_of(item)
    return item if isinstance(item, str) else ""


def told(item: object, images: Mapping[LazyImage, bytes]) -> bytes | None:
    """Return what an item is, as bytes of which no two are equal; None if an image cannot be read."""
    if isinstance(item, Match):  # the most frequent kind
        digest = images.get(item.image)
        return None if digest is None else b"m" + digest + as_bytes(item.text)
    if isinstance(item, str):
        return b"t" + as_bytes(item)
    digests = [images.get(image) for image in images_in(item)]
    known = b"".join(one for one in digests if one is not None)
    if not digests or None in digests:
        return None
    if isinstance(item, LazyImage):
        return b"i" + known
    if isinstance(item, Compare):
        return b"c%d:" % len(digests) + known + as_bytes(repr((item.question, item.choices)))
    return b"a" + known + as_bytes(repr((item.question, item.choices)) if isinstance(item, Ask) else repr(item))


def named(item: object, called: str) -> Hashable:
    """Return what an item is in this run: equal if its images' names and paths and its text are."""
    if isinstance(item, LazyImage):
        return called, item.key, item.where
    if isinstance(item, Compare):
        return called, tuple((image.key, image.where) for image in item.images), item.question, item.choices
    return (
        (called, item.image.key, item.image.where, item.question, item.choices)
        if isinstance(item, Ask)
        else (called, item)
    )


def as_bytes(text: str) -> bytes:
    """Return a text as bytes; two texts never give the same ones."""
    return text.encode(errors="surrogatepass")
