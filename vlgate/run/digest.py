"""A digest of a plan: two processes with the same digest ask the same requests, and judge them by the same truths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from vlgate.types import Ask, Case, Compare, Match, Request, Task


def digest(tasks: Iterable[Task]) -> str:
    """Return a digest (32 hexadecimal digits) of the ids, texts, truths and image keys of all cases, in their order."""
    found = blake2b(digest_size=16)
    for task in tasks:
        found.update(_one((task.id, task.shape, task.capability, str(len(task.cases)))))
        for case in task.cases:
            found.update(_one(_parts(case)))
    return found.hexdigest()


def _parts(case: Case) -> list[str]:
    parts = [case.id, repr(case.truths)]
    for request in case.requests:
        parts += _of_request(request)
    return parts


def _of_request(request: Request) -> tuple[str, ...]:
    if isinstance(request, Match):
        return "Match", request.image.key, request.text
    if isinstance(request, Ask):
        return "ask", request.image.key, request.question, repr(request.choices)
    if isinstance(request, Compare):
        return "compare", *(image.key for image in request.images), request.question, repr(request.choices)
    return "Read", "", request.text


def _one(parts: Sequence[str]) -> bytes:
    """The parts as one record; the lengths keep ("a", "bc") and ("ab", "c") apart."""
    lengths = ",".join(map(str, map(len, parts)))
    return ("\0".join((lengths, *parts)) + "\n").encode(errors="surrogatepass")
