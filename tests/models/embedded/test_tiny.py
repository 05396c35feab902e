"""The models in the package: they load with no network, and reach on unseen scenes what their READMEs say."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from vlgate.errors import ModelLoadError
from vlgate.fixtures.scenes.foils import attributes, existence, foil_it
from vlgate.fixtures.scenes.graph import SceneCase
from vlgate.models import load
from vlgate.models.loading.registry import check
from vlgate.models.tiny import checkpoint
from vlgate.record.options import DEFAULT_MODEL
from vlgate.types import Ask

NAMES = ("tiny-lxmert", "tiny-clip")
MOST_BYTES = 8_000_000
SEED = 77  # no seed of the training, and not the default


@pytest.fixture(scope="module")
def lxmert(tmp_path_factory):
    return load("tiny-lxmert", folder=tmp_path_factory.mktemp("start")).model


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return load("tiny-clip", folder=tmp_path_factory.mktemp("start")).model


def cases(make, number):
    return [make(SceneCase(task=f"scenes/{make.__name__}", seed=SEED, number=index)) for index in range(number)]


def share_right(scores):
    true, false = np.array(scores).reshape(-1, 2).T
    return float((true > false).mean())


def lxmert_share(model, made):
    return share_right(model.match([request for case in made for request in case.requests]))


def clip_share(model, made):
    images = model.encode_images([request.image for case in made for request in case.requests])
    texts = model.encode_texts([request.text for case in made for request in case.requests])
    return share_right((images * texts).sum(axis=1))


@pytest.mark.parametrize("make", [foil_it, existence, attributes])
def test_tiny_lxmert_sees_things_colours_and_absence(lxmert, make):
    assert lxmert_share(lxmert, cases(make, 24)) >= 0.85


def test_tiny_lxmert_answers_questions_about_colours_and_things(lxmert):
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
        replies = lxmert.answer(requests)
        right += [reply == truth for reply, (_, truth) in zip(replies, asked, strict=True)]
    assert np.mean(right) >= 0.8


@pytest.mark.parametrize("make", [foil_it, existence, attributes])
def test_tiny_clip_sees_things_colours_and_absence(clip, make):
    assert clip_share(clip, cases(make, 40)) >= 0.85


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_small_and_safe_and_described(name):
    files = list(checkpoint(name).iterdir())
    assert sum(file.stat().st_size for file in files if file.suffix == ".safetensors") <= MOST_BYTES
    assert {file.suffix for file in files} <= {".safetensors", ".json", ".txt", ".md", ".log"}
    card = (checkpoint(name) / "README.md").read_text(encoding="utf-8")
    assert "Apache-2.0" in card
    assert "seed" in card


def test_options_are_those_of_lxmert(tmp_path):
    check("tiny-lxmert:?mode=open&score=logit", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="unknown option 'mood'"):
        check("tiny-lxmert:?mood=open", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="its weights are in the package; write lxmert:folder"):
        check("tiny-lxmert:folder", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="takes no weights"):
        check("tiny-clip:folder", folder=tmp_path)


def test_the_folder_is_loaded_by_the_adapter_of_its_family(tmp_path, lxmert, clip):
    same = load(f"lxmert:{checkpoint('tiny-lxmert')}", folder=tmp_path).model
    assert same.fingerprint == lxmert.fingerprint
    assert load(f"open_clip:{checkpoint('tiny-clip')}", folder=tmp_path).model.fingerprint == clip.fingerprint
    assert "its own network" in lxmert.note or "own network" in lxmert.note
    assert "not cut" not in lxmert.note


def test_every_answer_of_the_drawn_world_is_known():
    answers = json.loads((checkpoint("tiny-lxmert") / "label2ans.json").read_text(encoding="utf-8"))
    from vlgate.fixtures.scenes.objects.catalogue import CATALOGUE

    assert {"yes", "no", "red", "large", "standing", *CATALOGUE} <= set(answers)
    assert Path(checkpoint("tiny-lxmert")).name == "tiny-lxmert"


def test_without_torch_the_default_model_names_the_one_that_needs_none(monkeypatch, tmp_path):
    found = find_spec
    monkeypatch.setattr("vlgate.models.tiny.find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(ModelLoadError, match=r"needs torch.*'vlgate\[hf\]', or use --model=bag-of-words"):
        check(DEFAULT_MODEL, folder=tmp_path)


def test_the_regions_of_lxmert_are_boxes_on_the_image_and_it_attends_to_these(lxmert):
    case = cases(foil_it, 1)[0]
    [boxes], [seen] = lxmert.boxes([case.requests[0].image]), lxmert.attended(case.requests[:1])
    assert ((boxes >= 0) & (boxes <= 1)).all()
    assert seen.boxes == tuple(map(tuple, boxes.tolist()))
    assert len(seen.weights) == len(boxes)
    assert max(seen.weights) == 1.0
    assert min(seen.weights) > 0


def test_the_map_of_clip_covers_the_image_and_depends_on_the_text(clip):
    one, other = clip.attended(cases(foil_it, 1)[0].requests)
    assert one.boxes[0][:2] == (0.0, 0.0)
    assert one.boxes[-1][2:] == (1.0, 1.0)
    assert len(one.boxes) == 36
    assert one.weights != other.weights
