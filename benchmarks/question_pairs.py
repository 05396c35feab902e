"""Pairs of questions from scene graphs in memory: pairs per second on one core, and whether questions leak answers.

The graphs are those of the drawn world and, if it exists, those of ``--data DIR`` (default: ``../shared/data`` next to
the checkout). The leak is the cross-validated accuracy of a text-only classifier on the original questions with yes or
no as the answer: 0.5 is chance.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from run_all import Row

from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import TESTS, Corpus, Generator, QuestionPair
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs.files import read_graphs
from vlgate.sources.graphs.generated import find_graphs
from vlgate.sources.reading.text_files import collector_paused

SIZE = 2000  # original questions per test; the paper asks about 14,000 from 10,696 graphs


def main() -> None:
    """Generate, time, classify, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared/data")
    worlds: dict[str, list[SceneGraph]] = {"drawn": world_graphs(0, 2000), "real": _real(parser.parse_args().data)}
    for name, graphs in worlds.items():
        if not graphs:
            print(f"question_pairs: {name}: skipped, there are no scene graphs; name a data folder with --data")
            continue
        # Everything that is drawn is in its graph.
        known = {"least_box": 0, "least_objects": 0} if name == "drawn" else {}
        generator = Generator(Corpus(graphs, default_ontology(), **known))
        made, spent = {}, {}
        with collector_paused():  # as a run does while it makes its tasks
            for test in TESTS:
                start = perf_counter()
                made[test] = generator.make(test, size=SIZE, seed=1)
                spent[test] = perf_counter() - start
        for test, one in made.items():
            rate = len(one.pairs) / spent[test]
            print(f"question_pairs: {name}, {test}: {rate:,.0f} pairs per second; {_leak(one.pairs)}")
        total, seconds = sum(len(one.pairs) for one in made.values()), sum(spent.values())
        wanting = Counter[str]()
        for one in made.values():
            wanting.update(one.wanting)
        start = perf_counter()
        Generator(Corpus(graphs, default_ontology(), **known))
        looked_up = perf_counter() - start
        print(
            f"question_pairs: {name}: {total:,} pairs, {total / seconds:,.0f} per second, bar 20,000; "
            f"{total / (seconds + looked_up):,.0f} with looking up {len(graphs):,} graphs"
        )
        print(
            Row(
                what=f"questions of {name} graphs: pairs in a second against 20,000",
                ratio=total / seconds / 20_000,
                bar=1,
            )
        )
        print(f"question_pairs: {name}: too few graphs for {dict(wanting)}")


def _real(data: Path) -> list[SceneGraph]:
    left_out: Counter[str] = Counter()
    return [graph for file in find_graphs([data]) for graph in read_graphs(file, faults="leave out", left_out=left_out)]


def _leak(pairs: Sequence[QuestionPair]) -> str:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    binary = [pair for pair in pairs if pair.choices[0] == ("yes", "no") and pair.perturbation in {"", "blur3"}]
    if len(binary) < 100:
        return "too few binary questions to tell whether text alone answers them"
    texts = [pair.questions[0] for pair in binary]
    answers = np.array([pair.answers[0] == "yes" for pair in binary])
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=1000))
    # Not by image: if a name is in one image only, its positives would never be seen with its negatives.
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    said = cross_val_predict(model, texts, answers, cv=folds)
    return f"text alone answers {np.mean(said == answers):.3f} of {len(binary):,}, {answers.mean():.3f} yes"


if __name__ == "__main__":
    main()
