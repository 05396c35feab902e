"""The tasks about the drawn scenes, made anew for any seed, and the questions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vlgate.fixtures.scenes import checklist, foils, people_cases
from vlgate.fixtures.scenes.entry import SceneCase, SceneTask
from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.questions import Corpus, Generator, Test
from vlgate.sources.graphs.generated import GENERATED
from vlgate.sources.graphs.question_cases import task_of
from vlgate.sources.scenes import TASK_SHAPES
from vlgate.types import Capability, Case, Task

# The questions about the drawn scenes: one task per test that the generator makes.
#
# The proportions of the kinds of question are the paper's (CARETS, Table 6). The tasks are just large enough to try a
# gate on.

SCENES = 150  # so many carry the pairs of each test
QUESTIONS = 80  # Wilson's 95 % interval is then at most 22 points wide


def tasks(tests: Sequence[Test], seed: int) -> Iterator[Task]:
    """Make a task of ``QUESTIONS`` cases for each test, from the scenes of ``seed``."""
    graphs = world_graphs(seed, SCENES)
    # No least size of a box and no least number of objects: even small objects are drawn so that they can be
    # recognised, and nothing is drawn that is not in the graph.
    generator = Generator(Corpus(graphs, default_ontology(), least_box=0, least_objects=0))
    images = {graph.id: image_of(graph) for graph in graphs}
    for test in tests:
        made = generator.make(test, size=QUESTIONS, seed=seed)
        if test == "visual-inv":  # one perturbation of each question, by turns: cases of many scenes tell more
            turns = (number * len(VISUAL) + number % len(VISUAL) for number in range(len(made.pairs) // len(VISUAL)))
            made = replace(made, pairs=tuple(made.pairs[turn] for turn in turns))
        yield task_of(f"scenes/{test}", made, test, images)


# The tasks about the drawn scenes, made anew for any seed.

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
        "word-swap": foils.word_swap,
        "active-passive": people_cases.active_passive,
        "coordination": people_cases.coordination,
        "relative-clause": people_cases.relative_clause,
    },
)


def make(wanted: Sequence[str], seed: int) -> Iterator[Task]:
    """Make the tasks of these ids for a seed, in their order, those of questions last; no image is drawn."""
    for task_id in wanted:
        name, shape = task_id.removeprefix("scenes/"), TASK_SHAPES[task_id]
        if name in _MAKERS:
            capability: Capability = "foil" if shape == "pair" else "compositional"
            yield SceneTask(capability=capability, shape=shape, make=_MAKERS[name]).task(task_id, seed)
    tests = [test for test in GENERATED if f"scenes/{test}" in wanted]
    if tests:  # the import takes 0.1 s, because it loads the ontology and the generator
        yield from tasks(tests, seed)
