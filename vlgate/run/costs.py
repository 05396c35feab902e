"""What a run will cost: the distinct images, texts and requests of its tasks, times the seconds for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from vlgate.types import Ask, Compare, Request, Task, images_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many distinct ``images``, ``texts`` and ``requests`` some tasks have."""

    images: int
    texts: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The seconds of one GPU that a model takes per distinct ``image``, ``text`` and request, in full batches.

    A dual encoder takes time for each image and text, because it encodes each once: ``pair`` is 0. A cross encoder or a
    generative model takes time for each pair or question: ``image`` and ``text`` are 0, unless it keeps what it read.
    """

    image: float = 0.0
    text: float = 0.0
    pair: float = 0.0

    def seconds(self, counts: Counts) -> float:
        """Return the seconds that one GPU takes.

        >>> Rates(image=0.01, text=0.002).seconds(Counts(images=1000, texts=2000, requests=4000))
        14.0
        """
        return self.image * counts.images + self.text * counts.texts + self.pair * counts.requests


def counts_of(tasks: Iterable[Task]) -> Counts:
    """Count what a model is asked for some tasks in one run; what two tasks share counts once."""
    requests = {request for task in tasks for case in task.cases for request in case.requests}
    images = {image for request in requests for image in images_of(request)}
    return Counts(images=len(images), texts=len(set(map(_text, requests))), requests=len(requests))


def gpus_within(seconds: float, hours: float) -> int:
    """Return how many GPUs finish within some hours what takes one GPU ``seconds``, each with an equal part.

    >>> gpus_within(36_000, 1.5)
    7
    """
    return max(1, ceil(seconds / 3600 / hours))


def _text(request: Request) -> str | tuple[str, tuple[str, ...]]:
    return (request.question, tuple(request.choices)) if isinstance(request, Ask | Compare) else request.text
