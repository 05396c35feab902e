"""Makes tasks from scene graphs in data folders: chooses the graphs, finds their images, counts what is left out.

The graphs are in the files that ``files.find_graphs`` finds: GQA's, Visual Genome's or the user's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vlgate.errors import DataError
from vlgate.images.files import file_image, image_size, missing_image
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.question_tests import BEYOND, TESTS
from vlgate.perturb.questions import Corpus, Generator
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.reading import image_finder
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.scene_graphs.checks import SizeOf
from vlgate.sources.scene_graphs.files import find_graphs, read_graphs
from vlgate.sources.scene_graphs.question_cases import task_of
from vlgate.sources.scene_graphs.vocabulary import vocabulary_of
from vlgate.types import LazyImage, Task

REPEATED = "graph of an image that an earlier file has"
TWIN = "graph without a size, of an image that is there only as its twin in COCO, which may be of another size"


ENOUGH = 100
"""If this many graphs have an image, only these graphs are used.

If fewer have one, the images may belong to another benchmark, so all graphs are used (see ``annotated``).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """The graphs to ask about, their images by graph id, the counts of what was left out, and a note for reports."""

    graphs: Sequence[SceneGraph]
    images: Mapping[str, LazyImage]
    left_out: Mapping[str, int]
    note: str


def tasks(options: ReadOptions, wanted: Collection[str]) -> Iterator[Task]:
    """Yield a task ``scene-graphs/<test>`` for each wanted test; see ``scene_graphs.generated.read``."""
    files = find_graphs(options.folders) if wanted else []
    if not files:
        return
    with collector_paused():
        found = annotated(files, options)
        generator = generator_of(found, vocabulary_of(files), files)
        left_out = {**found.left_out, **generator.corpus.left_out}
        tests = [test for test in (*TESTS, *BEYOND) if test in wanted]
        made = {test: generator.make(test, size=options.pairs, seed=options.seed) for test in tests}
        if not any(one.pairs for one in made.values()):
            problem = f"{len(found.graphs):,} graphs give no question of {', '.join(tests)}"
            raise DataError(files[0], None, problem, "give more graphs, which show different things")
        for test, one in made.items():
            note = found.note if one.pairs else f"{len(found.graphs):,} scene graphs give no question of {test}"
            yield task_of(f"scene-graphs/{test}", one, test, found.images, left_out=left_out, note=note)


def annotated(files: Sequence[Path], options: ReadOptions) -> Annotated:
    """Read all graphs; keep only those with an image, if these are at least ``ENOUGH`` or half of all graphs.

    Raises: DataError if a file does not hold scene graphs.
    """
    left_out: Counter[str] = Counter()
    graphs: dict[str, SceneGraph] = {}
    for file in files:
        for graph in read_graphs(file, faults="leave out", left_out=left_out, size_of=sizes(options)):
            if graphs.setdefault(graph.id, graph) is not graph:
                left_out[REPEATED] += 1
    images = {name: _image(name, options) for name in graphs}
    twins = [name for name, graph in graphs.items() if not _fits(graph, images[name], options)]
    for name in twins:
        images[name] = missing_image(name, [folder / "images/vg" for folder in options.folders])
    shown = [graph for name, graph in graphs.items() if images[name].where]
    if len(shown) < min(ENOUGH, len(graphs) / 2):
        note = f"made from all {len(graphs):,} scene graphs; the images of {len(shown):,} are there"
        return Annotated(graphs=list(graphs.values()), images=images, left_out=left_out, note=note)
    left_out += Counter({TWIN: len(twins)})
    note = f"made from the {len(shown):,} of {len(graphs):,} scene graphs whose images are there"
    return Annotated(graphs=shown, images=images, left_out=left_out, note=note)


def sizes(options: ReadOptions) -> SizeOf:
    """Return a function from an image's path in a data folder to its size.

    It returns None for GQA's and Visual Genome's numbers: their graphs have the right sizes, and opening 100,000
    files takes minutes.
    """

    def size_of(name: str) -> tuple[int, int] | None:
        """Return the size of one image."""
        image = None if _numbered(name) else _image(name, options)
        return None if image is None or not image.where else image_size(image.where)

    return size_of


def _numbered(name: str) -> bool:
    return "/" not in name and image_finder.stem(name) == name


def generator_of(found: Annotated, ontology: Ontology, files: Sequence[Path]) -> Generator:
    """Return the generator of questions about some graphs.

    Raises: DataError, which names the first of the ``files``, if the graphs have nothing to ask about.
    """
    try:
        return Generator(Corpus(found.graphs, ontology))
    except ValueError as error:
        reasons = ", ".join(f"{count} x {reason}" for reason, count in found.left_out.items())
        problem = f"{error}; left out before: {reasons or 'nothing'}"
        remedy = "give graphs with objects that vlgate knows by name, or add the names as words"
        raise DataError(files[0] if files else Path(), None, problem, remedy) from None


def _image(name: str, options: ReadOptions) -> LazyImage:
    """Return an image by its path in a data folder, or by its number in Visual Genome, which GQA shares.

    The number in a path does not count: "mine/7.jpg" is not Visual Genome's image 7.
    """
    if _numbered(name):
        return options.images.find("gqa", name)
    places = [folder / name for folder in options.folders]
    path = next((place for place in places if place.is_file()), None)
    return missing_image(name, options.folders) if path is None else file_image(name, path)


def _fits(graph: SceneGraph, image: LazyImage, options: ReadOptions) -> bool:
    """Return whether the graph's boxes fit the image.

    Without the graph's size they do not fit a twin, which is the same photograph, but often in another size.
    """
    if graph.width and graph.height:
        return True
    twins = (folder / place for folder in options.folders for place in image_finder.SOURCES["coco"].folders)
    return not any(image.where.startswith(f"{place}/") for place in twins)
