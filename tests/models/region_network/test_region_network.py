import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from vlgate.errors import ModelLoadError
from vlgate.fixtures.scenes.draw import draw
from vlgate.fixtures.scenes.scene_graphs import as_gqa, image_of, world_graphs
from vlgate.models.regions.region_network import (
    MOST,
    SETTINGS,
    WEIGHTS,
    Settings,
    build_network,
    chosen,
    has_network,
    network_source,
    overlaps,
    propose,
    read_settings,
    write_settings,
)
from vlgate.types import LazyImage

TINY = Settings(
    crop=16,
    channels=(4, 6),
    strides=(2, 2),
    width=8,
    count=5,
    overlap=0.6,
    sure=0.0,
    objects=("cup", "dog"),
    attributes=("red", "blue", "open"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("network")
    torch.manual_seed(0)
    write_settings(TINY, place)
    save_file(build_network(TINY).state_dict(), place / WEIGHTS)
    return place


@pytest.fixture(scope="module")
def images():
    return [image_of(graph) for graph in world_graphs(3, 4)]


def test_regions_have_the_promised_shapes_and_are_in_the_image(folder, images):
    for regions in network_source(folder, "cpu", width=8).regions(images):
        number = len(regions.boxes)
        assert 1 <= number <= TINY.count
        assert regions.features.shape == (number, 8)
        assert regions.features.dtype == regions.boxes.dtype == np.float32
        assert ((regions.boxes >= 0) & (regions.boxes <= 1)).all()
        assert (regions.boxes[:, :2] < regions.boxes[:, 2:]).all()
        assert set(regions.objects) <= {0, 1}


def test_an_image_has_the_same_regions_in_any_batch_and_again(folder, images):
    source = network_source(folder, "cpu", width=8)
    together = source.look([*images, images[0]])
    alone = [network_source(folder, "cpu", width=8).look([image])[0] for image in images]
    for one, other in zip([*alone, alone[0]], together, strict=True):
        assert (one.boxes == other.boxes).all()
        assert one.features == pytest.approx(other.features, rel=1e-4, abs=1e-5)


def test_the_features_depend_on_what_is_in_a_box(folder):
    def shown(colour):
        image = Image.new("RGB", (60, 60), "white")
        image.paste(colour, (10, 10, 40, 40))
        return LazyImage(key=colour, load=lambda: image)

    def by_box(regions):
        return dict(zip(map(tuple, regions.boxes.tolist()), regions.features, strict=True))

    red, blue = map(by_box, network_source(folder, "cpu", width=8).regions([shown("red"), shown("blue")]))
    both = red.keys() & blue.keys()
    assert both
    assert all(np.abs(red[box] - blue[box]).max() > 0.01 for box in both)


def test_the_surest_boxes_that_differ_are_chosen():
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [20, 0, 30, 10], [0, 20, 10, 30]], np.float32)
    sure = np.array([0.5, 0.9, 0.7, 0.1], np.float32)
    kept = replace(TINY, sure=0.2)
    assert chosen(boxes, sure, TINY) == [1, 2, 3]
    assert chosen(boxes, sure, kept) == [1, 2]
    assert chosen(boxes, sure / 10, kept) == [1]  # an image has a region, however unsure


def test_damaged_files_and_another_width_are_refused(folder, tmp_path):
    with pytest.raises(ModelLoadError, match="gives 8 numbers per box, the model takes 16; name features"):
        network_source(folder, "cpu", width=16)
    for name in (SETTINGS, WEIGHTS):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:100])
    with pytest.raises(ModelLoadError, match="cannot be loaded as a region network"):
        network_source(tmp_path, "cpu", width=8)
    written = json.loads((tmp_path / SETTINGS).read_text())
    (tmp_path / SETTINGS).write_text(json.dumps({**written, "colour": "red"}))
    with pytest.raises(ModelLoadError, match=r"settings of a region network .*'colour'.*; expected crop, channels"):
        network_source(tmp_path, "cpu", width=8)
    (tmp_path / SETTINGS).write_text("{")
    with pytest.raises(ModelLoadError, match="settings of a region network"):
        network_source(tmp_path, "cpu", width=8)


def test_the_fingerprint_is_of_the_settings_and_the_weights(folder, tmp_path):
    assert read_settings(folder) == TINY
    assert has_network(folder)
    assert not has_network(folder.parent)
    first = network_source(folder, "cpu", width=8).fingerprint
    assert network_source(folder, "cpu", width=8).fingerprint == first
    write_settings(TINY, tmp_path)
    torch.manual_seed(1)
    save_file(build_network(TINY).state_dict(), tmp_path / WEIGHTS)
    assert network_source(tmp_path, "cpu", width=8).fingerprint != first


@pytest.fixture(scope="module")
def scenes():
    graphs = [as_gqa(graph) for graph in world_graphs(12, 25)]
    return [(graph, np.asarray(draw(graph))) for graph in graphs]


def best_overlaps(graph, boxes):
    true = [(item["x"], item["y"], item["x"] + item["w"], item["y"] + item["h"]) for item in graph["objects"].values()]
    return overlaps(np.array(true, np.float32), boxes).max(axis=1)


def test_nearly_every_thing_has_a_box_and_boxes_differ_and_are_few(scenes):
    found = np.concatenate([best_overlaps(graph, propose(pixels)) for graph, pixels in scenes])
    assert (found >= 0.5).mean() > 0.9
    alone = np.concatenate([best_overlaps(graph, propose(pixels)[:1]) for graph, pixels in scenes])
    assert (alone >= 0.5).mean() < 0.4
    for _, pixels in scenes:
        boxes = propose(pixels)
        height, width = pixels.shape[:2]
        assert 1 <= len(boxes) <= MOST
        assert (boxes >= 0).all()
        assert (boxes[:, 2] <= width).all()
        assert (boxes[:, 3] <= height).all()
        assert (boxes[:, 2:] - boxes[:, :2] >= 8).all()
        assert np.triu(overlaps(boxes, boxes), 1).max(initial=0) < 0.9


@pytest.mark.parametrize("shape", [(1, 200), (200, 1), (7, 7), (3, 900), (30, 50), (1, 1)])
def test_an_image_of_any_size_has_boxes(shape):
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    assert len(propose(pixels)) >= 1
    blank = np.full((*shape, 3), 240, np.uint8)
    assert propose(blank).tolist() == [[0, 0, *shape[::-1]]]


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
