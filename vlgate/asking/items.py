"""An item that a model is asked: its images, its text, its anonymous copies, and the hashed order of the items."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from os import urandom
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from vlgate.errors import NoReplyError, VlgateError, short
from vlgate.types import (
    Ask,
    Batch,
    Case,
    Compare,
    LazyImage,
    Match,
    Matches,
    Read,
    Request,
    images_of,
    match_of,
    text_of,
    with_images,
)

if TYPE_CHECKING:
    from PIL.Image import Image


# A model gets copies of items, made in the order in which it is asked. The objects of a source would tell more than
# the images and the texts: a caption is read before its foil, so its address is lower; a key names the perturbation.

Item = TypeVar("Item")
_KEY = 8  # bytes of a key that says nothing: two of a million images share one with a probability of 3e-8
_OPAQUE = re.compile(r"\b[0-9a-f]{16}\b")
_new = object.__new__  # the constructors of frozen dataclasses take twice as long
_set_key, _set_load, _set_where = (LazyImage.__dict__[name].__set__ for name in ("key", "load", "where"))


def images_in(item: object) -> tuple[LazyImage, ...]:
    if isinstance(item, Match):
        return (item.image,)
    if isinstance(item, Ask | Compare):
        return images_of(item)
    return (item,) if isinstance(item, LazyImage) else ()


def shows_all(case: Case) -> bool:
    return all(image.is_there for image in images_of_case(case))


def images_of_case(case: Case) -> tuple[LazyImage, ...]:
    if isinstance(case.requests, Matches):
        return (case.requests.image,)
    return tuple(dict.fromkeys(image for request in case.requests for image in images_of(request)))


def requests_of(cases: Iterable[Case]) -> Iterator[Request]:
    return (request for case in cases for request in case.requests)


def case_with(case: Case, shown: Callable[[LazyImage], LazyImage]) -> Case:
    return replace(case, requests=tuple(with_images(request, shown) for request in case.requests))


def saying(request: Request, text: str) -> Request:
    return replace(request, question=text) if isinstance(request, Ask | Compare) else replace(request, text=text)


def with_images_in(item: object, change: Callable[[LazyImage], LazyImage]) -> object:
    if isinstance(item, Match | Ask | Compare):
        return with_images(item, change)
    return change(item) if isinstance(item, LazyImage) else item


def text_in(item: object) -> str:
    if isinstance(item, Match | Ask | Compare):
        return text_of(item)
    return item if isinstance(item, str) else ""


def spoken(item: object) -> str:
    """Return an item as messages name it: its text, and the names of its images."""
    images = " and ".join(repr(short(image.key, 120)) for image in images_in(item))
    text = text_in(item)
    return " about ".join(filter(None, (repr(short(text, 120)) if text else "", images)))


def told(item: object, images: Mapping[LazyImage, bytes]) -> bytes | None:
    """What an item is, as bytes of which no two are equal; None if an image cannot be read."""
    if isinstance(item, Match):  # the most frequent kind
        digest = images.get(item.image)
        return None if digest is None else b"m" + digest + as_bytes(item.text)
    if isinstance(item, str):
        return b"t" + as_bytes(item)
    digests = [images.get(image) for image in images_in(item)]
    known = b"".join(digest for digest in digests if digest is not None)
    if not digests or None in digests:
        return None
    if isinstance(item, LazyImage):
        return b"i" + known
    content = as_bytes(repr((item.question, item.choices)) if isinstance(item, Ask | Compare) else repr(item))
    return (b"c%d:" % len(digests) if isinstance(item, Compare) else b"a") + known + content


def named(item: object, called: str) -> Hashable:
    """What an item is in this run: equal if its images' names and paths and its text are."""
    if type(item) is Match:  # the most frequent kind, which the case holds anyway
        return item if called == "match" else (called, item)
    if isinstance(item, LazyImage):
        return called, item.key, item.where
    if isinstance(item, Compare):
        return called, tuple((image.key, image.where) for image in item.images), item.question, item.choices
    if isinstance(item, Ask):
        return called, item.image.key, item.image.where, item.question, item.choices
    return called, item


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def copied(text: str) -> str:
    """An equal text that is another object, with an address and a size of its own.

    >>> text = "A red cup."
    >>> copied(text) == text, copied(text) is text
    (True, False)
    """
    return (text + " ")[:-1]


def gets_names(model: object) -> bool:
    """Whether a model declares that it needs the names of images, by an attribute ``image_names``."""
    return getattr(model, "image_names", False) is True


class Opener:
    """The ``load`` of an image that a model gets: it returns the pixels, and has no attributes."""

    __slots__ = ("__weakref__",)

    def __call__(self) -> Image:
        from PIL.Image import Image

        loaded = _LOADS[self]()
        own: object = loaded
        # traces of the origin do not reach the model: a file's format, or memory that cannot be written
        if isinstance(own, Image) and (type(own) is not Image or own.readonly or own.info):
            loaded = own.copy()
            loaded.info.clear()
        return loaded

    def __reduce__(self) -> tuple[Any, ...]:
        return _opener, (_LOADS[self],)


_LOADS: WeakKeyDictionary[Opener, Callable[[], Image]] = WeakKeyDictionary()
"""What each opener loads; beside the openers, because a model may look at what it is given."""


