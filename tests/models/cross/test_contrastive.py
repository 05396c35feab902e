"""The contrastive scores of BLIP and BLIP-2, against transformers' own forward pass without the matching head."""

import cross_checkpoints
import numpy as np
import pytest
import torch
import transformers as hf
from cross_checkpoints import PLACES, pairs
from safetensors.torch import load_file, save_file

from vlgate.errors import ModelLoadError
from vlgate.models import load

NAMES = ("blip-itc", "blip2-itc")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    start = tmp_path_factory.mktemp("itc")
    return {name: cross_checkpoints.save(name, start / name) for name in NAMES}


def of(name, folder, **options):
    return load(f"{name}:{folder}", folder=folder, device="cpu", **options).model


def by_the_library(name, folder, pair):
    """The score of one pair, by transformers' own processor and forward pass."""
    cls = "BlipForImageTextRetrieval" if name == "blip-itc" else "Blip2ForImageTextRetrieval"
    model, processor = getattr(hf, cls).from_pretrained(folder).eval(), hf.AutoProcessor.from_pretrained(folder)
    length = PLACES + (4 if name == "blip2-itc" else 0)  # the 4 queries stand before the text
    made = processor(images=pair.image.load(), text=pair.text, return_tensors="pt", truncation=True, max_length=length)
    with torch.no_grad():
        if name == "blip-itc":
            return model(**made, use_itm_head=False).itm_score.item()
        return model(**made, use_image_text_matching_head=False).logits_per_image.item()


@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_the_librarys_contrastive_one_pair_by_pair(name, folders):
    model, asked = of(name, folders[name]), pairs()
    expected = [by_the_library(name, folders[name], pair) for pair in asked]
    assert model.match(asked) == pytest.approx(expected, abs=1e-5)
    assert np.concatenate([model.match([pair]) for pair in asked[::-1]])[::-1] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 0.01
    assert model.decision_threshold is None


@pytest.mark.parametrize("name", NAMES)
def test_half_precision_is_close(name, folders):
    asked = pairs()
    exact, half = of(name, folders[name]).match(asked), of(name, folders[name], dtype="bfloat16").match(asked)
    assert half == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize(("name", "part"), [("blip-itc", "vision_proj"), ("blip2-itc", "text_projection")])
def test_a_checkpoint_without_the_projections_is_refused(name, part, folders, tmp_path):
    for file in folders[name].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = {key: value for key, value in load_file(tmp_path / "model.safetensors").items() if part not in key}
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=f"{part}.*missing"):
        of(name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_the_matching_heads_checkpoint_says_which_name_has_the_contrastive_score(name, folders):
    with pytest.raises(ModelLoadError, match=f"write {name}:"):
        of("dual", folders[name])
