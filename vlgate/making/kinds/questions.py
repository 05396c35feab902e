"""Make pairs of questions from scene graphs, for your own tests or for training.

The generator is the one that makes the tasks of a run (CARETS, section 4). For training data (the paper's Table 5),
give another seed, and leave out the images of the test with --without.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

from vlgate.errors import OptionError, UnknownNameError
from vlgate.making.kinds.kind import Kind
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.questions import BEYOND, SHARES, TESTS, Corpus, Generator, Made, QuestionPair, Test
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.scene_graphs.carets_files import ENDINGS
from vlgate.sources.scene_graphs.files import read_graphs, unknown_names
from vlgate.sources.scene_graphs.question_files import FORMS, images_in, write_questions
from vlgate.sources.scene_graphs.vocabulary import vocabulary_of

QUESTIONS = Kind(
    name="questions",
    sentence="pairs of questions of which the second has the same answer, or another one, as in CARETS",
    takes=("graphs",),
    shape="questions",
)
SHOWN = 5  # how many unknown names are listed


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options that only questions have."""
    options = parser.add_argument_group("options of questions only")
    tests = f"the tests to make (default: the six of CARETS; also available: {' and '.join(BEYOND)})"
    options.add_argument("--tests", default=",".join(TESTS), metavar="NAME[,NAME]", help=tests)
    size = "how many questions each test has (default: paper, as many as in the paper)"
    options.add_argument("--size", default="paper", metavar="N|paper", help=size)
    shares = "how often what is asked: as in CARETS' release, or everything equally often (default: release)"
    options.add_argument("--shares", choices=sorted(SHARES), default="release", help=shares)
    without = "files of questions, from this command or from GQA; their images are left out"
    options.add_argument("--without", nargs="+", type=Path, default=[], metavar="FILE", help=without)


def run(given: argparse.Namespace) -> int:
    """Make the pairs and write them; counts of what was made and left out are printed on stderr.

    Returns: the exit status, 0.
    Raises: OptionError or UnknownNameError for an option that cannot be used; DataError for a file that cannot be read.
    """
    given.format = "jsonl" if given.format == "cases" else given.format
    if given.format not in FORMS:
        raise UnknownNameError("format of questions", given.format, FORMS)
    tests, size = [_test(name) for name in dict.fromkeys(given.tests.split(","))], _size(given.size)
    _check_out(given.out)
    left_out: Counter[str] = Counter()
    with collector_paused():
        generator = _generator(given, left_out)
        made = {test: generator.make(test, size=size, seed=given.seed) for test in tests}
        for line in _account(made, generator.corpus, left_out):
            _say(line)
        written = _written(given, [pair for one in made.values() for pair in one.pairs])
    _say(f"{written:,} questions in {given.out}")
    return 0


def _check_out(file: Path) -> None:
    """Check that the file can be written before the graphs are read, which may take minutes."""
    try:
        there = file.exists() or file.is_symlink()
    except OSError as error:
        raise OptionError(f"--out {file}: cannot be written ({error.strerror}); name another file") from None
    if there:
        raise OptionError(f"--out {file}: exists already; remove it, or name another file")
    if not file.parent.is_dir():
        raise OptionError(f"--out {file}: there is no folder {file.parent}; make it, or name another file")


def _generator(given: argparse.Namespace, left_out: Counter[str]) -> Generator:
    graphs = _graphs(given, left_out)
    try:
        return Generator(Corpus(graphs, _ontology(given, graphs)), given.shares)
    except ValueError as error:
        reasons = f"; left out: {_listed(left_out)}" if left_out else ""
        raise OptionError(f"--from {' '.join(map(str, given.files))}: {error}{reasons}") from None


def _written(given: argparse.Namespace, pairs: Sequence[QuestionPair]) -> int:
    if given.format == "carets" and not any(pair.test in ENDINGS for pair in pairs):
        raise OptionError(f"--format carets: has no form for {given.tests}; add one of {', '.join(ENDINGS)}")
    if not pairs:
        graphs = " ".join(map(str, given.files))
        raise OptionError(f"--from {graphs}: give no question for {given.tests}; give more graphs")
    try:
        return write_questions(pairs, given.out, given.format)
    except OSError as error:
        raise OptionError(f"--out {given.out}: cannot be written ({error.strerror}); name another file") from None


def _graphs(given: argparse.Namespace, left_out: Counter[str]) -> list[SceneGraph]:
    taken = frozenset(chain.from_iterable(images_in(file) for file in given.without))
    faults: Literal["fail", "leave out"] = "fail" if given.faults == "fail" else "leave out"
    found: dict[str, SceneGraph] = {}
    for file in given.files:
        for graph in read_graphs(file, faults=faults, left_out=left_out):
            if graph.id in taken:
                left_out["graph of an image that --without names"] += 1
            elif found.setdefault(graph.id, graph) is not graph:
                left_out["graph of an image that an earlier file has"] += 1
    return list(found.values())


def _ontology(given: argparse.Namespace, graphs: list[SceneGraph]) -> Ontology:
    ontology = vocabulary_of(given.files)
    if given.wordnet is None:
        return ontology
    from vlgate.perturb.ontology.wordnet import extended_by_wordnet

    names = sorted(unknown_names(graphs, ontology.knows))
    try:
        return extended_by_wordnet(ontology, names, lexicon=given.wordnet)[0]
    except ValueError as error:
        raise OptionError(f"--wordnet {given.wordnet}: {error}") from None


def _test(name: str) -> Test:
    found = next((test for test in (*TESTS, *BEYOND) if test == name), None)
    if found is None:
        raise UnknownNameError("test in --tests", name, (*TESTS, *BEYOND))
    return found


def _size(text: str) -> int | None:
    if text == "paper":
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise OptionError(f"--size {text}: expected a whole number above 0, or paper")
    return int(text)


def _account(made: Mapping[Test, Made], corpus: Corpus, left_out: Counter[str]) -> Iterator[str]:
    yield f"{len(corpus.views):,} graphs"
    for reason, number in sorted((left_out + corpus.left_out).items()):
        yield f"left out: {number:,} x {reason}"
    if corpus.unknown:
        names = ", ".join(f"{name} ({number})" for name, number in corpus.unknown.most_common(SHOWN))
        yield f"unknown names: {len(corpus.unknown):,}, most often {names}; see --wordnet"
    for test, one in made.items():
        missing = ", ".join(f"{kind} {number:,}" for kind, number in one.wanting.items())
        yield f"{test}: {len(one.pairs):,} pairs" + (f"; missing, for lack of graphs: {missing}" if missing else "")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} x {reason}" for reason, number in sorted(counts.items()))


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  # what a command is for
