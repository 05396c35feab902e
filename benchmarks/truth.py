"""Generated answers compared with those of the tests' own evaluator: how many of 20,000 pairs differ.

``--data DIR`` names a folder whose scene graphs are used in addition to the embedded scenes (default:
``../shared/data`` next to the checkout). Each disagreement is printed with both answers and the reason.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import TESTS, Corpus, Generator
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs.files import read_graphs
from vlgate.sources.graphs.generated import find_graphs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/perturb/questions"))
from evaluator import disagreements  # type: ignore[import-not-found]

SCENES = 400


def main() -> None:
    """Make the pairs, evaluate them again, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared/data")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sets = list(graph_sets(options.data, options.seed))
    size = -(-options.pairs // (len(sets) * len(TESTS)))
    total = otherwise = 0
    for name, graphs in sets:
        asked, wrong = check(name, graphs, size, options.seed)
        total, otherwise = total + asked.total(), otherwise + wrong.total()
        for (test, kind), number in sorted(asked.items()):
            print(f"truth: {name} {test} {kind}: {wrong[test, kind]} of {number} answers differ")
    print(f"truth: {otherwise} of {total} answers differ, {1000 * otherwise / total:.2f} in 1,000, bar 1")


def graph_sets(data: Path, seed: int) -> Iterator[tuple[str, list[SceneGraph]]]:
    """The graphs of the embedded scenes, and all graphs of a data folder."""
    yield "drawn", world_graphs(seed, SCENES)
    files = find_graphs([data])
    left_out: Counter[str] = Counter()
    real = [graph for file in files for graph in read_graphs(file, faults="leave out", left_out=left_out)]
    if real:
        yield "real", real


def check(
    name: str, graphs: list[SceneGraph], size: int, seed: int
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Print the answers that differ; return the numbers of checked and of different answers, by test and kind."""
    asked: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    generator = Generator(Corpus(graphs, default_ontology()))
    for test in TESTS:
        pairs = generator.make(test, size=size, seed=seed).pairs
        for pair in pairs:
            asked[pair.test, pair.kind] += 2
        for disagreement in disagreements(pairs, default_ontology()):
            wrong[disagreement.pair.test, disagreement.pair.kind] += 1
            print(f"truth: {name} {disagreement.pair.test} {disagreement.pair.kind} {disagreement}")
    return asked, wrong


if __name__ == "__main__":
    main()
