"""``vlgate make`` with models that have learnt from captions, so that each path runs with judges that decide."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from builders import read_lines, tabled, write_lines

from vlgate.cli import main
from vlgate.making.kinds.kind import kind
from vlgate.making.sets import validity
from vlgate.models.text.gap_filler import gap_filler
from vlgate.models.text.judges import entailment, grammaticality, plausibility
from vlgate.perturb.foils.candidates import Gap

pytestmark = pytest.mark.slow
PLURALS = {"dog": "dogs", "cat": "cats", "horse": "horses", "boy": "boys", "girl": "girls", "woman": "women"}
LONG = f"A dog sits on the table {'and a cat sits on the bench ' * 20}."


def described():
    """Two captions of each image, which agree about a place or a number."""
    for one, many in PLURALS.items():
        for thing in ("table", "bench", "chair", "bed"):
            for where in ("on", "under", "next to", "behind"):
                yield f"A {one} sits {where} the {thing}.", f"There is a {one} {where} a {thing}."
        for place in ("gate", "door", "lake", "fence"):
            yield f"A {one} is at the {place} of the park.", f"There is a {one}."
            for number in ("two", "three"):
                yield f"{number.title()} {many} are at the {place} of the park.", f"There are {number} {many}."


ROWS = [{"image": f"{n}.jpg", "caption": text} for n, both in enumerate(described()) for text in both]
TEXTS = [row["caption"] for row in ROWS]


def quantified():
    """Texts with the words that foils put in, for the models to know."""
    for one, many in PLURALS.items():
        for words in ("Exactly one", "A single"):
            yield from (f"{words} {one} is at the gate of the park.", f"There is {words.lower()} {one} on a bed.")
        for words in ("Some", "A number of", "Exactly two", "Exactly three"):
            yield from (f"{words} {many} are at the gate of the park.", f"There are {words.lower()} {many} on a bed.")


@pytest.fixture(scope="module")
def training():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "scripts")
        yield import_module("train_judges")


@pytest.fixture(scope="module")
def judges(training, tmp_path_factory):
    """The folder of each model, by its option."""
    made = training.train([*TEXTS, *quantified()], tmp_path_factory.mktemp("judges"))
    return {name: str(folder) for name, folder in made.items()}


@pytest.fixture
def make(judges, tmp_path):
    def made(name, *tools, rows=(*ROWS, {"image": "long.jpg", "caption": LONG})):
        file = write_lines(tmp_path / "input.jsonl", rows)
        options = [part for tool in tools for part in (f"--{tool}", judges[tool])]
        assert main(["make", name, "--from", str(file), "--out", str(tmp_path / "set"), "--overwrite", *options]) == 0
        [cases] = (tmp_path / "set/cases").glob("*.jsonl")
        return json.loads((tmp_path / "set/bias.json").read_text()), read_lines(cases)

    return made


def test_each_model_has_learnt_what_it_is_asked(training, judges):
    chance = np.random.default_rng(9)
    lessons = [training.lesson(text, chance) for text in TEXTS]
    wanted = np.array([training.INFERENCES.index(label) for _, label in lessons])
    found = entailment(judges["nli"]).infer([pair for pair, _ in lessons]).argmax(axis=1)
    assert min((found[wanted == label] == label).mean() for label in range(3)) > 0.5
    shuffled = [" ".join(chance.permutation(text.split())) for text in TEXTS]
    grammar, lm = grammaticality(judges["grammar"]), plausibility(judges["lm"])
    accepted = [(grammar.acceptability(texts) >= validity.LEAST_GRAMMATICAL).mean() for texts in (TEXTS, shuffled)]
    assert accepted[0] > 0.8
    assert accepted[1] < 0.2
    assert np.median(lm.perplexity(TEXTS)) < np.median(lm.perplexity(shuffled)) / 3
    [filled] = gap_filler(judges["mlm"]).fill([Gap(before="A cat sits", after="the table.")], 3)
    assert {"on", "under", "behind"} & {one.text for one in filled}
    assert any(len(one.text.split()) > 1 for one in filled)  # a span of several masks


def test_the_model_of_inference_refuses_what_a_caption_entails_and_what_it_leaves_open(judges):
    pairs = [
        ("A dog sits next to the chair.", "A dog sits next to the chair."),
        ("Two cats are at the gate of the park.", "Two cats are at the gate of the park."),
        ("A dog sits on the table.", "A dog sits on the table near a thing."),
        ("A dog sits on the table.", "A dog sits under the table."),
        ("Two cats are at the gate of the park.", "Three cats are at the gate of the park."),
    ]
    for wanted, neutral in (("contradiction", validity.NEUTRAL), ("not entailment", None)):
        reasons = validity.followed(pairs, entailment(judges["nli"]), wanted)
        assert reasons == [validity.ENTAILED, validity.ENTAILED, neutral, None, None]


@tabled
def test_the_cases_that_stay_are_those_that_the_models_take(make, judges, name, tools):
    report, cases = make(name, *tools)
    pairs = [(case["caption"], case["foil"]) for case in cases]
    likely = entailment(judges["nli"]).infer(pairs)
    assert (likely[:, 0] < likely.max(axis=1)).all()  # none is entailed
    if kind(name).inference == "contradiction":
        assert (likely[:, 2] > likely[:, 1]).all()
    if "grammar" in tools:
        scores = grammaticality(judges["grammar"]).acceptability([foil for _, foil in pairs])
        assert scores.min() >= validity.LEAST_GRAMMATICAL
        assert report["dropped"][validity.UNGRAMMATICAL] > 0
    assert report["plausibility"]["model"] == judges["lm"]
    assert report["plausibility"]["n"] == len(cases)
    assert {tool: report["made_by"][f"--{tool}"] for tool in tools} == {tool: judges[tool] for tool in tools}


def test_a_masked_model_proposes_more_than_the_tables(make):
    by_table = {(case["caption"], case["foil"]) for case in make("relations")[1]}
    report, cases = make("relations", "mlm", "nli")
    assert report["candidates"] > 0
    assert {(case["caption"], case["foil"]) for case in cases} - by_table
