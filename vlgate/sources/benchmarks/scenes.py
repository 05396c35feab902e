"""The tasks about the drawn scenes, which need no data folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from vlgate.fixtures.scenes.draw import Drawing
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.scene_graphs.generated import GENERATED
from vlgate.types import Shape, Task, images_of

if TYPE_CHECKING:
    from vlgate.fixtures.scenes.graph import Graph

_FOILS = (
    "existence",
    "plurality",
    "counting-balanced",
    "counting-small",
    "counting-adversarial",
    "relations",
    "depth",
    "action-replacement",
    "actant-swap",
    "coreference",
    "foil-it",
    "attributes",
    "object-size",
    "object-location",
    "attribute-material",
    "attribute-size",
    "attribute-state",
    "relation-action",
)
SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        **{f"scenes/{name}": "pair" for name in _FOILS},
        "scenes/word-swap": "quad",
        "scenes/active-passive": "active_passive_set",
        "scenes/coordination": "set",
        "scenes/relative-clause": "set",
        **{f"scenes/{test}": "questions" for test in GENERATED},
    },
)
"""The shape of each task, by id."""
TASKS: tuple[str, ...] = tuple(SHAPES)
SHIPPED_SEED = 0


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks for the seed ``options.seed``; no image is drawn, and no folder is read.

    The tasks of seed 0 are those of the shipped file, so that their figures can be compared between releases; those of
    other seeds are made. They come in the order of ``TASKS``.
    """
    wanted = [task_id for task_id in TASKS if options.wanted(task_id)]
    if options.seed == SHIPPED_SEED:
        from vlgate.sources.benchmarks.scenes_shipped import shipped

        yield from shipped(wanted)
    else:  # the import takes 0.3 s, because it loads the looks of all things
        from vlgate.sources.benchmarks.scenes_made import make

        yield from make(wanted, options.seed)


def graphs(task: Task) -> dict[str, Graph]:
    """Return the scene graphs of a task's drawn images, by image key, in the format of GQA's JSON."""
    requests = (request for case in task.cases for request in case.requests)
    images = (image for request in requests for image in images_of(request))
    return {image.key: image.load.graph for image in images if isinstance(image.load, Drawing)}
