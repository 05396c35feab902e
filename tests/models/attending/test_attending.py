"""Maps of attention against planted networks and an exact solver."""

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.optimize import linprog

from vlgate.models.attention import WHOLE, Encoders, LastGrid, centre, grad_cams, last_grid, padded, whole
from vlgate.models.cross.vilt import cosine_cost, transport
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
    plan = transport(cost)
    assert np.allclose(plan.sum(axis=1), 1 / shape[0])
    assert np.allclose(plan.sum(axis=0), 1 / shape[1], atol=1e-3)
    assert (plan * cost).sum() <= cheapest(cost) + 2e-3


def test_the_cost_is_one_minus_the_cosine():
    cost = cosine_cost(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]]))
    assert cost.tolist() == [[0.0, 1.0, 2.0]]


class Planted(torch.nn.Module):
    """Averages patches of 8 x 8 pixels; a feature per text counts only what is in its own colour channel."""

    def __init__(self):
        super().__init__()
        self.layer4 = torch.nn.AvgPool2d(8)

    def forward(self, pixels):
        return self.layer4(pixels).mean(dim=(2, 3))


def encoders(network, frame=whole):
    def pixels(images):
        return torch.stack([torch.tensor(np.asarray(one.load()) / 255.0).permute(2, 0, 1).float() for one in images])

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
        return centre(size)

    [found] = grad_cams([Match(image=image, text="red")], encoders(Planted(), cut))
    assert found.boxes[0][:2] == (0.25, 0.0)
    assert found.boxes[-1][2:] == (0.75, 1.0)
    assert padded((64, 32)) == (0.0, -0.5, 1.0, 1.5)
    assert whole((64, 32)) == WHOLE


def test_an_encoder_that_is_not_known_has_no_map():
    assert last_grid(torch.nn.Linear(2, 2)) is None
    unknown = torch.nn.Linear(2, 2)
    assert grad_cams([Match(image=spots(), text="red")], encoders(unknown)) == []


def test_the_grid_of_a_transformer_is_taken_before_its_last_block():
    class Blocks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = torch.nn.Module()
            self.encoder.layers = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.Identity()])

    network = Blocks()
    assert last_grid(network) == LastGrid(module=network.encoder.layers[-1], before=True)
