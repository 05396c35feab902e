"""The step that remembers: no item reaches a method of the model twice, in a run or, with a cache, ever again.

It keeps exactly what the model replied, so a later run gets the same numbers as the run that asked. The items that it
lacks are asked in batches of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from typing import Any

from vlgate.asking.batching import Asking, Call, Caller, Problem, truncated_texts
from vlgate.asking.cache.store import Memory, packed, says_neither, unpacked
from vlgate.asking.dedupe import DIGEST, Identities, WatchedLoad
from vlgate.asking.items import as_bytes, images_in, named, text_in, told
from vlgate.errors import ImageError, NotRememberedError
from vlgate.types import LazyImage, Match, TextKeys

_PLAIN = (bytes, str, int, tuple)  # kinds of text keys that are the same in every process


@dataclass(slots=True, kw_only=True)
class Counts:
    asked: int = 0
    cached: int = 0
    repeated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCache:
    # ``model`` is a digest of everything but the item that a reply depends on. ``opens_images`` is False for a model
    # that reads features of images from files. ``note`` is for the user. If ``asks`` is False, an item without a reply
    # raises NotRememberedError. ``ready`` is called before the model is asked; ``loaded`` says whether the model is
    # there. ``cut`` and ``unsure`` hold ``Prediction.cut`` and ``Prediction.neither`` of remembered replies.
    # ``repeated``: the hashes of the pairs whose scores are remembered; None if all are.

    memory: Memory
    identities: Identities
    model: bytes
    opens_images: bool = True
    repeated: frozenset[int] | None = None
    note: str = ""
    asks: bool = True
    ready: Callable[[], object] = bool
    loaded: Callable[[], bool] = lambda: True
    counts: Counts = field(default_factory=Counts)
    cut: set[str] = field(default_factory=set)
    unsure: set[Match] = field(default_factory=set)

    @property
    def recalling(self) -> ReplyCache:
        return replace(self, asks=False, counts=Counts())

    @property
    def uncounted(self) -> ReplyCache:
        return replace(self, counts=Counts())

    def close(self) -> None:
        if self.memory.store is not None:
            self.memory.store.close()

    def __call__(self, caller: Caller, then: Asking, call: Call, items: Sequence[Any]) -> list[Any]:
        keys = self._keys(items, call.called)
        compared = any(type(image.load) is WatchedLoad for item in items for image in images_in(item))
        # without a cache, this is the rule: no reply is there and no key repeats
        fresh = self.memory.store is None and not self.memory.holds_any(keys)
        if fresh and not compared and len(set(keys)) == len(keys):
            known: dict[Hashable, bytes] = {}
            first: dict[Hashable, int] = {}
            new_items, new_keys = items, keys
        else:
            known, stored = self.memory.get([key for key in keys if key is not None])
            self.counts.cached += stored
            self.counts.repeated += len(known) - stored
            # the place of the first item without a reply, by key; of one without a key, by its place
            first = {}
            for index, key in enumerate(keys):
                if key is None or key not in known:
                    first.setdefault(index if key is None else key, index)
            new_items, new_keys = ([some[place] for place in first.values()] for some in (items, keys))
        replies: list[Any] = []
        if new_items:
            self._must_ask(len(new_items))
            self.counts.asked += len(new_items)
            replies = then(call, new_items)
        kept = self._keep(caller, call, new_items, new_keys, replies)
        if new_items is items:
            return replies
        known |= kept
        if compared:
            # of an image that the model did not load, the digest is empty
            seen = self._watched_images(new_items, call.called).values()
            known |= self.memory.put({key: load.digests.get(load.made, b"") for key, load in seen})
            self._see_pixels([item for item, key in zip(items, keys, strict=True) if key in known], call.called)
        new = dict(zip(first, replies, strict=True))
        return [
            new[index if key is None else key] if key is None or key not in known else self._reply(item, known[key])
            for index, (item, key) in enumerate(zip(items, keys, strict=True))
        ]

    def text_keys(self, caller: Caller, model: object, texts: Iterable[str]) -> Mapping[str, Hashable]:
        if not isinstance(model, TextKeys):
            return {}
        distinct = list(dict.fromkeys(texts))
        keys = {text: self._key("text_keys", b"t" + as_bytes(text)) for text in distinct}
        known, _ = self.memory.get(keys.values())
        missing = [text for text in distinct if keys[text] not in known]
        if missing:
            self._must_ask(len(missing))
            tokens = caller.keys_of(model, missing)
            if not all(isinstance(token, _PLAIN) for token in tokens):
                return caller.text_keys(model, distinct)
            cut = truncated_texts(model)
            digests = [blake2b(as_bytes(repr(token)), digest_size=DIGEST).digest() for token in tokens]
            values = {keys[text]: bytes([text in cut]) + digest for text, digest in zip(missing, digests, strict=True)}
            known |= self.memory.put(values)
        self.cut.update(text for text in distinct if known[keys[text]][0])
        return {text: known[keys[text]][1:] for text in distinct}

    def _keep(
        self, caller: Caller, call: Call, items: Sequence[Any], keys: Sequence[Hashable], replies: Sequence[Any]
    ) -> Mapping[Hashable, bytes]:
        model = getattr(call.method, "__self__", None)
        cut = truncated_texts(model)
        unsure = caller.neither(model, items)
        values = {
            key: packed(reply, cut=bool(cut) and text_in(item) in cut, neither=bool(unsure) and item in unsure)
            for item, key, reply in zip(items, keys, replies, strict=True)
            if key is not None
            and not isinstance(reply, Problem)
            and (self.repeated is None or type(item) is not Match or hash(item) in self.repeated)
        }
        self.memory.replies += len(values)
        return self.memory.put(values) if values else {}

    def _must_ask(self, n: int) -> None:
        if not self.asks:
            raise NotRememberedError(f"{n} items have no reply yet")
        self.ready()

    def _reply(self, item: object, value: bytes) -> Any:
        # of the type that the method returns, because the method is part of the key
        reply, cut = unpacked(value)
        if cut:
            self.cut.add(text_in(item))
        if isinstance(item, Match) and says_neither(value):
            self.unsure.add(item)
        return reply

    def _keys(self, items: Sequence[object], called: str) -> Sequence[Hashable]:
        if self.identities.by_name:
            return [named(item, called) for item in items]
        images = self.identities.of(image for item in items for image in images_in(item))
        return [None if (said := told(item, images)) is None else self._key(called, said) for item in items]

    def _key(self, called: str, told: bytes) -> bytes:
        key = _begun(self.model, called).copy()
        key.update(told)
        return key.digest()

    def _watched_images(self, items: Iterable[object], called: str) -> dict[LazyImage, tuple[bytes, WatchedLoad]]:
        loads = {image: image.load for item in items for image in images_in(item)}
        watched = {image: load for image, load in loads.items() if isinstance(load, WatchedLoad)}
        images = self.identities.of(watched) if watched and self.opens_images else {}
        return {image: (self._key(called, b"p" + one), watched[image]) for image, one in images.items()}

    def _see_pixels(self, items: Iterable[object], called: str) -> None:
        """Note the pixels of the images that the model did not load, because their replies were there."""
        watched = self._watched_images(items, called)
        unseen = {image: (key, load) for image, (key, load) in watched.items() if load.made not in load.digests}
        found, _ = self.memory.get(key for key, _ in unseen.values())
        new: dict[bytes, bytes] = {}
        for image, (key, load) in unseen.items():
            if found.get(key):
                load.digests[load.made] = found[key]
            elif key not in found:
                with suppress(ImageError):
                    image.load()
                    new[key] = load.digests[load.made]
        if new:
            self.memory.put(new)


@cache
def _begun(model: bytes, called: str) -> blake2b:
    # the hash of a key as far as all items of a method share it; the caller copies it
    return blake2b(called.encode() + b"\0", digest_size=DIGEST, key=model)
