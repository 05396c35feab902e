"""The whole detector on images: against a slow reference, in batches, on each device."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from frcnn_slow import slow_regions
from frcnn_tiny import SIZES, TINY, drawn, lively, same
from torch.backends import cudnn

from vlgate.models.regions import detector
from vlgate.models.regions.detector import detect, padded, pixels_of
from vlgate.models.regions.feature_records import FIELDS
from vlgate.models.regions.regions import Regions


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


@pytest.fixture(scope="module")
def net():
    return lively(TINY, 0)


@pytest.mark.parametrize(
    "config",
    [
        TINY,
        replace(TINY, blocks=(1, 2, 2, 3), anchor_sizes=(16, 64), aspect_ratios=(0.5, 2.0), std=(50.0, 55.0, 60.0)),
        replace(TINY, proposals_before=40, detections=4, overlaps=(0.1, 0.3, 0.9)),
    ],
)
def test_the_regions_are_those_of_the_slow_reference(config):
    network = lively(config, 5)
    images = [drawn(number, size) for number, size in enumerate(SIZES[:5])]
    with torch.inference_mode():
        for one, image in zip(detect(network, config, images, "cpu"), images, strict=True):
            expected = slow_regions(network.state_dict(), config, image)
            same(one, Regions(**dict(zip(FIELDS, expected, strict=True))))


def test_a_batch_has_what_each_image_has_alone(net):
    images = [drawn(number, size) for number, size in enumerate(SIZES)]
    together = detect(net, TINY, images, "cpu")
    for image, one in zip(images, together, strict=True):
        same(one, detect(net, TINY, [image], "cpu")[0])
        assert one.features.shape == (6, 128)
        assert one.features.dtype == one.boxes.dtype == np.float32
        assert one.boxes.shape == (6, 4)
        assert (one.boxes >= 0).all()
        assert (one.boxes <= 1).all()
        assert (one.boxes[:, 2:] > one.boxes[:, :2]).all()
        assert (np.diff(one.object_scores) <= 0).all()
    order = random.Random(0).sample(range(len(images)), len(images))
    for place, one in zip(order, detect(net, TINY, [images[place] for place in order], "cpu"), strict=True):
        same(one, together[place])


def test_at_most_at_once_images_go_through_together(net, monkeypatch):
    sizes = []
    monkeypatch.setattr(detector, "padded", lambda some: sizes.append(len(some)) or padded(some))
    images = [drawn(number) for number in range(10)]
    together = detect(net, TINY, images, "cpu", at_once=10)
    for one, other in zip(together, detect(net, TINY, images, "cpu", at_once=4), strict=True):
        same(one, other)
    detect(net, TINY, images, "cpu")
    assert sizes == [10, 4, 4, 2, 8, 2]


def test_cudnn_keeps_its_settings_except_for_tf32(net, monkeypatch):
    seen = []

    def look(*given):
        seen.append((cudnn.enabled, cudnn.benchmark, cudnn.allow_tf32))
        return pixels_of(*given)

    monkeypatch.setattr(detector, "pixels_of", look)
    monkeypatch.setattr(cudnn, "benchmark", True)
    detect(net, TINY, [drawn(0)], "cpu")
    assert seen == [(True, True, False)]
    assert (cudnn.enabled, cudnn.benchmark, cudnn.allow_tf32) == (True, True, True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
def test_a_gpu_finds_the_same(net):
    images = [drawn(number, size) for number, size in enumerate(SIZES)]
    for one, other in zip(
        detect(lively(TINY, 0).cuda(), TINY, images, "cuda"), detect(net, TINY, images, "cpu"), strict=True
    ):
        same(one, other, 1e-3)
