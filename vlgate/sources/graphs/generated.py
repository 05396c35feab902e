"""Tasks made from the scene graphs in the data folders, which are read only when a task is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vlgate.perturb.question_tests import BEYOND, TESTS, Test
from vlgate.sources.graphs.finding import find_graphs
from vlgate.sources.reading.source import ReadOptions, Source
from vlgate.types import Shape, Task

# Tasks made from the scene graphs in the data folders: the six tests of CARETS, and two more.
#
# The six are from Jimenez et al. 2022, section 4.

GENERATED: tuple[Test, ...] = (*TESTS, *BEYOND)


# Faulty parts of a graph are left out and counted, because real data have them; ``vlgate make`` is strict by default.
# If the graphs give no question for one of several wanted tests, its task has no cases and says why.
def read(options: ReadOptions) -> Iterator[Task]:
    wanted = [test for test in GENERATED if options.wanted(f"scene-graphs/{test}")]
    if not wanted or not find_graphs(options.folders):
        return
    # Every run asks every source for the names of its tasks. The ontology, the templates and the reader are imported
    # only in a run that wants one of these tasks and has scene graphs.
    from vlgate.sources.graphs.annotated import tasks

    yield from tasks(options, wanted)


SHAPES: Mapping[str, Shape] = {f"scene-graphs/{test}": "questions" for test in GENERATED}
SCENE_GRAPHS = Source(read=read, shapes=SHAPES)
