"""Replies as bytes: the last ones in memory and, with a cache, all of them on disk."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

from vlgate.asking.cache.store import Store
from vlgate.types import FloatArray

Reply = float | str | FloatArray


_MARKS = {(False, False): b".", (True, False): b"!", (False, True): b"?", (True, True): b"&"}


def packed(reply: Reply, *, cut: bool = False, neither: bool = False) -> bytes:
    """A reply as bytes, with a mark of its kind; ``cut`` and ``neither`` are those of ``vlgate.types.Prediction``.

    >>> unpacked(packed(0.25)), unpacked(packed("yes", cut=True))
    ((0.25, False), ('yes', True))
    """
    mark = _MARKS[cut, neither]
    if isinstance(reply, str):
        return b"s" + mark + reply.encode()
    if isinstance(reply, float):
        return b"n" + mark + struct.pack("<d", reply)
    with np.errstate(over="ignore"):  # a number that float32 lacks is stored as float64
        halved = reply.astype("<f4")
    # a row of a float32 network takes 4 bytes a number, any other one 8
    exact = np.array_equal(halved.astype(np.float64), reply)
    return (b"h" if exact else b"r") + mark + (halved if exact else reply.astype("<f8")).tobytes()


def unpacked(value: bytes) -> tuple[Reply, bool]:
    """The reply that ``packed`` made bytes of, and whether its text was cut."""
    kind, cut, content = value[:1], value[1:2] in (b"!", b"&"), value[2:]
    if kind == b"s":
        return content.decode(), cut
    if kind == b"n":
        number: float = struct.unpack("<d", content)[0]
        return number, cut
    if kind in (b"h", b"r"):
        return np.frombuffer(content, dtype="<f4" if kind == b"h" else "<f8").astype(np.float64), cut
    raise ValueError(f"value={value[:8]!r}: not a reply")


def says_neither(value: bytes) -> bool:
    return value[1:2] in (b"?", b"&")


ROOM = 128 * 2**20
"""The bytes of replies that a process keeps in memory: 55,000 rows of 512 numbers, or 600,000 scores."""
ROOM_BESIDE_STORE = ROOM // 4  # with a cache, which has what is forgotten
Key = TypeVar("Key", bound=Hashable)
_COST = 200  # bytes of a key and its place, beside the value


@dataclass(slots=True, kw_only=True)
class Memory:
    """Values by key: the last ones in memory and, with a ``store``, all of them on disk, listed under ``model``."""

    # With a store, all keys are bytes. ``replies`` counts those of the values that are replies to items, whoever asked.

    store: Store | None = None
    model: str = ""
    room: int = ROOM
    replies: int = 0
    _recent: dict[Hashable, bytes] = field(default_factory=dict)
    _held: int = 0

    def holds_any(self, keys: Iterable[Hashable]) -> bool:
        return not self._recent.keys().isdisjoint(keys)

    def get(self, keys: Iterable[Key]) -> tuple[dict[Key, bytes], int]:
        """The values of the keys that are known, and how many of them are from the disk."""
        recent = self._recent
        found: dict[Key, bytes] = {}
        others: list[Key] = []
        for key in keys:
            value = recent.pop(key, None)
            if value is None:
                others.append(key)
            else:
                found[key] = recent[key] = value  # as the last one, which is forgotten last
        if self.store is None or not others:
            return found, 0
        stored = cast("dict[Key, bytes]", self.store.get(cast("list[bytes]", others)))
        self._keep(stored)
        return found | stored, len(stored)

    def put(self, entries: Mapping[Key, bytes]) -> dict[Key, bytes]:
        """Keep values; return all of them, each as the process that was first kept it."""
        kept = dict(entries)
        if self.store is not None:
            there = self.store.put(self.model, cast("Mapping[bytes, bytes]", entries))
            kept |= cast("dict[Key, bytes]", there)
        self._keep(kept)
        return kept

    def _keep(self, entries: Mapping[Key, bytes]) -> None:
        recent = self._recent
        for key, value in entries.items():
            if key not in recent:
                self._held += len(value) + _COST
            recent[key] = value
        if self._held <= self.room:
            return
        # Forget an eighth of the room at once. To find the first key of a dict, Python passes all keys that were
        # removed before it: one by one, it took 11 of the 30 seconds of a run of 200,000 cases.
        most = self.room - self.room // 8
        for oldest in list(recent):
            if self._held <= most:
                return
            self._held -= len(recent.pop(oldest)) + _COST
