"""Every generated answer against a second reader, which has the text and the scene graph only."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from evaluator import disagreements

from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import TESTS, Corpus, Generator, makeup
from vlgate.sources.graphs.files import read_graphs

REAL = Path(__file__).parents[4] / "shared/data/scene-graphs"
SIZE = 300
BAR = 0.001  # of all answers, that may be other ones
BAR_OF_A_KIND = 0.05


@pytest.fixture(scope="module")
def drawn():
    generator = Generator(Corpus(world_graphs(0, 150), default_ontology()))
    return [pair for test in TESTS for pair in generator.make(test, size=SIZE, seed=1).pairs]


@pytest.fixture(scope="module")
def real():
    if not REAL.is_dir():
        pytest.skip("needs ../shared/data/scene-graphs")
    files = sorted(REAL.glob("vg_scene_graphs_*.json"))
    graphs = [graph for file in files for graph in read_graphs(file, faults="leave out", left_out=Counter())]
    generator = Generator(Corpus(graphs, default_ontology()))
    return [pair for test in TESTS for pair in generator.make(test, size=SIZE, seed=1).pairs]


def agrees(pairs):
    found = list(disagreements(pairs, default_ontology()))
    asked = Counter(pair.kind for pair in pairs)
    wrong = Counter(one.pair.kind for one in found)
    listed = "\n".join(map(str, found[:20]))
    assert len(found) <= BAR * 2 * len(pairs), listed
    assert [kind for kind in wrong if wrong[kind] > BAR_OF_A_KIND * 2 * asked[kind]] == [], listed


@pytest.mark.slow
def test_answers_about_drawn_scenes(drawn):
    assert {(pair.test, pair.kind) for pair in drawn} == {(test, kind) for test in TESTS for kind in makeup(test, SIZE)}
    agrees(drawn)


@pytest.mark.slow
def test_answers_about_real_scenes(real):
    assert {pair.test for pair in real} == set(TESTS)
    agrees(real)


def test_a_wrong_answer_is_found(drawn):
    pairs = [pair for pair in drawn if pair.test == "negation-dir"]
    wrong = [replace(pair, answers=pair.answers[::-1]) for pair in pairs]
    assert len(list(disagreements(wrong, default_ontology()))) == 2 * len(pairs)
