"""Maps of attention against planted networks and an exact solver."""

from itertools import product

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.optimize import linprog

from vlgate.models.attention import (
    FRAMES,
    WHOLE,
    Encoders,
    LastGrid,
    caught,
    cells,
    grad_cams,
    last_grid,
    patches_rolled_out,
    rolled_out,
    two_streams,
)
from vlgate.models.cross.vilt import cosine_cost, transport
from vlgate.models.tiny import build_lxmert
from vlgate.types import LazyImage, Match


def cheapest(cost):
    m, n = cost.shape
    rows, columns = np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))
    found = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=[1 / m] * m + [1 / n] * n)
    return found.fun


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (6, 20), (9, 4)])
def test_the_plan_costs_hardly_more_than_the_cheapest_and_moves_all_weights(shape):
    chance = np.random.default_rng(sum(shape))
    cost = cosine_cost(chance.normal(size=(shape[0], 8)), chance.normal(size=(shape[1], 8)))
    assert cosine_cost(np.array([[1.0, 0]]), np.array([[2.0, 0], [0, 3.0], [-1.0, 0]])).tolist() == [[0.0, 1.0, 2.0]]
    plan = transport(cost)
    assert np.allclose(plan.sum(axis=1), 1 / shape[0])
    assert np.allclose(plan.sum(axis=0), 1 / shape[1], atol=1e-3)
    assert (plan * cost).sum() <= cheapest(cost) + 2e-3


class Planted(torch.nn.Module):
    """Averages patches of 8 x 8 pixels; a feature per text counts only what is in its own colour channel."""

    def __init__(self):
        super().__init__()
        self.layer4 = torch.nn.AvgPool2d(8)

    def forward(self, pixels):
        return self.layer4(pixels).mean(dim=(2, 3))


def encoders(network, frame=FRAMES["stretched"]):
    def pixels(images):
        return torch.stack(
            [torch.tensor(np.asarray(image.load()) / 255.0).permute(2, 0, 1).float() for image in images]
        )

    rows = {"red": [1.0, 0, 0], "blue": [0, 0, 1.0]}
    return Encoders(
        grid=last_grid(network),
        frame=frame,
        prepare=pixels,
        encode_images=network,
        encode_texts=lambda texts: torch.tensor([rows[text] for text in texts]),
    )


def spots():
    """Red at the top left, blue at the bottom right."""
    pixels = np.full((32, 32, 3), 10, np.uint8)
    pixels[:8, :8, 0] = pixels[24:, 24:, 2] = 255
    return LazyImage(key="spots", load=lambda: Image.fromarray(pixels))


@pytest.mark.parametrize(("text", "box"), [("red", (0.0, 0.0, 0.25, 0.25)), ("blue", (0.75, 0.75, 1.0, 1.0))])
def test_grad_cam_points_at_what_raises_the_cosine(text, box):
    [found] = grad_cams([Match(image=spots(), text=text)], encoders(Planted()))
    assert len(found.boxes) == 16
    assert found.boxes[int(np.argmax(found.weights))] == box
    assert max(found.weights) == 1.0


def test_the_map_lies_on_the_part_of_the_image_that_the_network_sees():
    image = LazyImage(key="wide", load=lambda: spots().load().resize((64, 32)))

    def cut(size):
        assert size == (64, 32)
        return FRAMES["cropped"](size)

    [found] = grad_cams([Match(image=image, text="red")], encoders(Planted(), cut))
    assert found.boxes[0][:2] == (0.25, 0.0)
    assert found.boxes[-1][2:] == (0.75, 1.0)
    assert FRAMES["padded"]((64, 32)) == (0.0, -0.5, 1.0, 1.5)
    assert FRAMES["stretched"]((64, 32)) == WHOLE


def test_the_grid_of_a_transformer_is_taken_before_its_last_block():
    class Blocks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = torch.nn.Module()
            self.encoder.layers = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.Identity()])

    assert last_grid(torch.nn.Linear(2, 2)) is None
    assert grad_cams([Match(image=spots(), text="red")], encoders(torch.nn.Linear(2, 2))) == []
    network = Blocks()
    assert last_grid(network) == LastGrid(module=network.encoder.layers[-1], before=True)


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
    for index, ((who, whom), weights) in enumerate(calls):
        if who != whom and order[index - 1] != (whom, who):
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
