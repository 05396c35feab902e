import numpy as np
import pytest

from vlgate.fixtures.scenes.draw import draw
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.models.regions.region_network import MOST, overlaps, propose


@pytest.fixture(scope="module")
def scenes():
    graphs = [as_gqa(graph) for graph in world_graphs(12, 25)]
    return [(graph, np.asarray(draw(graph))) for graph in graphs]


def best_overlaps(graph, boxes):
    true = [(item["x"], item["y"], item["x"] + item["w"], item["y"] + item["h"]) for item in graph["objects"].values()]
    return overlaps(np.array(true, np.float32), boxes).max(axis=1)


def test_nearly_every_thing_has_a_box_although_things_touch(scenes):
    found = np.concatenate([best_overlaps(graph, propose(pixels)) for graph, pixels in scenes])
    assert (found >= 0.5).mean() > 0.9
    alone = np.concatenate([best_overlaps(graph, propose(pixels)[:1]) for graph, pixels in scenes])
    assert (alone >= 0.5).mean() < 0.4


def test_boxes_are_in_the_image_differ_and_are_few(scenes):
    for _, pixels in scenes:
        boxes = propose(pixels)
        height, width = pixels.shape[:2]
        assert 1 <= len(boxes) <= MOST
        assert (boxes >= 0).all()
        assert (boxes[:, 2] <= width).all()
        assert (boxes[:, 3] <= height).all()
        assert (boxes[:, 2:] - boxes[:, :2] >= 8).all()
        assert np.triu(overlaps(boxes, boxes), 1).max(initial=0) < 0.9


def test_an_image_in_which_nothing_stands_out_is_one_box():
    assert propose(np.full((30, 50, 3), 240, np.uint8)).tolist() == [[0, 0, 50, 30]]
    assert propose(np.zeros((1, 1, 3), np.uint8)).tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize("shape", [(1, 200), (200, 1), (7, 7), (3, 900)])
def test_an_image_of_any_size_has_boxes(shape):
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    assert len(propose(pixels)) >= 1


def test_overlaps_are_those_of_the_areas_of_pixels():
    chance = np.random.default_rng(0)
    corners = np.sort(chance.integers(0, 12, (2, 20, 2, 2)), axis=2)
    some, others = corners.transpose(0, 1, 2, 3).reshape(2, 20, 4).astype(np.float32)
    some[:, 2:] += 1
    others[:, 2:] += 1

    def covered(box):
        mask = np.zeros((14, 14), bool)
        mask[int(box[1]) : int(box[3]), int(box[0]) : int(box[2])] = True
        return mask

    slow = [[(covered(a) & covered(b)).sum() / (covered(a) | covered(b)).sum() for b in others] for a in some]
    assert overlaps(some, others) == pytest.approx(np.array(slow))
