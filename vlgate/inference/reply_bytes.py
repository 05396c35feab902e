"""Replies as bytes, exactly: numbers, rows of numbers and strings, each with a mark of its kind."""

from __future__ import annotations

import struct

import numpy as np

from vlgate.types import FloatArray

Reply = float | str | FloatArray


_MARKS = {(False, False): b".", (True, False): b"!", (False, True): b"?", (True, True): b"&"}


def packed(reply: Reply, *, cut: bool = False, neither: bool = False) -> bytes:
    """Return a reply as bytes; ``cut`` and ``neither`` are those of ``vlgate.types.Prediction``.

    A row whose numbers are those of a float32 network takes 4 bytes a number, any other one 8.

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
    exact = np.array_equal(halved.astype(np.float64), reply)
    return (b"h" if exact else b"r") + mark + (halved if exact else reply.astype("<f8")).tobytes()


def unpacked(value: bytes) -> tuple[Reply, bool]:
    """Return the reply that ``packed`` made bytes of, and whether its text was cut.

    Raises: ValueError if it is none.
    """
    kind, cut, content = value[:1], value[1:2] in (b"!", b"&"), value[2:]
    if kind == b"s":
        return content.decode(), cut
    if kind == b"n":
        return _number(content), cut
    if kind in (b"h", b"r"):
        return np.frombuffer(content, dtype="<f4" if kind == b"h" else "<f8").astype(np.float64), cut
    raise ValueError(f"value={value[:8]!r}: not a reply")


def says_neither(value: bytes) -> bool:
    """Return whether ``packed`` was told that the answer probably begins with neither yes nor no.

    >>> says_neither(packed(0.25, neither=True)), says_neither(packed(0.25))
    (True, False)
    """
    return value[1:2] in (b"?", b"&")


def _number(content: bytes) -> float:
    found: float = struct.unpack("<d", content)[0]
    return found
