"""A caller that remembers: no item reaches a method of the model twice, in a run or, with a cache, ever again.

It stands between the predictor and a ``Caller``. It keeps exactly what the model replied, so a later run gets the same
numbers as the run that asked; the items that it lacks are asked in batches of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from typing import Any, TypeVar, cast

from vlgate.asking.batching import Caller, Problem
from vlgate.asking.call_limit import Watch
from vlgate.asking.dedupe import WatchedLoad
from vlgate.asking.image_identity import DIGEST, Identities
from vlgate.asking.items import as_bytes, images_in, named, text_in, told
from vlgate.asking.memory import Memory, packed, says_neither, unpacked
from vlgate.errors import ImageError, NotRememberedError
from vlgate.types import FloatArray, LazyImage, Match, TextKeys

Item = TypeVar("Item")
Reply = TypeVar("Reply")
_PLAIN = (bytes, str, int, tuple)  # kinds of text keys that are the same in every process


def _always() -> bool:
    return True


@dataclass(slots=True, kw_only=True)
class Counts:
    """How many items a process asked the model, and how many replies it took from the cache and from its memory."""

    asked: int = 0
    cached: int = 0
    repeated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedCaller:
    """Calls a model's methods for the items that it has no reply of; like ``Caller`` in every other way.

    ``model`` is a digest of everything but the item that a reply depends on. ``opens_images`` is False for a model that
    reads features of images from files. ``note`` is for the user. If ``asks`` is False, an item without a reply raises
    NotRememberedError. ``ready`` is called before the model is asked; ``loaded`` says whether the model is there.
    """

    inner: Caller
    memory: Memory
    identities: Identities
    model: bytes
    opens_images: bool = True
    note: str = ""
    asks: bool = True
    ready: Callable[[], object] = bool
    loaded: Callable[[], bool] = _always
    counts: Counts = field(default_factory=Counts)
    cut: set[str] = field(default_factory=set)
    unsure: set[Match] = field(default_factory=set)

    @property
    def bare(self) -> Caller:
        """The caller that asks the model everything."""
        return self.inner

    @property
    def size(self) -> int:
        """The largest number of items per call."""
        return self.inner.size

    @property
    def watch(self) -> Watch:
        """What limits the time of a call."""
        return self.inner.watch

    @property
    def recalling(self) -> CachedCaller:
        """The same memory without the model, and with counts of its own."""
        return replace(self, asks=False, counts=Counts())

    @property
    def uncounted(self) -> CachedCaller:
        """The same memory and model, with counts of its own."""
        return replace(self, counts=Counts())

    def close(self) -> None:
        """Close the cache; the caller must not be used any more."""
        if self.memory.store is not None:
            self.memory.store.close()

    def numbers(
        self, items: Sequence[Item], method: Callable[[Sequence[Item]], object], called: str, *, nan: bool = False
    ) -> list[float | Problem]:
        """Return one number or problem per item; see ``Caller.numbers``."""
        return self._replies(items, method, called, lambda some: self.inner.numbers(some, method, called, nan=nan))

    def rows(
        self, items: Sequence[Item], method: Callable[[Sequence[Item]], object], called: str
    ) -> list[FloatArray | Problem]:
        """Return one row of features or problem per item; see ``Caller.rows``."""
        return self._replies(items, method, called, lambda some: self.inner.rows(some, method, called))

    def strings(
        self, items: Sequence[Item], method: Callable[[Sequence[Item]], object], called: str
    ) -> list[str | Problem]:
        """Return one string or problem per item; see ``Caller.strings``."""
        return self._replies(items, method, called, lambda some: self.inner.strings(some, method, called))

    def text_keys(self, model: object, texts: Iterable[str]) -> Mapping[str, Hashable]:
        """Return what each text is to a model that tells its tokens; see ``Caller.text_keys``."""
        if not isinstance(model, TextKeys):
            return {}
        distinct = list(dict.fromkeys(texts))
        keys = {text: self._key("text_keys", b"t" + as_bytes(text)) for text in distinct}
        found, _ = self.memory.get(keys.values())
        missing = [text for text in distinct if keys[text] not in found]
        if missing:
            self._must_ask(len(missing))
            told = self.inner.keys_of(model, missing)
            if not all(isinstance(one, _PLAIN) for one in told):
                return self.inner.text_keys(model, distinct)
            cut = self.inner.cut_texts(model)
            digests = [blake2b(repr(one).encode(errors="surrogatepass"), digest_size=DIGEST).digest() for one in told]
            values = {keys[text]: bytes([text in cut]) + one for text, one in zip(missing, digests, strict=True)}
            found |= self.memory.put(values)
        self.cut.update(text for text in distinct if found[keys[text]][0])
        return {text: found[keys[text]][1:] for text in distinct}

    def cut_texts(self, model: object) -> AbstractSet[str]:
        """Return the texts so far that a model did not read to the end, now or when it was asked."""
        cut = self.inner.cut_texts(model)
        return cut | self.cut if cut and self.cut else cut or self.cut

    def neither(self, model: object, requests: Iterable[object]) -> AbstractSet[object]:
        """Return the pairs among some requests whose answer probably begins with neither yes nor no, now or before."""
        requests = list(requests)
        return self.inner.neither(model, requests) | (self.unsure.intersection(requests) if self.unsure else set())

    def _replies(
        self,
        items: Sequence[Item],
        method: Callable[[Sequence[Item]], object],
        called: str,
        ask: Callable[[Sequence[Item]], Sequence[Reply | Problem]],
    ) -> list[Reply | Problem]:
        keys = self._keys(items, called)
        compared = any(type(image.load) is WatchedLoad for item in items for image in images_in(item))
        if not compared and self._all_new(keys):
            asked = self._asked(items, ask)
            self._keep(self._entries(range(len(items)), items, keys, asked, method))
            return list(asked)
        found, stored = self.memory.get([key for key in keys if key is not None])
        first: dict[object, int] = {}  # the place of the first item without a reply, by key; without a key, by place
        for place, key in enumerate(keys):
            if key is None or key not in found:
                first.setdefault(place if key is None else key, place)
        places = list(first.values())
        self.counts.cached += stored
        self.counts.repeated += len(found) - stored
        asked = self._asked([items[place] for place in places], ask)
        found |= self._keep(self._entries(places, items, keys, asked, method))
        if compared:
            found |= self.memory.put(self._pixels_seen([items[place] for place in places], called))
        if compared:
            self._see_pixels([item for item, key in zip(items, keys, strict=True) if key in found], called)
        new = dict(zip(first, asked, strict=True))
        return [
            new[place if key is None else key] if key is None or key not in found else self._reply(item, found[key])
            for place, (item, key) in enumerate(zip(items, keys, strict=True))
        ]

    def _keep(self, replies: Mapping[Hashable, bytes]) -> Mapping[Hashable, bytes]:
        """Keep the replies to items by their keys; return them, each as it was first kept."""
        if not replies:
            return {}
        self.memory.replies += len(replies)
        return self.memory.put(replies)

    def _all_new(self, keys: Sequence[Hashable]) -> bool:
        """Whether no reply is there and no key repeats; without a cache, this is the rule."""
        return self.memory.store is None and not self.memory.holds_any(keys) and len(set(keys)) == len(keys)

    def _entries(
        self,
        places: Sequence[int],
        items: Sequence[Item],
        keys: Sequence[Hashable],
        asked: Sequence[Reply | Problem],
        method: Callable[[Sequence[Item]], object],
    ) -> dict[Hashable, bytes]:
        """The replies to the items at some places as bytes, by their keys."""
        model = getattr(method, "__self__", None)
        cut = self.inner.cut_texts(model)
        unsure = self.inner.neither(model, map(items.__getitem__, places))
        return {
            key: packed(
                cast("float | str | FloatArray", reply),
                cut=bool(cut) and text_in(items[place]) in cut,
                neither=items[place] in unsure,
            )
            for place, reply in zip(places, asked, strict=True)
            if (key := keys[place]) is not None and not isinstance(reply, Problem)
        }

    def _asked(
        self, items: Sequence[Item], ask: Callable[[Sequence[Item]], Sequence[Reply | Problem]]
    ) -> Sequence[Reply | Problem]:
        if not items:
            return []
        self._must_ask(len(items))
        self.counts.asked += len(items)
        return ask(items)

    def _must_ask(self, n: int) -> None:
        if not self.asks:
            raise NotRememberedError(f"{n} items have no reply yet")
        self.ready()

    def _reply(self, item: object, value: bytes) -> Any:
        """The reply in a record: of the type that the method returns, because the method is part of the key."""
        reply, cut = unpacked(value)
        if cut:
            self.cut.add(text_in(item))
        if isinstance(item, Match) and says_neither(value):
            self.unsure.add(item)
        return reply

    def _keys(self, items: Sequence[object], called: str) -> Sequence[Hashable]:
        """The key of each item; None if its image cannot be read."""
        if self.identities.by_name:
            return [
                (called, one.image.key, one.image.where, one.text) if type(one) is Match else named(one, called)
                for one in items
            ]
        images = self.identities.of(image for item in items for image in images_in(item))
        return [None if (said := told(item, images)) is None else self._key(called, said) for item in items]

    def _key(self, called: str, told: bytes) -> bytes:
        key = _begun(self.model, called).copy()
        key.update(told)
        return key.digest()

    def _pixel_keys(self, items: Iterable[object], called: str) -> dict[LazyImage, bytes]:
        """The keys of the digests of the pixels of those images that must be compared."""
        watched = [image for item in items for image in images_in(item) if _watched(image) is not None]
        images = self.identities.of(watched) if watched and self.opens_images else {}
        return {image: self._key(called, b"p" + one) for image, one in images.items()}

    def _pixels_seen(self, items: Iterable[object], called: str) -> dict[Hashable, bytes]:
        """The digests of the pixels that the model loaded in a call, empty for an image that it did not load."""
        return {
            key: load.digests.get(load.made, b"")
            for image, key in self._pixel_keys(items, called).items()
            if (load := _watched(image)) is not None
        }

    def _see_pixels(self, items: Iterable[object], called: str) -> None:
        """Note the pixels of the images that the model did not load, because their replies were there."""
        keys = {
            image: key
            for image, key in self._pixel_keys(items, called).items()
            if (load := _watched(image)) is not None and load.made not in load.digests
        }
        found, _ = self.memory.get(keys.values())
        new: dict[bytes, bytes] = {}
        for image, key in keys.items():
            load = _watched(image)
            if load is not None and found.get(key):
                load.digests[load.made] = found[key]
            elif load is not None and key not in found and _loaded(image):
                new[key] = load.digests[load.made]
        if new:
            self.memory.put(new)


@cache
def _begun(model: bytes, called: str) -> blake2b:
    """The hash of a key as far as all items of a method share it; the caller copies it."""
    return blake2b(called.encode() + b"\0", digest_size=DIGEST, key=model)


def _loaded(image: LazyImage) -> bool:
    try:
        image.load()
    except ImageError:
        return False
    return True


def _watched(image: LazyImage) -> WatchedLoad | None:
    return image.load if isinstance(image.load, WatchedLoad) else None
