"""Further questions for the text-only baseline: what judges one half of the scene graphs is made from the other.

A baseline that learns from the judged cases themselves is below chance, because each question is as often true as
false: whichever cases are left out, the others say the opposite. The same holds if questions are made from all graphs,
and those about the images of a fold are left out. If they are made from the graphs of the other half alone, they are
balanced within that half, and tell nothing that is not in the texts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import blake2b

from vlgate.errors import DataError
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.question_tests import Test
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.scene_graphs.annotated import Annotated, annotated, generator_of
from vlgate.sources.scene_graphs.files import find_graphs
from vlgate.sources.scene_graphs.question_cases import cases_of
from vlgate.sources.scene_graphs.vocabulary import vocabulary_of
from vlgate.types import Case

HALVES = (0, 1)
LEAST = 30
"""With fewer cases in either half there is too little to learn from, and a test has no further cases."""

_GRAPHS = 2_000  # of a half; more would only take longer


def half_of(key: str) -> int:
    """Return the half of an image, 0 or 1, by its key; an image and its perturbed copies are in one half.

    >>> half_of("2357834.jpg") == half_of("2357834.jpg#blur6")
    True
    """
    return _hash(key) % len(HALVES)


def further_cases(options: ReadOptions, tests: Collection[Test]) -> dict[Test, tuple[tuple[Case, ...], ...]]:
    """Make further questions from each half of the graphs in the data folders.

    Args:
        options: the folders, the number of pairs, and the seed, which should not be that of the judged cases.
        tests: the wanted tests.

    Returns: the cases of each half by test; a test is absent if a half gives fewer than ``LEAST`` cases of it.
    Raises: DataError if a file does not hold scene graphs.
    """
    files = find_graphs(options.folders) if tests else []
    if not files:
        return {}
    with collector_paused():
        found, ontology = annotated(files, options), vocabulary_of(files)
        made = [_made(replace(found, graphs=_half(found, half)), ontology, options, tests) for half in HALVES]
    enough = [test for test in tests if all(len(cases.get(test, ())) >= LEAST for cases in made)]
    return {test: tuple(cases[test] for cases in made) for test in enough}


def _half(found: Annotated, half: int) -> Sequence[SceneGraph]:
    inside = [graph for graph in found.graphs if half_of(found.images[graph.id].key) == half]
    return sorted(inside, key=lambda graph: _hash(graph.id))[:_GRAPHS]


def _made(
    found: Annotated, ontology: Ontology, options: ReadOptions, tests: Collection[Test]
) -> dict[Test, tuple[Case, ...]]:
    try:
        generator = generator_of(found, ontology, ())
    except DataError:  # the half has no graph with two objects that the ontology knows
        return {}
    made = {test: generator.make(test, size=options.pairs, seed=options.seed) for test in sorted(tests)}
    return {test: tuple(cases_of(one.pairs, found.images)) for test, one in made.items()}


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.partition("#")[0].encode(), digest_size=8).digest(), "big")
