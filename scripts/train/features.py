"""Draws scenes and looks at them with the region network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from train.scenes import Scene
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import Graph
from vlgate.models.regions.region_network import network_source
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage

AT_ONCE = 16
THREADS = 1  # of torch: with more, the processes wait for each other


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Draws some scenes and looks at them with the region network of a folder."""

    folder: Path
    width: int

    def __call__(self, graphs: Sequence[Graph]) -> list[Regions]:
        """Return the regions of each graph's image."""
        import torch

        torch.set_num_threads(THREADS)
        source = network_source(self.folder, "cpu", width=self.width)
        return source.regions([LazyImage(key=str(n), load=Drawing(graph=graph)) for n, graph in enumerate(graphs)])


def looked_at(scenes: Sequence[Scene], look: Look, workers: int) -> Iterator[Regions]:
    """Look at all scenes, in order, in some processes; with one worker, in this one."""
    chunks = [[scene.graph for scene in scenes[start : start + AT_ONCE]] for start in range(0, len(scenes), AT_ONCE)]
    if workers == 1:
        yield from (regions for chunk in chunks for regions in look(chunk))
        return
    with get_context("spawn").Pool(workers) as pool:
        for found in pool.imap(look, chunks):
            yield from found