def _opener(load: Callable[[], Image]) -> Opener:
    made = Opener()
    _LOADS[made] = load
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Makes the copies of items that a model gets; with ``names`` it gets the keys, paths and loaders as they are."""

    # Else the key of an image is a salted hash of its key and path: equal for equal images as long as the process runs,
    # and another one in each process.

    names: bool = True
    salt: bytes = field(default_factory=lambda: urandom(16))

    def of(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Copies of items, in the same order; equal images are one object."""
        made: dict[LazyImage, LazyImage] = {}

        def _shown(image: LazyImage) -> LazyImage:
            if (copy := made.get(image)) is None:
                copy = made[image] = self.image(image)
            return copy

        return cast("tuple[Item, ...]", tuple([_copy(item, _shown) for item in items]))

    def image(self, image: LazyImage) -> LazyImage:
        copy: LazyImage = _new(LazyImage)
        if self.names:
            _set_key(copy, copied(image.key))
            _set_where(copy, copied(image.where))
            _set_load(copy, image.load)
        else:
            _set_key(copy, self.key(image))
            _set_where(copy, "")
            _set_load(copy, _opener(image.load))
        return copy

    def key(self, image: LazyImage) -> str:
        """The key that a model gets in place of an image's name: 16 hexadecimal digits."""
        named = f"{len(image.key)} {image.key}{image.where}"
        return blake2b(as_bytes(named), digest_size=_KEY, key=self.salt).hexdigest()

    def name(self, error: BaseException, items: Iterable[object]) -> None:
        """Put the names of images back into an error that names them by the keys that the model got."""
        if self.names or (not _OPAQUE.search(str(error)) and not isinstance(error, NoReplyError)):
            return
        names = {self.key(image): image.key for item in items for image in images_in(item)}
        if isinstance(error, VlgateError):
            named = partial(_OPAQUE.sub, lambda key: names.get(key[0], key[0]))
            error.args = tuple(named(part) if isinstance(part, str) else part for part in error.args)
            if isinstance(error, NoReplyError):
                error.reasons = {place: named(str(why)) for place, why in error.reasons.items()}
            return
        for key in dict.fromkeys(_OPAQUE.findall(str(error))):
            if key in names:
                error.add_note(f"{key} is {names[key]!r}: models get no names of images unless image_names = True")


def _copy(item: object, shown: Callable[[LazyImage], LazyImage]) -> object:
    if type(item) is Match:  # the most frequent kind
        return match_of(shown(item.image), copied(item.text))
    if isinstance(item, str):
        return copied(item)
    if isinstance(item, LazyImage):
        return shown(item)
    if isinstance(item, Ask):
        choices, aliases = (tuple(map(copied, some)) for some in (item.choices, item.aliases))
        return Ask(image=shown(item.image), question=copied(item.question), choices=choices, aliases=aliases)
    if isinstance(item, Compare):
        images, choices = tuple(map(shown, item.images)), tuple(map(copied, item.choices))
        return Compare(images=images, question=copied(item.question), choices=choices)
    return item


# The order in which requests reach a model. A case holds its true text before its false one. If a model saw requests in
# that order, scores that only follow the position would be right. A seeded hash of the image and the text decides the
# order instead.
#
# Requests about one image follow each other no more often than by chance: the answers to crossed questions about an
# image differ, so a model whose answers alternate would be right about each image half of the time. They stay near, in
# one block. In a call of a single case they are all there is: an alternating model is then right about a sixth of
# crossed questions, and guessing about a sixteenth.

Ordered = TypeVar("Ordered", Match, Ask, Compare, LazyImage, str)
BLOCK = 64
"""Requests about one image are in one block of this many, or two: its pixels are still there for the last of them."""
_NEAR = 1024  # images whose hash is kept, because cases of an image are mostly near each other in a file


def by_image(batches: Iterable[Batch]) -> list[Request]:
    """The distinct requests of batches, those about one image together, so that it is decoded and encoded once."""
    found: dict[object, dict[Request, None]] = {}
    for request in (request for batch in batches for request in requests_of(batch.cases)):
        found.setdefault(images_of(request) or request, {})[request] = None
    return [request for requests in found.values() for request in requests]


def hashed_order(items: Sequence[Ordered], seed: int | None) -> Sequence[int]:
    if seed is None or len(items) < 2:
        return range(len(items))
    return _order(((item.image.key, item.text) if type(item) is Match else _parts(item) for item in items), seed)


def hashed_cases(cases: Sequence[Case], seed: int) -> Sequence[int]:
    # A call may hold the requests of one case only. The cases of a file may alternate between true and false, so their
    # own order must tell nothing either. Those whose first requests are about the same image stay near each other.
    return _order(((_first_key(case), case.id) for case in cases), seed)


def _first_key(case: Case) -> str:
    return case.requests.image.key if isinstance(case.requests, Matches) else _parts(case.requests[0])[0]


def _order(parts: Iterable[tuple[str, str]], seed: int) -> Sequence[int]:
    # The hash of the image decides the block, the hash of both the place in it; pairs with equal ones keep their order.
    salt = seed.to_bytes(16, "big", signed=True)
    digest = lru_cache(_NEAR)(lambda name: blake2b(salt + as_bytes(name), digest_size=8).digest())
    of_image, of_both = bytearray(), bytearray()  # 8 bytes each
    for name, text in parts:
        image = digest(name)
        of_image += image
        of_both += blake2b(image + as_bytes(text), digest_size=8).digest()
    image_keys, keys = np.frombuffer(of_image, "<u8"), np.frombuffer(of_both, "<u8")
    places = np.lexsort((keys, image_keys))
    blocks = np.arange(len(places)) // BLOCK
    return places[np.lexsort((keys[places], blocks))].data


def _parts(item: Request | LazyImage | str) -> tuple[str, str]:
    # the key of an item's image, of several the smallest, so that questions about them in another order stay near
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
