"""A detector from a folder or the hub: loaded whole or not at all, and run on images."""

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from frcnn_slow import slow_regions
from frcnn_tiny import FIFTY, SIZES, TINY, config_yaml, drawn, images, lively, same
from PIL import Image
from safetensors.torch import save_file
from torch.backends import cudnn

from vlgate.errors import ImageError, ModelLoadError, NoReplyError
from vlgate.models.regions import detector
from vlgate.models.regions.detector import detect, detector_source, padded, pixels_of, resized_size
from vlgate.models.regions.detector_network import Config, network, read_config
from vlgate.models.regions.detector_stages import Predicted, feature_map, kept
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


def test_the_published_detector_is_looked_for_offline(tmp_path):
    with pytest.raises(ModelLoadError, match="hf download unc-nlp/frcnn-vg-finetuned") as caught:
        region_source("", tmp_path, "cpu")
    assert "HF_HUB_OFFLINE is set" in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        TINY,
        replace(TINY, blocks=(1, 2, 2, 3), anchor_sizes=(16, 64), aspect_ratios=(0.5, 2.0), std=(50.0, 55.0, 60.0)),
        replace(TINY, proposals_before=40, detections=4, overlaps=(0.1, 0.3, 0.9)),
        replace(TINY, stride_in_1x1=False, caffe_maxpool=False, halve_res5=True),
    ],
)
def test_the_regions_are_those_of_the_slow_reference(config):
    network = lively(config, 5)
    images = [drawn(number, size) for number, size in enumerate(SIZES[:5])]
    with torch.inference_mode():
        for one, image in zip(detect(network, config, images, "cpu"), images, strict=True):
            expected = slow_regions(network.state_dict(), config, image)
            same(one, Regions(**dict(zip(FIELDS, expected, strict=True))))


def test_a_batch_has_what_each_image_has_alone_and_is_read_in_parts(net, monkeypatch):
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


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


def test_the_state_has_the_names_and_shapes_of_the_published_checkpoint():
    with torch.device("meta"):
        state = network(Config()).state_dict()
    lines = (Path(__file__).parents[1] / "support/frcnn_names.tsv").read_text().splitlines()
    expected = {name: shape for name, _, shape in (line.partition("\t") for line in lines)}
    assert {name: "x".join(map(str, value.shape)) for name, value in state.items()} == expected
    assert len(expected) == 640


@pytest.mark.parametrize("caffe", [True, False])
def test_padding_changes_nothing_in_the_feature_map(net, caffe):
    alone = [torch.randn(3, height, width) for height, width in ((48, 65), (33, 97), (64, 18), (16, 16), (31, 30))]
    batch, sizes = padded(alone)
    with torch.inference_mode():
        together, places = feature_map(net.backbone, batch, sizes, caffe=caffe)
        for one, row, (rows, columns) in zip(alone, together, places, strict=True):
            found, _ = feature_map(net.backbone, *padded([one]), caffe=caffe)
            assert found.shape[2:] == (rows, columns)
            assert torch.allclose(row[:, :rows, :columns], found[0], atol=1e-5)
            assert row[:, rows:].abs().sum() == row[:, :, columns:].abs().sum() == 0


def said(boxes, scores):
    """A head's output that leaves boxes in place, and gives them scores over two objects and background."""
    logits = torch.tensor(
        [[math.log(score), math.log((1 - score) / 4), math.log((1 - score) * 3 / 4)] for score in scores]
    )
    n = len(boxes)
    attributes = torch.tensor([[1.0, 3.0, 9.0]]).repeat(n, 1)
    return Predicted(
        features=torch.arange(n).float()[:, None], object_logits=logits, attribute_logits=attributes,
        deltas=torch.zeros(n, 4),
    )  # fmt: skip


