"""Tasks made from the scene graphs in the data folders: the six tests of CARETS, and two more.

The six are from Jimenez et al. 2022, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vlgate.perturb.question_tests import BEYOND, TESTS, Test
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.scene_graphs.finding import find_graphs
from vlgate.types import Shape, Task

GENERATED: tuple[Test, ...] = (*TESTS, *BEYOND)

SHAPES: Mapping[str, Shape] = MappingProxyType({f"scene-graphs/{test}": "questions" for test in GENERATED})
"""The shape of each task, by id."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks, each with ``options.pairs`` question pairs, if a data folder holds scene graphs.

    Faulty parts of a graph are left out and counted, because real data have them; ``vlgate make`` is strict by
    default. If enough images are in the data folders, only the graphs of these images are used (see
    ``annotated.ENOUGH``). If the graphs give no question for one of several wanted tests, its task has no cases
    and says why.

    Raises: DataError if a file does not hold scene graphs, words do not fit the ontology, or the graphs give no
    question at all.
    """
    wanted = [test for test in GENERATED if options.wanted(f"scene-graphs/{test}")]
    if not wanted or not find_graphs(options.folders):
        return
    # Every run asks every source for the names of its tasks. The ontology, the templates and the reader are imported
    # only in a run that wants one of these tasks and has scene graphs.
    from vlgate.sources.scene_graphs.annotated import tasks

    yield from tasks(options, wanted)
