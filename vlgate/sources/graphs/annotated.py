"""Makes tasks from scene graphs in data folders, and further questions for the text-only baseline."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from vlgate.errors import DataError
from vlgate.images.files import image_size, missing_image
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.question_tests import Test
from vlgate.perturb.questions import Corpus, Generator
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs.checks import SizeOf
from vlgate.sources.graphs.files import read_graphs, vocabulary_of
from vlgate.sources.graphs.question_cases import cases_of, task_of
from vlgate.sources.reading import image_finder
from vlgate.sources.reading.image_paths import ImagePaths
from vlgate.sources.reading.records import Record
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.reading.text_files import collector_paused
from vlgate.types import Case, LazyImage, Task

REPEATED = "graph of an image that an earlier file has"
TWIN = "graph without a size, of an image that is there only as its twin in COCO, which may be of another size"
# If this many graphs have an image, only these graphs are used. If fewer have one, the images may belong to another
# benchmark, so all graphs are used (see ``annotated``).
ENOUGH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    graphs: Sequence[SceneGraph]
    images: Mapping[str, LazyImage]
    left_out: Mapping[str, int]  # the counts
    note: str  # for reports


def tasks(options: ReadOptions, tests: Sequence[Test], files: Sequence[Path]) -> Iterator[Task]:
    with collector_paused():
        source = annotated(files, options)
        generator = generator_of(source, vocabulary_of(files), files)
        left_out = {**source.left_out, **generator.corpus.left_out}
        made = {test: generator.make(test, size=options.pairs, seed=options.seed) for test in tests}
        number = f"{len(source.graphs):,}"
        if not any(questions.pairs for questions in made.values()):
            problem = f"{number} graphs give no question of {', '.join(tests)}"
            raise DataError(files[0], None, problem, "give more graphs, which show different things")
        for test, questions in made.items():
            note = source.note if questions.pairs else f"{number} scene graphs give no question of {test}"
            yield task_of(f"scene-graphs/{test}", questions, test, source.images, left_out=left_out, note=note)


def annotated(files: Sequence[Path], options: ReadOptions) -> Annotated:
    left_out: Counter[str] = Counter()
    graphs: dict[str, SceneGraph] = {}
    images: dict[str, LazyImage] = {}
    finder = GraphImages(options, files)
    for file in files:
        for graph in read_graphs(file, faults="leave out", left_out=left_out, size_of=finder.sizes(file)):
            image = finder.find(graph.id, file)
            if graphs.setdefault(graph.id, graph) is graph:
                images[graph.id] = image
            elif image.key == images[graph.id].key:
                left_out[REPEATED] += 1
            else:
                problem = f"its image {image.where} is another one than {images[graph.id].where} of an earlier file"
                raise DataError(file, f"graph {graph.id!r}", problem, "rename one of the images and its graph")
    # The boxes of a graph without a size do not fit a twin, which is the same photograph, but often in another size.
    coco = [f"{folder / place}/" for folder in options.folders for place in image_finder.SOURCES["coco"].folders]
    unsized = [name for name, graph in graphs.items() if not (graph.width and graph.height)]
    twins = [name for name in unsized if images[name].where.startswith(tuple(coco))]
    for name in twins:
        images[name] = missing_image(name, [folder / "images/vg" for folder in options.folders])
    shown = [graph for name, graph in graphs.items() if images[name].where]
    number, there = f"{len(graphs):,}", f"{len(shown):,}"
    if len(shown) < min(ENOUGH, len(graphs) / 2):
        shown = list(graphs.values())
        note = f"made from all {number} scene graphs; the images of {there} are there"
    else:
        left_out += Counter({TWIN: len(twins)})
        note = f"made from the {there} of {number} scene graphs whose images are there"
    return Annotated(graphs=shown, images=images, left_out=left_out, note=note)


class GraphImages:
    def __init__(self, options: ReadOptions, files: Sequence[Path]) -> None:
        self._numbers = options.images
        homes = {file: tuple(folder for folder in options.folders if folder in file.parents) for file in files}
        self._paths = ImagePaths(folders=options.folders, homes=homes)

    def find(self, name: str, file: Path) -> LazyImage:
        if _numbered(name):
            return self._numbers.find("gqa", name, file=file, record=f"graph {name!r}")
        return self._paths.find(Record(file, f"graph {name!r}", {}), name)

    def sizes(self, file: Path) -> SizeOf:
        def size_of(name: str) -> tuple[int, int] | None:
            # GQA's and Visual Genome's graphs have the right sizes, and opening 100,000 files takes minutes.
            image = None if _numbered(name) else self.find(name, file)
            return None if image is None or not image.where else image_size(image.where)

        return size_of


# The number in a path does not count: "mine/7.jpg" is not Visual Genome's image 7.
def _numbered(name: str) -> bool:
    return "/" not in name and image_finder.stem(name) == name


def generator_of(found: Annotated, ontology: Ontology, files: Sequence[Path]) -> Generator:
    try:
        return Generator(Corpus(found.graphs, ontology))
    except ValueError as error:
        reasons = ", ".join(f"{count} x {reason}" for reason, count in found.left_out.items())
        problem = f"{error}; left out before: {reasons or 'nothing'}"
        remedy = "give graphs with objects that vlgate knows by name, or add the names as words"
        raise DataError(files[0] if files else Path(), None, problem, remedy) from None


# Further questions for the text-only baseline: what judges one half of the scene graphs is made from the other.
#
# A baseline that learns from the judged cases themselves is below chance, because each question is as often true as
# false: whichever cases are left out, the others say the opposite. The same holds if questions are made from all
# graphs, and those about the images of a fold are left out. If they are made from the graphs of the other half alone,
# they are balanced within that half, and tell nothing that is not in the texts.

HALVES = (0, 1)
LEAST = 30  # with fewer cases in either half there is too little to learn from, and a test has no further cases
_GRAPHS = 2_000  # of a half; more would only take longer


def half_of(key: str) -> int:
    """Return the half of an image, 0 or 1, by its key; an image and its perturbed copies are in one half."""
    return _hash(key) % len(HALVES)


def further_cases(
    options: ReadOptions, tests: Collection[Test], files: Sequence[Path]
) -> dict[Test, tuple[tuple[Case, ...], ...]]:
    """Make further questions from each half of the graphs in the files: the cases of each half by test.

    A test is absent if a half gives fewer than ``LEAST`` cases of it. The seed should not be that of the judged cases.
    """
    if not tests or not files:
        return {}
    with collector_paused():
        source, ontology = annotated(files, options), vocabulary_of(files)
        made = []
        for half in HALVES:
            graphs = [graph for graph in source.graphs if half_of(source.images[graph.id].key) == half]
            graphs = sorted(graphs, key=lambda graph: _hash(graph.id))[:_GRAPHS]
            try:
                generator = generator_of(replace(source, graphs=graphs), ontology, ())
            except DataError:  # the half has no graph with two objects that the ontology knows
                return {}
            questions = {test: generator.make(test, size=options.pairs, seed=options.seed) for test in sorted(tests)}
            made.append({test: tuple(cases_of(one.pairs, source.images)) for test, one in questions.items()})
    enough = [test for test in tests if all(len(cases.get(test, ())) >= LEAST for cases in made)]
    return {test: tuple(cases[test] for cases in made) for test in enough}


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.partition("#")[0].encode(), digest_size=8).digest(), "big")
