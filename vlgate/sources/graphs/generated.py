"""The tasks that are made from the scene graphs in the data folders, which are read only when one is wanted."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vlgate.perturb.question_tests import BEYOND, TESTS, Test
from vlgate.sources.reading.source import ReadOptions, Source
from vlgate.sources.reading.text_files import is_there, matching
from vlgate.types import Shape, Task

# The six tests of CARETS (Jimenez et al. 2022, section 4), and two more.
GENERATED: tuple[Test, ...] = (*TESTS, *BEYOND)

# The places of scene graphs in a data folder. ``objects.json`` is skipped if ``scene_graphs.json`` is in the same
# folder. Visual Genome's ``*synsets.json``, which are lists of words, are always skipped.
PLACES = (
    "scene-graphs/*.json",
    "scene-graphs/*.jsonl",
    "gqa/*sceneGraphs.json",
    "gqa/sceneGraphs/*.json",
    "vg/scene_graphs.json",
    "vg/objects.json",
)


def find_graphs(folders: Sequence[Path]) -> list[Path]:
    once: dict[str, Path] = {}
    for path in (path for folder in folders for place in PLACES for path in matching(folder / place)):
        whole = path.name == "objects.json" and path.with_name("scene_graphs.json").is_file()
        if is_there(path) and path.is_file() and not whole and not path.name.endswith("synsets.json"):
            once.setdefault(os.path.realpath(path), path)
    return list(once.values())


# Faulty parts of a graph are left out and counted, because real data have them; ``vlgate make`` is strict by default.
# If the graphs give no question for one of several wanted tests, its task has no cases and says why.
def read(options: ReadOptions) -> Iterator[Task]:
    wanted = [test for test in GENERATED if options.wanted(f"scene-graphs/{test}")]
    if not wanted or not (files := find_graphs(options.folders)):
        return
    # Every run asks every source for the names of its tasks. The ontology, the templates and the reader are imported
    # only in a run that wants one of these tasks and has scene graphs.
    from vlgate.sources.graphs.annotated import tasks

    yield from tasks(options, wanted, files)


TASK_SHAPES: Mapping[str, Shape] = {f"scene-graphs/{test}": "questions" for test in GENERATED}
SCENE_GRAPHS = Source(read=read, shapes=TASK_SHAPES)
