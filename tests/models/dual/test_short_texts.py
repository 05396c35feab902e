"""Texts without their padding: only if that changes nothing, in groups of similar length, in their order."""

import json

import numpy as np
import open_clip
import pytest
import torch
from held_network import network

from vlgate.asking.adapters import adapters
from vlgate.models import load
from vlgate.models.dual.features import AT_ONCE, apart, in_groups, told

ARCH = "tiny-clip-of-short-texts"
TEXT = {"context_length": 40, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2}
VISION = {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16}
TEXTS = ["dog " * n for n in (1, 30, 3, 60, 2, 12)]  # the fourth is cut at the context


@pytest.fixture
def loaded(tmp_path):
    """Loads a tiny model with random weights and the given text encoder."""
    from open_clip import factory

    file = tmp_path / f"{ARCH}.json"

    def model(**text):
        custom = {"custom_text": True} if text else {}
        file.write_text(json.dumps({"embed_dim": 16, "vision_cfg": VISION, "text_cfg": {**TEXT, **text}, **custom}))
        open_clip.add_model_config(file)
        return load(f"open_clip:{ARCH}/random", folder=tmp_path, device="cpu").model

    yield model
    factory._MODEL_CONFIG_PATHS.remove(file)
    factory._MODEL_CONFIGS.pop(ARCH)


def by_hand(model, texts):
    """The features of open_clip's own call, with all of the padding."""
    net = network(model)
    with torch.inference_mode():
        rows = net.encode_text(open_clip.get_tokenizer(ARCH)(texts), normalize=False).double()
    return torch.nn.functional.normalize(rows, dim=-1).numpy()


def lengths_of(model, texts):
    """The numbers of texts and tokens that reach the text encoder in each of its calls."""
    seen = []
    net = network(model)
    inner = getattr(net, "text", net).transformer
    hook = inner.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0].shape[:2])))
    try:
        model.encode_texts(texts)
    finally:
        hook.remove()
    return seen


@pytest.mark.parametrize("text", [{}, {"proj_bias": True}], ids=["CLIP", "CustomTextCLIP"])
def test_padding_is_left_out_where_it_changes_nothing(loaded, text):
    model = loaded(**text)
    assert np.abs(model.encode_texts(TEXTS) - by_hand(model, TEXTS)).max() < 1e-6
    assert lengths_of(model, TEXTS) == [(6, 40)]
    assert lengths_of(model, TEXTS[:3]) == [(3, 32)]
    assert lengths_of(model, ["dog " * (1 + n % 20) for n in range(2 * AT_ONCE)])[0] == (AT_ONCE, 10)  # of 1 to 8 dogs
    assert "texts are read without their padding" in adapters(model)["Match"]
    assert "texts" not in adapters(model)["Ask"]


@pytest.mark.parametrize("text", [{"no_causal_mask": True}, {"pool_type": "last"}, {"embed_cls": True}])
def test_padding_that_the_model_reads_stays(loaded, text):
    model = loaded(**text)
    full = TEXT["context_length"] + ("embed_cls" in text)
    assert np.abs(model.encode_texts(TEXTS) - by_hand(model, TEXTS)).max() < 1e-6
    assert lengths_of(model, TEXTS[:1]) == [(1, full)]
    assert "texts are read with their padding" in adapters(model)["Match"]


def test_a_causal_model_that_looks_at_its_padding_all_the_same_is_found_out(loaded, monkeypatch):
    model = loaded()
    plain = type(network(model)).encode_text

    def encode_text(net, tokens, normalize=False):
        return plain(net, tokens, normalize) + net.token_embedding(tokens).mean(dim=1)[:, :16]

    monkeypatch.setattr(type(network(model)), "encode_text", encode_text)
    assert np.abs(model.encode_texts(TEXTS) - by_hand(model, TEXTS)).max() < 1e-6
    assert lengths_of(model, TEXTS[:1]) == [(1, 40)]
    assert "with their padding: without it, the features of 3 texts differ" in model.reading


def test_groups_hold_texts_of_similar_length_and_keep_the_order():
    lengths = [5, 40, 5, 7, 30] * AT_ONCE
    calls = []

    def encode(places, longest):
        calls.append([lengths[place] for place in places])
        assert longest == max(calls[-1])
        return torch.tensor([[place, longest] for place in places])

    found = in_groups(lengths, "cpu", encode)
    assert found[:, 0].tolist() == list(range(len(lengths)))
    assert [call for call in calls if len(set(call)) > 1] == []
    assert {len(call) for call in calls} == {AT_ONCE}
    calls.clear()
    in_groups(lengths, "cuda:0", encode)
    assert len(calls) == 1


def test_what_is_not_the_same_says_why():
    rows = torch.eye(3, dtype=torch.float32)
    assert apart(rows, lambda: 2 * rows) == 0
    assert "differ by 0.7" in apart(rows, lambda: rows + rows.roll(1, 0))
    assert "another shape, (3, 2)" in apart(rows, lambda: rows[:, :2])
    assert "differ by nan" in apart(rows, lambda: rows * torch.nan)

    def refuse():
        raise RuntimeError("expanded size")

    assert "does not take shorter texts (RuntimeError: expanded size)" in apart(rows, refuse)
    assert told("why") == "texts are read with their padding: why"
