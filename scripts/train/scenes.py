"""The scenes that the models are trained on: images, with texts and questions whose truth is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from train.captions import Text, captions_of
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import Graph
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import Corpus, Generator, Test
from vlgate.seeds import generator
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.scenes import TASK_SHAPES
from vlgate.sources.scenes.scenes import read
from vlgate.types import Match

FIRST_SEED = 1_000_000_000
"""Training draws from seeds from here on, far from those that a user gives."""
TAUGHT = ("existence", "plurality", "counting-", "foil-it", "attributes", "object-", "attribute-")
"""The foil tasks whose foils are taught. Of the others, only the true texts are: as captions have no foils."""
UNTAUGHT = "counting-adversarial"
"""The task that nothing is taught of: all its foils say small numbers, so a model would win it from the texts."""
TESTS: tuple[Test, ...] = ("rephrase-inv", "order-inv", "ontological-inv", "negation-dir", "antonym-dir")
"""The tests whose questions are taught; those of the others are about changed images."""
WORLD = 700
"""Scenes of the world in a portion: about half of it."""
QUESTIONS = 1000
"""Pairs of questions of each test in a portion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A graph to draw, texts that are true or false of it, questions with their answers, and the choices of each."""

    graph: Graph
    texts: tuple[Text, ...]
    questions: tuple[tuple[str, str], ...] = ()
    choices: tuple[tuple[str, ...], ...] = ()


def portion(seed: int, every: int = 1) -> list[Scene]:
    """Make every n-th scene of one seed: those of the tasks, and ``WORLD`` of the world with questions about them."""
    chance = generator(f"{seed}/captions", n_bytes=32)
    made = [*islice(_of_tasks(seed), 0, None, every), *_of_world(seed, every)]
    return [
        Scene(
            graph=graph,
            texts=(*texts, *captions_of(graph, chance)),
            questions=tuple((question, answer) for question, answer, _ in asked),
            choices=tuple(choices for _, _, choices in asked),
        )
        for graph, texts, asked in made
    ]


_Asked = tuple[str, str, tuple[str, ...]]  # a question, its answer and its choices
_Made = tuple[Graph, tuple[Text, ...], tuple[_Asked, ...]]


def _of_tasks(seed: int) -> Iterator[_Made]:
    """The images of the tasks that match texts, with the texts that may be taught."""
    options = ReadOptions(folders=(), seed=seed, wanted=lambda name: TASK_SHAPES[name] != "questions")
    for task in read(options):
        name = task.id.removeprefix("scenes/")
        taught = name.startswith(TAUGHT)
        graphs: dict[str, Graph] = {}
        texts: dict[str, list[Text]] = {}
        for case in task.cases:
            for request, truth in zip(case.requests, case.truths, strict=True):
                if isinstance(request, Match) and isinstance(request.image.load, Drawing):
                    graphs[request.image.key] = request.image.load.graph
                    known = texts.setdefault(request.image.key, [])
                    if name != UNTAUGHT and (taught or truth is True):
                        known.append((request.text, truth is True))
        for key, graph in graphs.items():
            yield graph, tuple(texts[key]), ()


def _of_world(seed: int, every: int) -> Iterator[_Made]:
    """Scenes of the world with questions."""
    graphs = world_graphs(seed, WORLD // every)
    questions = Generator(Corpus(graphs, default_ontology(), least_box=0, least_objects=0))
    asked: dict[str, list[_Asked]] = {graph.id: [] for graph in graphs}
    for test in TESTS:
        for pair in questions.make(test, size=QUESTIONS // every, seed=seed).pairs:
            asked[pair.graph.id] += zip(pair.questions, pair.answers, pair.choices, strict=True)
    for graph in graphs:
        yield as_gqa(graph), (), tuple(asked[graph.id])