def test_the_most_certain_boxes_are_kept_with_as_much_overlap_as_it_takes_to_have_enough():
    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 8.5], [20, 20, 30, 30], [0, 0, 10, 7]])
    config = replace(TINY, detections=2, overlaps=(0.5, 0.8, 0.9))
    found = kept(config, said(boxes, (0.5, 0.9, 0.3, 0.6)), boxes, (40, 40))
    assert found.features[:, 0].tolist() == [1, 2]  # 0 and 3 overlap with 1 by more than a half
    found = kept(replace(config, detections=3), said(boxes, (0.5, 0.9, 0.3, 0.6)), boxes, (40, 40))
    assert found.features[:, 0].tolist() == [1, 3, 0]  # 3 overlaps by 0.82, 0 by 0.85: only 0.9 leaves three
    assert kept(replace(config, detections=5), said(boxes, (0.5, 0.9, 0.3, 0.6)), boxes, (40, 40)) is None
    assert found.object_scores.tolist() == pytest.approx([0.9, 0.6, 0.5])
    # Background, the last of the objects and of the attributes, is never a region's.
    assert found.objects.tolist() == [0, 0, 0]
    assert found.attributes.tolist() == [1, 1, 1]
    assert found.attribute_scores.tolist() == pytest.approx([1 / (1 + math.exp(-2))] * 3)
    cut = kept(config, said(boxes, (0.5, 0.9, 0.3, 0.6)), boxes, (25, 40))
    assert cut.boxes[1].tolist() == pytest.approx([20 / 40, 20 / 25, 30 / 40, 1.0])


def test_images_are_resized_blue_first_and_minus_the_mean():
    assert resized_size((600, 800), Config()) == (600, 800)
    assert resized_size((100, 1000), Config()) == (100, 1000)
    assert resized_size((375, 500), Config()) == (600, 800)
    assert resized_size((500, 333), Config()) == (901, 600)
    assert resized_size((5000, 10), Config()) == (1000, 16)
    image = Image.new("RGB", (100, 50), (200, 100, 50))
    found = pixels_of(image, Config(), "cpu")
    assert found.shape == (3, 500, 1000)
    assert found[:, 7, 9].tolist() == pytest.approx([50 - 102.9801, 100 - 115.9465, 200 - 122.7717], abs=1e-4)
    stripes = Image.fromarray(np.array([[[0] * 3, [90] * 3]], dtype=np.uint8))
    row = pixels_of(stripes, replace(TINY, mean=(0, 0, 0), short=16, long=16), "cpu")[0, 0]
    # Linear between the centres of two pixels, constant beyond the outer centres.
    expected = np.interp((np.arange(16) + 0.5) / 8 - 0.5, [0, 1], [0, 90])
    assert row.tolist() == pytest.approx(expected.tolist(), abs=1e-3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (config_yaml(rpn={}), "'bbox_reg_weights'"),
        (config_yaml(min_detections=10), "min_detections is 10, expected 6"),
        ("- 1\n", "list"),
        ("a: [", "cannot be read"),
        ("a: !!python/object/apply:os.system ['true']", "cannot be read"),
    ],
)
def test_a_configuration_that_is_not_supported_is_refused(tmp_path, text, expected):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ModelLoadError, match=expected):
        read_config(tmp_path / "config.yaml")


def test_a_configuration_is_read_in_any_case_and_with_tuples(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(config_yaml())
    assert read_config(file) == FIFTY
    file.write_text(config_yaml().replace("depth: 50", "DEPTH: 101").replace("[0.5, 1.0, 2.0]", "[0.5, 1.0, 2.0]"))
    assert read_config(file).blocks == (3, 4, 23, 3)
    content = yaml.safe_load(config_yaml())
    content["roi_heads"]["nms_thresh_test"] = 0.6
    content["rpn"]["bbox_reg_weights"] = (2, 2, 1, 1)
    file.write_text(yaml.dump(content))
    assert "python/tuple" in file.read_text()
    assert (read_config(file).overlaps, read_config(file).rpn_weights) == ((0.6,), (2, 2, 1, 1))
