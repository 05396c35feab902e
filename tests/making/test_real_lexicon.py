"""The kinds that look words up in a WordNet, through the command, with Open English Wordnet if it is at hand."""

import json
import os
from pathlib import Path

import pytest
from builders import read_lines, write_lines

from vlgate.cli import main
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.ontology.wordnet import extended_by_wordnet

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parents[3] / "shared/data"
OEWN = DATA / "wordnet/oewn.xml.gz"
GRAPHS = DATA / "scene-graphs/vg_scene_graphs_1-10.json"
FRAMES = (
    ("washing", "woman", "dog"),
    ("kissing", "woman", "dog"),
    ("kissing", "man", "baby"),
    ("feeding", "man", "baby"),
    ("chasing", "cat", "mouse"),
    ("photographing", "tourist", "axolotl"),
)


@pytest.fixture(scope="module")
def lexicon(pytestconfig, tmp_path_factory):
    """The lexicon's name in a database of this worker that stays in pytest's cache: reading it takes 13 seconds."""
    wn = pytest.importorskip("wn")
    if not OEWN.is_file():
        pytest.skip(f"there is no {OEWN}")
    before = wn.config.data_directory
    make = pytestconfig.cache.mkdir if hasattr(pytestconfig, "cache") else tmp_path_factory.mktemp
    wn.config.data_directory = make(f"oewn-{os.environ.get('PYTEST_XDIST_WORKER', '')}")
    try:
        if not any(one.id == "oewn" for one in wn.lexicons()):
            wn.add(OEWN, progress_handler=None)
        yield next(one.specifier() for one in wn.lexicons() if one.id == "oewn")
    finally:
        wn.config.data_directory = before


@pytest.fixture
def made(tmp_path, lexicon):
    """Make a set through the command; return its cases."""

    def make(kind, *files, **options):
        out = tmp_path / kind
        given = [word for name, value in options.items() for word in (f"--{name}", value)]
        names = [str(file) for file in files]
        assert main(["make", kind, "--from", *names, "--out", str(out), "--wordnet", lexicon, *given]) == 0
        return read_lines(out / f"cases/{kind}.jsonl")

    return make


@pytest.fixture
def frames(tmp_path):
    rows = (
        {
            "image": f"{number}.jpg",
            "verb": verb,
            "template": f"the AGENT {verb.removesuffix('ing')}es the ITEM at a PLACE",
            "roles": {"agent": agent, "item": item},
        }
        for number, (verb, agent, item) in enumerate(FRAMES)
    )
    return write_lines(tmp_path / "frames.jsonl", rows)


def test_actions_that_the_lexicon_does_not_relate_replace_each_other(made, frames) -> None:
    pairs = {(one["caption"], one["foil"]) for one in made("action-replacement", frames)}
    assert {("A woman washes a dog.", "A woman kisses a dog."), ("A woman kisses a dog.", "A woman washes a dog.")} <= (
        pairs
    )


def test_actors_change_places(made, frames) -> None:
    pairs = {(one["caption"], one["foil"]) for one in made("actant-swap", frames)}
    assert ("A cat chases a mouse.", "A mouse chases a cat.") in pairs
    assert ("A tourist photographs an axolotl.", "An axolotl photographs a tourist.") in pairs


@pytest.mark.parametrize("kind", ["object", "attribute", "relation"])
def test_the_lexicon_adds_words_to_the_kinds_of_scene_graphs(made, tmp_path, kind: str) -> None:
    cases = made(kind, GRAPHS, faults="leave-out")
    out = tmp_path / "without"
    options = ["--from", str(GRAPHS), "--faults", "leave-out", "--out", str(out)]
    assert main(["make", kind, *options]) == 0
    refused = [json.loads((folder / "bias.json").read_text())["refused"] for folder in (tmp_path / kind, out)]
    assert cases
    assert refused[0] != refused[1]
    assert all(case["caption"] != case["foil"] for case in cases)


NAMES = "red reds panties panty sub wedge pinky love hippie hippies hoagie ducky duckies deary vis-à-vis".split()
"""Names whose synonyms share a plural, or are one another's plural."""


@pytest.mark.parametrize("names", [*([name] for name in NAMES), NAMES], ids=lambda names: "+".join(names)[:20])
def test_a_name_that_the_lexicon_cannot_place_ends_no_run(lexicon, names):
    ontology = default_ontology()
    extended, unknown = extended_by_wordnet(ontology, names, lexicon=lexicon)
    assert set(unknown) == {name for name in names if not extended.knows(name)}
