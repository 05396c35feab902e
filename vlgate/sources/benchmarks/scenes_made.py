"""The tasks about the drawn scenes, made anew for any seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from vlgate.fixtures.scenes import checklist, compositions, foils, people_cases
from vlgate.fixtures.scenes.entry import SceneCase, SceneTask
from vlgate.sources.benchmarks.scenes import SHAPES
from vlgate.sources.scene_graphs.generated import GENERATED
from vlgate.types import Capability, Case, Task

_MAKERS: Mapping[str, Callable[[SceneCase], Case | None]] = MappingProxyType(
    {
        "existence": foils.existence,
        "plurality": foils.plurality,
        "counting-balanced": foils.counting,
        "counting-small": foils.counting_small,
        "counting-adversarial": foils.counting_adversarial,
        "relations": foils.relations,
        "depth": checklist.depth,
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
        "word-swap": compositions.word_swap,
        "active-passive": people_cases.active_passive,
        "coordination": people_cases.coordination,
        "relative-clause": people_cases.relative_clause,
    },
)


def make(wanted: Sequence[str], seed: int) -> Iterator[Task]:
    """Make the tasks of these ids for a seed, in their order, those of questions last; no image is drawn."""
    for task_id in wanted:
        name, shape = task_id.removeprefix("scenes/"), SHAPES[task_id]
        if name in _MAKERS:
            capability: Capability = "foil" if shape == "pair" else "compositional"
            yield SceneTask(capability=capability, shape=shape, make=_MAKERS[name]).task(task_id, seed)
    tests = [test for test in GENERATED if f"scenes/{test}" in wanted]
    if tests:  # the import takes 0.1 s, because it loads the ontology and the generator
        from vlgate.sources.benchmarks.scene_questions import tasks

        yield from tasks(tests, seed)
