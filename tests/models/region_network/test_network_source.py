import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from vlgate.errors import ModelLoadError
from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.models.regions.region_network import (
    SETTINGS,
    WEIGHTS,
    Settings,
    build_network,
    chosen,
    has_network,
    network_source,
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


def test_the_settings_are_read_as_they_were_written(folder):
    assert read_settings(folder) == TINY
    assert has_network(folder)
    assert not has_network(folder.parent)


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
    kept = Settings(**{**{name: getattr(TINY, name) for name in TINY.__slots__}, "sure": 0.2})
    assert chosen(boxes, sure, TINY) == [1, 2, 3]
    assert chosen(boxes, sure, kept) == [1, 2]
    assert chosen(boxes, sure / 10, kept) == [1]  # an image has a region, however unsure


def test_a_network_of_another_width_is_refused(folder):
    with pytest.raises(ModelLoadError, match="gives 8 numbers per box, the model takes 16; name features"):
        network_source(folder, "cpu", width=16)


def test_damaged_files_are_refused(folder, tmp_path):
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
    first = network_source(folder, "cpu", width=8).fingerprint
    assert network_source(folder, "cpu", width=8).fingerprint == first
    write_settings(TINY, tmp_path)
    torch.manual_seed(1)
    save_file(build_network(TINY).state_dict(), tmp_path / WEIGHTS)
    assert network_source(tmp_path, "cpu", width=8).fingerprint != first
