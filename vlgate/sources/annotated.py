"""Tables from scene graphs in data folders: which graphs, which pictures, and what is left out.

The graphs are those that ``scene_graphs.find_graphs`` finds: GQA's, Visual Genome's or the user's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vlgate.errors import DataError
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.questions import BEYOND, TESTS, Corpus, Generator
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.pictures import file_picture, missing_picture
from vlgate.sources import images
from vlgate.sources.json_file import collector_paused
from vlgate.sources.question_cases import table_of
from vlgate.sources.scene_graphs import find_graphs, read_graphs
from vlgate.sources.vocabulary import vocabulary_of
from vlgate.types import Picture, Reading, Table

REPEATED = "graph of a picture that an earlier file has"
TWIN = "graph without a size, of a picture that is there only as its twin in COCO, which may be of another size"


ENOUGH = 100
"""So many graphs with pictures are asked about alone; a few that are there for another benchmark's sake are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """The graphs to ask about with their pictures; what was left out, by reason, and what a reader must know."""

    graphs: Sequence[SceneGraph]
    pictures: Mapping[str, Picture]
    left_out: Mapping[str, int]
    note: str


def tables(reading: Reading, wanted: Collection[str]) -> Iterator[Table]:
    """Yield a table for each wanted test, ``scene-graphs/<test>``; see ``vlgate.sources.generated.read``."""
    files = find_graphs(reading.folders) if wanted else []
    if not files:
        return
    with collector_paused():
        found = annotated(files, reading)
        generator = _generator(found, vocabulary_of(files), files)
        left_out = {**found.left_out, **generator.corpus.left_out}
        tests = [test for test in (*TESTS, *BEYOND) if test in wanted]
        made = {test: generator.make(test, size=reading.pairs, seed=reading.seed) for test in tests}
        if not any(one.pairs for one in made.values()):
            problem = f"{len(found.graphs):,} graphs give no question of {', '.join(tests)}"
            raise DataError(files[0], None, problem, "give more graphs, which show different things")
        for test, one in made.items():
            if one.pairs:
                name = f"scene-graphs/{test}"
                yield table_of(name, one, test, found.pictures, left_out=left_out, note=found.note)


def annotated(files: Sequence[Path], reading: Reading) -> Annotated:
    """Read all graphs, and keep those whose pictures are there, where these are half of all or ``ENOUGH``.

    Raises: DataError for a file that is no scene graphs.
    """
    left_out: Counter[str] = Counter()
    graphs: dict[str, SceneGraph] = {}
    for file in files:
        for graph in read_graphs(file, faults="leave out", left_out=left_out):
            if graphs.setdefault(graph.id, graph) is not graph:
                left_out[REPEATED] += 1
    pictures = {name: _picture(name, reading) for name in graphs}
    twins = [name for name, graph in graphs.items() if not _fits(graph, pictures[name], reading)]
    for name in twins:
        pictures[name] = missing_picture(name, [folder / "images/vg" for folder in reading.folders])
    shown = [graph for name, graph in graphs.items() if pictures[name].where]
    if len(shown) < min(ENOUGH, len(graphs) / 2):
        note = f"made from all {len(graphs):,} scene graphs; the pictures of {len(shown):,} are there"
        return Annotated(graphs=list(graphs.values()), pictures=pictures, left_out=left_out, note=note)
    left_out += Counter({TWIN: len(twins)})
    note = f"made from {len(shown):,} of {len(graphs):,} scene graphs, those whose pictures are there"
    return Annotated(graphs=shown, pictures=pictures, left_out=left_out, note=note)


def _generator(found: Annotated, ontology: Ontology, files: Sequence[Path]) -> Generator:
    try:
        return Generator(Corpus(found.graphs, ontology))
    except ValueError as error:
        reasons = ", ".join(f"{count} x {reason}" for reason, count in found.left_out.items())
        problem = f"{error}; left out before: {reasons or 'nothing'}"
        remedy = "give graphs with objects that vlgate knows by name, or add the names as words"
        raise DataError(files[0], None, problem, remedy) from None


def _picture(name: str, reading: Reading) -> Picture:
    """Find a picture by its path in a data folder, or by its number in Visual Genome, which GQA shares.

    Never a path by the number in it: "mine/7.jpg" is not Visual Genome's picture 7.
    """
    if "/" not in name and images.stem(name) == name:
        return images.finder_of(reading).find("gqa", name)
    places = [folder / name for folder in reading.folders]
    path = next((place for place in places if place.is_file()), None)
    return missing_picture(name, reading.folders) if path is None else file_picture(name, path)


def _fits(graph: SceneGraph, picture: Picture, reading: Reading) -> bool:
    """Whether the boxes can be found in the picture: a twin is the same photograph, often in another size."""
    if graph.width and graph.height:
        return True
    twins = (folder / place for folder in reading.folders for place in images.SOURCES["coco"].folders)
    return not any(picture.where.startswith(f"{place}/") for place in twins)
