"""Generative models from a folder: loaded whole, in each precision, or refused."""

import sys

import numpy as np
import pytest
import tiny_vlms
import transformers
from safetensors.torch import load_file, save_file
from vlm_cases import ASKS, CHOICES, FAMILIES, IMAGES, PAIRS, family, of

from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.models.generative.adapter import check
from vlgate.types import Ask


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A folder with a checkpoint of each family, saved by save_pretrained()."""
    folder = tmp_path_factory.mktemp("vlms")
    for name in FAMILIES:
        for part in family(name):
            part.save_pretrained(folder / name)
    return folder


def loaded(name, start, options="", **settings):
    return load(f"vlgate.models.generative.adapter:build:{name}{options}", folder=start, device="cpu", **settings)


def test_a_question_without_choices_is_answered_in_words(start):
    open_ = Ask(image=IMAGES[0], question="What is this?")
    chosen = loaded("llava", start).model
    free = loaded("llava", start, "?mode=generate").model
    replies = chosen.answer([ASKS[0], open_, ASKS[1]])
    assert replies[1] == free.answer([open_])[0]
    assert [replies[0], replies[2]] == chosen.answer(ASKS[:2])
    assert chosen.note != free.note


@pytest.mark.parametrize("name", FAMILIES)
def test_a_saved_folder_is_loaded(name, start):
    check(f"{name}?score=yes-no", start)
    found = loaded(name, start).model
    assert found.match(PAIRS) == pytest.approx(of(name).match(PAIRS), rel=1e-6)
    assert found.answer(ASKS) == of(name).answer(ASKS)


def test_half_precision_and_the_fingerprint(start):
    exact, half = loaded("qwen3_vl", start), loaded("qwen3_vl", start, dtype="bfloat16")
    assert np.isfinite(half.model.match(PAIRS)).all()
    assert np.log(half.model.match(PAIRS)) == pytest.approx(np.log(exact.model.match(PAIRS)), abs=0.7)
    assert set(half.model.answer(ASKS)) <= set(CHOICES)
    others = [loaded("qwen3_vl", start, options).fingerprint for options in ("?score=yes-no", "?mode=generate")]
    prints = {exact.fingerprint, half.fingerprint, *others, loaded("llava", start).fingerprint}
    assert len(prints) == 5
    assert loaded("qwen3_vl", start, "?mode=choices").fingerprint == exact.fingerprint
    assert "VQAScore" in exact.model.note


def test_unknown_options_and_missing_weights_are_refused(start, tmp_path):
    for weights, message in (
        ("llava?score=yesno", "did you mean 'yes-no'"), ("llava?skore=yes-no", "did you mean 'score'"),
        ("llava?mode=open", "mode='open'"), ("./lava", "lava"), ("", "no weights"),
    ):  # fmt: skip
        with pytest.raises(ModelLoadError, match=message):
            check(weights, start)
    with pytest.raises(ModelLoadError, match="HF_HUB_OFFLINE"):
        loaded("org/name", tmp_path)


def test_a_model_of_another_kind_or_without_all_its_weights(start, tmp_path):
    transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=8, n_layer=1, n_head=1)).save_pretrained(tmp_path / "x")
    tiny_vlms.tokenizer().save_pretrained(tmp_path / "x")
    with pytest.raises(ModelLoadError):
        loaded("x", tmp_path)
    for part in family("llava"):
        part.save_pretrained(tmp_path / "half")
    weights = load_file(start / "llava" / "model.safetensors")
    weights.pop(next(name for name in weights if "projector" in name))
    save_file(weights, tmp_path / "half" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match="random numbers"):
        loaded("half", tmp_path)
    (tmp_path / "half" / "model.safetensors").unlink()
    with pytest.raises(ModelLoadError, match=r"model\.safetensors"):
        loaded("half", tmp_path)


def test_without_transformers(start, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelLoadError, match=r"pip install 'vlgate\[hf\]'"):
        loaded("llava", start)
