"""Attention rollout against networks that only mix their tokens, and against the attention of the libraries."""

from itertools import product

import numpy as np
import pytest
import torch
from PIL import Image

from vlgate.models.attention import caught, cells, patches_rolled_out, rolled_out, two_streams
from vlgate.models.tiny import build_lxmert
from vlgate.types import LazyImage, Match


def shares(chance, *shape):
    """Random rows that sum to 1."""
    found = chance.random(shape)
    return found / found.sum(axis=-1, keepdims=True)


def test_the_rollout_is_the_sum_over_all_paths_through_the_layers():
    chance = np.random.default_rng(0)
    layers = [shares(chance, 3, 3) for _ in range(3)]

    def step(layer, to, source):
        return (layers[layer][to, source] + (to == source)) / 2

    expected = np.zeros((3, 3))
    for top, second, first, source in product(range(3), repeat=4):
        expected[top, source] += step(2, top, second) * step(1, second, first) * step(0, first, source)
    assert rolled_out(layers) == pytest.approx(expected)
    assert rolled_out(layers).sum(axis=1) == pytest.approx(np.ones(3))


def test_two_streams_mix_as_a_network_that_computes_both_directions_from_the_same_tokens():
    chance = np.random.default_rng(1)
    texts, regions = 4, 3
    sizes = {"text": texts, "regions": regions}
    order = [("text", "text"), ("regions", "regions")]
    order += [("text", "regions"), ("regions", "text"), ("text", "text"), ("regions", "regions")] * 2
    calls = [(streams, shares(chance, sizes[streams[0]], sizes[streams[1]])) for streams in order]
    state = {"text": np.eye(texts, texts + regions), "regions": np.eye(regions, texts + regions, texts)}
    before = dict(state)
    for place, ((who, whom), weights) in enumerate(calls):
        if who != whom and order[place - 1] != (whom, who):
            before = dict(state)
        source = before if who != whom else state
        state[who] = (weights @ source[whom] + state[who]) / 2
    assert two_streams(calls) == pytest.approx(state["text"][0, texts:])


@pytest.mark.parametrize("before", [0, 1])
def test_a_map_of_patches_follows_the_class_token_or_the_mean(before):
    tokens = before + 9
    layer = np.eye(tokens)
    layer[:, before + 5] += 3
    found = patches_rolled_out([layer / layer.sum(axis=1, keepdims=True)], "a", (0.0, 0.0, 1.0, 1.0))
    assert found.boxes[int(np.argmax(found.weights))] == pytest.approx((2 / 3, 1 / 3, 1.0, 2 / 3))
    assert patches_rolled_out([np.eye(8)], "a", (0.0, 0.0, 1.0, 1.0)) is None
    assert patches_rolled_out([], "a", (0.0, 0.0, 1.0, 1.0)) is None
    assert cells((2, 3)).shape == (6, 4)


def test_the_attention_of_lxmert_is_caught_in_the_order_of_its_layers_and_is_the_librarys_own():
    model = build_lxmert()
    pixels = np.full((120, 160, 3), 240, np.uint8)
    pixels[30:80, 20:70], pixels[60:100, 100:140] = (200, 20, 20), (20, 20, 200)
    pair = Match(image=LazyImage(key="1", load=lambda: Image.fromarray(pixels)), text="There is a red box.")
    regions, (tokens, _) = model._inputs.regions([pair.image]), model._inputs.tokens([pair.text])
    seen = {"visual_feats": regions.features, "visual_pos": regions.boxes, **tokens}
    encoder = model._model.lxmert.encoder
    modules = [layer.attention.self for layer in (*encoder.layer, *encoder.r_layers)]
    modules += [layer.visual_attention.att for layer in encoder.x_layers]
    with torch.inference_mode():
        with caught(modules) as kept:
            model._model.lxmert(**seen)
        own = model._model.lxmert(**seen, output_attentions=True)
    expected = [*own.language_attentions, *own.vision_attentions]
    assert all(torch.equal(one, other) for one, other in zip(kept, expected, strict=False))
    across = kept[len(expected) :]
    assert all(torch.equal(one, other) for one, other in zip(across[::2], own.cross_encoder_attentions, strict=True))
    [found] = model.attention_rollout([pair])
    assert found.boxes == model.attended([pair])[0].boxes
    assert max(found.weights) == 1.0
    assert min(found.weights) > 0
