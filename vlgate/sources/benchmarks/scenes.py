"""The tasks about the drawn scenes, which need no data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from vlgate.fixtures.scenes import checklist, compositions, foils, people_cases
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.entry import SceneCase, SceneTask
from vlgate.fixtures.scenes.graph import Graph
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.scene_graphs.generated import GENERATED
from vlgate.types import Case, Read, Shape, Task

_FOILS: Mapping[str, Callable[[SceneCase], Case | None]] = MappingProxyType(
    {
        "existence": foils.existence,
        "plurality": foils.plurality,
        "counting-balanced": foils.counting,
        "counting-small": foils.counting_small,
        "counting-adversarial": foils.counting_adversarial,
        "relations": foils.relations,
        "action-replacement": people_cases.action_replacement,
        "actant-swap": people_cases.actant_swap,
        "coreference": people_cases.coreference,
        "foil-it": foils.foil_it,
        "attributes": foils.attributes,
        "object-size": checklist.object_size,
        "object-location": checklist.object_location,
        "attribute-material": checklist.attribute_material,
        "attribute-size": checklist.attribute_size,
        "attribute-state": checklist.attribute_state,
        "relation-action": people_cases.relation_action,
    },
)
_DESCRIBED: Mapping[str, SceneTask] = MappingProxyType(
    {f"scenes/{name}": SceneTask(capability="foil", shape="pair", make=make) for name, make in _FOILS.items()}
    | {
        "scenes/word-swap": SceneTask(capability="compositional", shape="quad", make=compositions.word_swap),
        "scenes/active-passive": SceneTask(
            capability="compositional", shape="active_passive_set", make=people_cases.active_passive
        ),
        "scenes/coordination": SceneTask(capability="compositional", shape="set", make=people_cases.coordination),
        "scenes/relative-clause": SceneTask(capability="compositional", shape="set", make=people_cases.relative_clause),
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
