"""Draws scenes in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from train.scenes import Scene
from vlgate.fixtures.scenes.draw import draw
from vlgate.fixtures.scenes.graph import Graph

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")
AT_ONCE = 32


def drawn(scenes: Sequence[Scene], look: Callable[[Image, Graph], T], workers: int) -> Iterator[T]:
    """Draw each scene and yield what ``look`` makes of its image and its graph, in order.

    ``look`` must be picklable; with one worker, this process draws.
    """
    jobs = [(scene.graph, look) for scene in scenes]
    if workers == 1:
        yield from map(_one, jobs)
        return
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(_one, jobs, chunksize=AT_ONCE)


def _one(job: tuple[Graph, Callable[[Image, Graph], T]]) -> T:
    graph, look = job
    return look(draw(graph), graph)
