"""A sample of generated pairs to read: ``python benchmarks/question_sample.py --seed 3 --out pairs.txt``.

The pairs are spread over the six tests and over the graphs of ``--data DIR`` and those rebuilt from CARETS. Each block
has the test, the objects of the image, and both questions with their answers.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from rebuilt_graphs import rebuilt

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import TESTS, Corpus, Generator, QuestionPair
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.sources.graphs.files import read_graphs
from vlgate.sources.graphs.generated import find_graphs

CANDIDATES = 600


def main() -> None:
    """Write the sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared/data")
    parser.add_argument("--pairs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    left_out: Counter[str] = Counter()
    files = find_graphs([options.data])
    real = [graph for file in files for graph in read_graphs(file, faults="leave out", left_out=left_out)]
    partial = rebuilt(options.data / "carets/data/questions", least=2)
    chance, found = Random(options.seed), list[QuestionPair]()
    for graphs, least, share in ((real, 5, 0.4), (partial, 3, 0.6)):
        found += sample(graphs, least, round(options.pairs * share), chance, options.seed)
    blocks = [block(number, pair) for number, pair in enumerate(found, 1)]
    options.out.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def sample(graphs: Sequence[SceneGraph], least: int, size: int, chance: Random, seed: int) -> list[QuestionPair]:
    """Draw pairs from as many of every test as there are."""
    generator = Generator(Corpus(graphs, default_ontology(), least_objects=least))
    made = {test: list(generator.make(test, size=CANDIDATES, seed=seed).pairs) for test in TESTS}
    for pairs in made.values():
        chance.shuffle(pairs)
    kept: list[tuple[int, QuestionPair]] = []
    while len(kept) < size and any(made.values()):
        for number, pairs in enumerate(made.values()):
            if pairs and len(kept) < size:
                kept.append((number, pairs.pop()))
    return [pair for _, pair in sorted(kept, key=lambda one: one[0])]


def block(number: int, pair: QuestionPair) -> str:
    """Return one pair in words."""
    shown = "; ".join(map(_described, pair.graph.objects.values()))
    names = {identity: item.name for identity, item in pair.graph.objects.items()}
    facts = [
        f"{item.name} {relation.name} {names[relation.object]}"
        for item in pair.graph.objects.values()
        for relation in item.relations
    ]
    changed = f"  [image: {pair.perturbation}]" if pair.perturbation else ""
    return "\n".join(
        (
            f"{number}. {pair.test} ({pair.kind}), image {pair.graph.id}",
            f"   shows: {shown}",
            f"   relations: {'; '.join(facts[:12]) or '-'}",
            f"   Q: {pair.questions[0]}  A: {pair.answers[0]}",
            f"   P: {pair.questions[1]}  A: {pair.answers[1]}{changed}",
        )
    )


def _described(item: SceneObject) -> str:
    return f"{item.name} ({', '.join(item.attributes)})" if item.attributes else item.name


if __name__ == "__main__":
    main()
