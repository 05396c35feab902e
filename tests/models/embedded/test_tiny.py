"""The models in the package: they load with no network, and reach on unseen scenes what their READMEs say."""

import json
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import vlgate
from vlgate.errors import ModelLoadError
from vlgate.fixtures.scenes.foils import attributes, existence, foil_it
from vlgate.fixtures.scenes.graph import SceneCase
from vlgate.models import load
from vlgate.models.loading.registry import check
from vlgate.models.tiny import checkpoint
from vlgate.plugin import parse_options
from vlgate.record.options import DEFAULT_MODEL
from vlgate.types import Ask

NAMES = ("tiny-lxmert", "tiny-clip")
MOST_BYTES = 8_000_000
SEED = 77  # no seed of the training, and not the default


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return {name: load(name, folder=tmp_path_factory.mktemp("start")).model for name in NAMES}


def cases(make, number):
    return [make(SceneCase(task=f"scenes/{make.__name__}", seed=SEED, number=index)) for index in range(number)]


def share_right(scores):
    true, false = np.array(scores).reshape(-1, 2).T
    return float((true > false).mean())


def share_of_matches(model, requests):
    return share_right(model.match(requests))


def share_of_cosines(model, requests):
    images, texts = model.encode_images([r.image for r in requests]), model.encode_texts([r.text for r in requests])
    return share_right((images * texts).sum(axis=1))


@pytest.mark.parametrize("make", [foil_it, existence, attributes])
@pytest.mark.parametrize(("name", "share"), [("tiny-lxmert", share_of_matches), ("tiny-clip", share_of_cosines)])
def test_it_sees_things_colours_and_absence(models, name, share, make):
    assert share(models[name], [request for case in cases(make, 40) for request in case.requests]) >= 0.85


def test_tiny_lxmert_answers_questions_about_colours_and_things(models):
    right = []
    for case in cases(attributes, 12):
        image, colour = case.requests[0].image, case.tags["colour"]
        graph = image.load.graph
        names = [item["name"] for item in graph["objects"].values()]
        absent = next(name for name in ("cup", "key", "bell", "boat") if name not in names)
        asked = [(f"Is there a {names[0]} in the picture?", "yes"), (f"Is there a {absent} in the picture?", "no")]
        if names.count(names[0]) == 1:
            other = "red" if colour != "red" else "blue"
            asked.append((f"Is the {names[0]} in the picture {colour} or {other}?", colour))
        choices = [("yes", "no") if truth in {"yes", "no"} else (colour, other) for _, truth in asked]
        requests = [
            Ask(image=image, question=text, choices=offered) for (text, _), offered in zip(asked, choices, strict=True)
        ]
        replies = models["tiny-lxmert"].answer(requests)
        right += [reply == truth for reply, (_, truth) in zip(replies, asked, strict=True)]
    assert np.mean(right) >= 0.8


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_small_and_safe_and_described(name):
    files = list(checkpoint(name).iterdir())
    assert sum(file.stat().st_size for file in files if file.suffix == ".safetensors") <= MOST_BYTES
    assert {file.suffix for file in files} <= {".safetensors", ".json", ".txt", ".md", ".log"}
    card = (checkpoint(name) / "README.md").read_text(encoding="utf-8")
    assert "Apache-2.0" in card
    assert "seed" in card


ROOT = Path(vlgate.__file__).parents[1]
GATES = {"tiny-lxmert": ROOT / "thresholds.toml", "tiny-clip": checkpoint("tiny-clip").with_name("tiny-clip.toml")}


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_gates_of_a_model_are_below_what_it_reaches_and_its_limits_above(name):
    given = tomllib.loads(GATES[name].read_text(encoding="utf-8"))
    card = (checkpoint(name) / "README.md").read_text(encoding="utf-8")
    for kind in ("gate", "limit"):
        for task, metrics in given[kind].items():
            [(metric, keys)] = metrics.items()
            reached = re.search(rf"`{task}` \| {metric} \| ([\d.]+) \(([\d.]+) to ([\d.]+)", card)
            value, low, _ = map(float, reached.groups())
            assert keys.get("min", 0) < low if kind == "gate" else value <= keys["max"]
            assert keys.get("model", name) == name


@pytest.mark.parametrize("file", [GATES["tiny-clip"], ROOT / "vlgate/studies/sensitivity/tiny-clip.toml"])
def test_what_a_file_of_gates_says_was_measured_is_what_the_card_says(file):
    card = (checkpoint("tiny-clip") / "README.md").read_text(encoding="utf-8")
    said = re.findall(r'"(.+)"\.(\w+)]\n.*measured ([\d.]+ \([\d.]+ to [\d.]+)\)', file.read_text(encoding="utf-8"))
    assert len(said) > 8
    for task, metric, measured in said:
        assert f"`{task}` | {metric} | {measured}" in card


def test_the_gates_of_a_run_are_those_of_its_embedded_model(pytester, monkeypatch):
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    for model, file in {**GATES, "clip": GATES["tiny-lxmert"]}.items():
        for root in (ROOT, pytester.path):
            config = pytester.parseconfig(f"--rootdir={root}", f"--model={model}")
            assert parse_options.read(config).thresholds == file
    own = pytester.makefile(".toml", thresholds="schema = 1")
    assert parse_options.read(pytester.parseconfig("--model=tiny-clip")).thresholds == own


def test_options_are_those_of_lxmert(tmp_path):
    check("tiny-lxmert:?mode=open&score=logit", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="unknown option 'mood'"):
        check("tiny-lxmert:?mood=open", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="its weights are in the package; write lxmert:folder"):
        check("tiny-lxmert:folder", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="takes no weights"):
        check("tiny-clip:folder", folder=tmp_path)


def test_the_folder_is_loaded_by_the_adapter_of_its_family_and_knows_the_answers(tmp_path, models):
    lxmert, clip = models.values()
    same = load(f"lxmert:{checkpoint('tiny-lxmert')}", folder=tmp_path).model
    assert same.fingerprint == lxmert.fingerprint
    assert load(f"open_clip:{checkpoint('tiny-clip')}", folder=tmp_path).model.fingerprint == clip.fingerprint
    assert "its own network" in lxmert.note or "own network" in lxmert.note
    assert "not cut" not in lxmert.note
    answers = json.loads((checkpoint("tiny-lxmert") / "label2ans.json").read_text(encoding="utf-8"))
    from vlgate.fixtures.scenes.objects.catalogue import CATALOGUE

    assert {"yes", "no", "red", "large", "standing", *CATALOGUE} <= set(answers)
    assert Path(checkpoint("tiny-lxmert")).name == "tiny-lxmert"


def test_without_torch_the_default_model_names_the_one_that_needs_none(monkeypatch, tmp_path):
    found = find_spec
    monkeypatch.setattr("vlgate.models.tiny.find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(ModelLoadError, match=r"needs torch.*'vlgate\[hf\]', or use --model=bag-of-words"):
        check(DEFAULT_MODEL, folder=tmp_path)
