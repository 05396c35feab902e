"""A detector from a folder or the hub: loaded whole or not at all, and run on images."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from frcnn_slow import slow_regions
from frcnn_tiny import FIFTY, SIZES, TINY, config_yaml, drawn, images, lively, same
from huggingface_hub import constants
from safetensors.torch import save_file
from torch.backends import cudnn

from vlgate.errors import ImageError, ModelLoadError, NoReplyError
from vlgate.models.regions import detector
from vlgate.models.regions.detector import detect, detector_source, padded, pixels_of
from vlgate.models.regions.feature_records import FIELDS
from vlgate.models.regions.inputs import region_source
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage


@pytest.fixture(scope="module")
def net():
    return lively(TINY, 0)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A detector's folder like the published one: a pickle of tensors beside config.yaml."""
    folder = tmp_path_factory.mktemp("detector")
    (folder / "config.yaml").write_text(config_yaml())
    torch.save(lively(FIFTY, 1).state_dict(), folder / "pytorch_model.bin")
    return folder


def test_a_saved_detector_is_loaded_whole(saved, tmp_path):
    source = detector_source(str(saved), tmp_path, "cpu", width=128, count=6)
    expected = detect(lively(FIFTY, 1), FIFTY, [image.load() for image in images()[:3]], "cpu")
    for region, other in zip(source.regions(images()[:3]), expected, strict=True):
        same(region, other)
    safe = tmp_path / "safe"
    safe.mkdir()
    (safe / "config.yaml").write_text((saved / "config.yaml").read_text())
    state = torch.load(saved / "pytorch_model.bin", weights_only=True)
    save_file({name: value for name, value in state.items() if "tracked" not in name}, safe / "model.safetensors")
    again = region_source("safe", tmp_path, "cpu", width=128, count=6)
    same(again.regions(images()[:1])[0], expected[0])
    assert again.fingerprint != source.fingerprint
    assert "safe" in again.note


def test_an_image_with_many_texts_goes_through_the_detector_once(saved, tmp_path):
    source = detector_source(str(saved), tmp_path, "cpu", width=None, count=None)
    loads = []
    counted = [
        LazyImage(key=f"p{n}", load=lambda n=n: (loads.append(n), drawn(n))[1], where=f"here/{n}") for n in range(3)
    ]
    asked = [counted[0], counted[1], counted[0], counted[2], counted[1]]
    found = source.regions(asked)
    assert sorted(loads) == [0, 1, 2]
    assert found[0] is found[2]
    assert source.regions(counted[::-1])[0] is found[3]
    assert sorted(loads) == [0, 1, 2]
    elsewhere = LazyImage(key="p0", load=counted[1].load, where="elsewhere")  # another image of the same name
    assert source.regions([elsewhere])[0].features == pytest.approx(found[1].features, rel=1e-4, abs=1e-5)


def test_an_image_that_cannot_be_decoded_costs_its_own_cases(saved, tmp_path, monkeypatch):
    def broken():
        raise ImageError("bad", "it is cut off", "replace it")

    source = detector_source(str(saved), tmp_path, "cpu", width=None, count=None)
    good = images()[:2]
    with pytest.raises(ImageError, match="cut off"):
        source.regions([good[0], LazyImage(key="bad", load=broken)])
    real = source.look
    monkeypatch.setattr(source, "look", lambda some: [None if one.key == "p1" else real([one])[0] for one in some])
    with pytest.raises(NoReplyError, match="fewer than 6 regions in 'p1'") as caught:
        source.regions([good[1], good[0], good[1]])
    assert caught.value.positions == {0, 2}


def broken_folder(saved, folder, change):
    folder.mkdir()
    (folder / "config.yaml").write_text((saved / "config.yaml").read_text())
    state = torch.load(saved / "pytorch_model.bin", weights_only=True)
    torch.save(change(dict(state)), folder / "pytorch_model.bin")
    return str(folder)


class Harm:
    def __reduce__(self):
        return (print, ("harm",))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda state: {k: v for k, v in state.items() if "attr_score" not in k}, "lacks .*attr_score.bias"),
        (lambda state: state | {"head.weight": torch.zeros(1)}, "unknown .*head.weight"),
        (
            lambda state: state | {"roi_heads.box_predictor.attr_score.bias": torch.zeros(12)},
            r"roi_heads.box_predictor.attr_score.bias is \(12,\), and config.yaml says \(11,\)",
        ),
        (lambda state: state | {"x": Harm()}, "holds more than tensors"),
        (lambda state: list(state.values()), "named tensors"),
    ],
)
def test_weights_that_are_not_the_detectors_are_refused(saved, tmp_path, capsys, change, expected):
    name = broken_folder(saved, tmp_path / "broken", change)
    with pytest.raises(ModelLoadError, match=expected):
        detector_source(name, tmp_path, "cpu", width=None, count=None)
    assert capsys.readouterr().out == ""


def test_a_folder_that_is_not_a_detector_is_refused(saved, tmp_path):
    def refused(spec, **needs):
        with pytest.raises(ModelLoadError) as caught:
            region_source(spec, tmp_path, "cpu", **needs)
        return str(caught.value)

    (tmp_path / "empty").mkdir()
    assert "empty holds nothing; a detector is config.yaml" in refused("empty")
    assert "is not there" in refused("nowhere/at/all.tsv")
    (tmp_path / "x.txt").write_text("")
    assert "x.txt" in refused("x.txt")
    assert "2048 numbers per box, the detector gives 128" in refused(str(saved))
    assert "36 boxes, the detector gives 6" in refused(str(saved), width=128)
    half = tmp_path / "half"
    half.mkdir()
    (half / "pytorch_model.bin").write_bytes(b"no pickle")
    (half / "config.yaml").write_text(config_yaml())
    assert "damaged" in refused("half")


def test_the_published_detector_is_looked_for_offline(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelLoadError, match="hf download unc-nlp/frcnn-vg-finetuned") as caught:
        region_source("", tmp_path, "cpu")
    assert "HF_HUB_OFFLINE is set" in str(caught.value)


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
