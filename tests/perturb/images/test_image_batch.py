"""Perturbations of tensors against those of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from vlgate.perturb.images import IMAGENET_MEAN, PERTURBATIONS, crop_to
from vlgate.perturb.images.batch import BATCHED, apply_batch
from vlgate.perturb.scene_graph import Box

torch = pytest.importorskip("torch")

NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
DEVICES = ["cpu", pytest.param("cuda", marks=NO_GPU)]
BOXES = [
    [Box(x=20.5, y=30, w=50, h=40), Box(x=100, y=60, w=30, h=70)],
    [Box(x=-5, y=-5, w=40.25, h=300)],
    [Box(x=60, y=60, w=3, h=3), Box(x=61, y=50, w=3, h=30), Box(x=-50, y=0, w=9, h=9)],
]


@pytest.fixture(scope="module")
def arrays(photograph):
    noise = 255 * np.random.default_rng(0).integers(0, 2, photograph.shape, dtype=np.uint8)
    return [photograph, photograph[::-1, ::-1].copy(), noise]


def batch_of(arrays, device):
    return torch.from_numpy(np.stack(arrays)).permute(0, 3, 1, 2).contiguous().to(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [name for name in BATCHED if name != "crop"])
def test_a_batch_is_what_the_pictures_are(arrays, name, device):
    images = batch_of(arrays, device)
    before = images.clone()
    result = apply_batch(name, images, BOXES)
    assert (images == before).all()
    assert result.device == images.device
    assert result.dtype == torch.uint8
    assert result.shape == images.shape
    expected = np.stack([PERTURBATIONS[name](one, those) for one, those in zip(arrays, BOXES, strict=True)])
    off = np.abs(result.permute(0, 2, 3, 1).cpu().numpy().astype(int) - expected)
    if name.startswith("blur"):
        assert off.max() <= 2
        assert (off <= 1).mean() >= 0.999
    else:
        assert off.max() == 0


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [None, (48, 64), (224, 224)])
def test_crops_are_resized_as_pillow_does(arrays, device, size):
    result = apply_batch("crop", batch_of(arrays, device), BOXES, size=size).permute(0, 2, 3, 1).cpu().numpy()
    height, width = size or arrays[0].shape[:2]
    for one, array, boxes in zip(result, arrays, BOXES, strict=True):
        resized = Image.fromarray(crop_to(array, boxes)).resize((width, height), Image.Resampling.BILINEAR)
        assert np.abs(one.astype(int) - np.asarray(resized)).max() <= 1


@pytest.mark.parametrize("shape", [(1, 1), (2, 33), (40, 3)])
@pytest.mark.parametrize("name", ["blur3", "blur9"])
def test_small_pictures(shape, name):
    array = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    boxes = [Box(x=0, y=0, w=1, h=1)]
    result = apply_batch(name, batch_of([array], "cpu"), [boxes]).permute(0, 2, 3, 1).numpy()[0]
    assert np.abs(result.astype(int) - PERTURBATIONS[name](array, boxes)).max() <= 2


def test_the_default_colour_is_the_same(arrays):
    masked = apply_batch("mask", batch_of(arrays, "cpu"), BOXES)
    assert masked[0, :, 0, 0].tolist() == [round(mean) for mean in IMAGENET_MEAN]


@pytest.mark.parametrize("name", BATCHED)
def test_an_empty_batch(name):
    assert apply_batch(name, torch.zeros((0, 3, 8, 9), dtype=torch.uint8), []).shape == (0, 3, 8, 9)


def test_what_cannot_be(arrays):
    images = batch_of(arrays, "cpu")
    with pytest.raises(ValueError, match="name='jpeg-1' is not done in batches: expected one of blur3"):
        apply_batch("jpeg-1", images)
    with pytest.raises(ValueError, match="did you mean 'blur3'"):
        apply_batch("blur33", images)
    with pytest.raises(ValueError, match="expected the boxes of 3 pictures, found those of 1"):
        apply_batch("blur3", images, BOXES[:1])
    with pytest.raises(ValueError, match=r"expected shape \(n, 3, h, w\) of torch.uint8"):
        apply_batch("flip", images.float())
    with pytest.raises(ValueError, match="no box overlaps"):
        apply_batch("mask", images, [*BOXES[:2], [Box(x=900, y=0, w=1, h=1)]])
