"""The questions about the drawn scenes: one task per test that the generator makes.

The proportions of the kinds of question are the paper's (CARETS, Table 6). The tasks are just large enough to try a
gate on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.questions import Corpus, Generator, Test
from vlgate.sources.scene_graphs.question_cases import task_of
from vlgate.types import Task

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
