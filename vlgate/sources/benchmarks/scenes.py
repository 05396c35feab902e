"""The tasks about the drawn scenes, which need no data folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vlgate.fixtures.scenes import compositions, foils
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.entry import SceneTask
from vlgate.fixtures.scenes.graph import Graph
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.scene_graphs.generated import GENERATED
from vlgate.types import Read, Shape, Task

_DESCRIBED: Mapping[str, SceneTask] = MappingProxyType(
    {
        "scenes/existence": SceneTask(capability="foil", shape="pair", make=foils.existence),
        "scenes/foil-it": SceneTask(capability="foil", shape="pair", make=foils.foil_it),
        "scenes/attributes": SceneTask(capability="foil", shape="pair", make=foils.attributes),
        "scenes/counting-balanced": SceneTask(capability="foil", shape="pair", make=foils.counting),
        "scenes/relations": SceneTask(capability="foil", shape="pair", make=foils.relations),
        "scenes/word-swap": SceneTask(capability="compositional", shape="quad", make=compositions.word_swap),
    },
)
SHAPES: Mapping[str, Shape] = MappingProxyType(
    {name: made.shape for name, made in _DESCRIBED.items()} | {f"scenes/{test}": "questions" for test in GENERATED},
)
"""The shape of each task, by id."""
TASKS: tuple[str, ...] = tuple(SHAPES)


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks for the seed ``options.seed``; no image is drawn, and no folder is read.

    The tasks come in the order of ``TASKS``.
    """
    for task_id, scene_task in _DESCRIBED.items():
        if options.wanted(task_id):
            yield scene_task.task(task_id, options.seed)
    tests = [test for test in GENERATED if options.wanted(f"scenes/{test}")]
    if tests:  # the import takes 0.1 s, because it loads the ontology and the generator
        from vlgate.sources.benchmarks.scene_questions import tasks

        yield from tasks(tests, options.seed)


def graphs(task: Task) -> dict[str, Graph]:
    """Return the scene graphs of a task's drawn images, by image key, in the format of GQA's JSON."""
    requests = (request for case in task.cases for request in case.requests)
    images = (request.image for request in requests if not isinstance(request, Read))
    return {image.key: image.load.graph for image in images if isinstance(image.load, Drawing)}
