"""The tasks about the drawn scenes, made anew for any seed, and the questions about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vlgate.fixtures.scenes import checklist, foils, people_actions
from vlgate.fixtures.scenes.graph import CASES, SceneCase
from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.questions import Corpus, Generator, Test
from vlgate.sources.graphs.generated import GENERATED
from vlgate.sources.graphs.question_cases import task_of
from vlgate.sources.scenes import TASK_SHAPES
from vlgate.types import Capability, Case, Task

_MAKERS: Mapping[str, Callable[[SceneCase], Case | None]] = MappingProxyType(
    {
        maker.__name__.replace("_", "-"): maker
        for maker in (
            *(foils.existence, foils.plurality, foils.counting_balanced, foils.counting_small),
            *(foils.counting_adversarial, foils.relations, foils.foil_it, foils.attributes, foils.word_swap),
            *(checklist.depth, checklist.object_size, checklist.object_location),
            *(checklist.attribute_material, checklist.attribute_size, checklist.attribute_state),
            *(people_actions.action_replacement, people_actions.actant_swap, people_actions.coreference),
            *(people_actions.relation_action, people_actions.active_passive, people_actions.coordination),
            people_actions.relative_clause,
        )
    }
)  # what makes the cases of a task, by the name of the task


def make(wanted: Sequence[str], seed: int) -> Iterator[Task]:
    for task_id in wanted:
        name, shape = task_id.removeprefix("scenes/"), TASK_SHAPES[task_id]
        if name in _MAKERS:
            made = [_MAKERS[name](SceneCase(task=task_id, seed=seed, number=number)) for number in range(CASES)]
            cases = tuple(case for case in made if case is not None)
            left_out = {"perturbation does not apply": CASES - len(cases)} if len(cases) < CASES else {}
            capability: Capability = "foil" if shape == "pair" else "compositional"
            yield Task(id=task_id, capability=capability, shape=shape, cases=cases, left_out=left_out)
    tests = [test for test in GENERATED if f"scenes/{test}" in wanted]
    if tests:  # the import takes 0.1 s, because it loads the ontology and the generator
        yield from tasks(tests, seed)


# The proportions of the kinds of question are the paper's (CARETS, Table 6). The tasks are just large enough to try a
# gate on.

SCENES = 150  # so many carry the pairs of each test
OF_OPPOSITES = 400  # a thing is large or small only beside another one of its kind, which few scenes have
QUESTIONS = 80  # Wilson's 95 % interval is then at most 22 points wide


def tasks(tests: Sequence[Test], seed: int) -> Iterator[Task]:
    makers = {}
    for test in tests:
        number = OF_OPPOSITES if test == "antonym-dir" else SCENES
        if number not in makers:
            graphs = world_graphs(seed, number)
            # No least size of a box and no least number of objects: even small objects are drawn so that they can be
            # recognised, and nothing is drawn that is not in the graph.
            generator = Generator(Corpus(graphs, default_ontology(), least_box=0, least_objects=0))
            makers[number] = generator, {graph.id: image_of(graph) for graph in graphs}
        generator, images = makers[number]
        made = generator.make(test, size=QUESTIONS, seed=seed)
        if test == "visual-inv":  # one perturbation of each question, by turns: cases of many scenes tell more
            turns = (number * len(VISUAL) + number % len(VISUAL) for number in range(len(made.pairs) // len(VISUAL)))
            made = replace(made, pairs=tuple(made.pairs[turn] for turn in turns))
        yield task_of(f"scenes/{test}", made, test, images)
