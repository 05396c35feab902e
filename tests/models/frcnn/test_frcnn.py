"""The detector's parts: their names, and each against torchvision's or a slow reference."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision
import yaml
from frcnn_tiny import FIFTY, TINY, config_yaml, lively
from PIL import Image
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.image_list import ImageList

from vlgate.errors import ModelLoadError
from vlgate.models.regions.detector import padded, pixels_of, resized_size
from vlgate.models.regions.detector_network import Config, bottleneck, network, read_config
from vlgate.models.regions.detector_stages import (
    Predicted,
    clipped,
    feature_map,
    grid_anchors,
    kept,
    moved,
    predicted,
    proposals,
    run_bottleneck,
)


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


@pytest.fixture(scope="module")
def net():
    return lively(TINY, 0)


def test_the_state_has_the_names_and_shapes_of_the_published_checkpoint():
    with torch.device("meta"):
        state = network(Config()).state_dict()
    lines = (Path(__file__).parents[1] / "support/frcnn_names.tsv").read_text().splitlines()
    expected = {name: shape for name, _, shape in (line.partition("\t") for line in lines)}
    assert {name: "x".join(map(str, value.shape)) for name, value in state.items()} == expected
    assert len(expected) == 640


@pytest.mark.parametrize("stride", [1, 2])
def test_a_bottleneck_is_torchvisions_with_the_stride_moved(stride):
    theirs = torchvision.models.resnet.Bottleneck(
        16, 8, stride, torch.nn.Sequential(torch.nn.Conv2d(16, 32, 1, stride, bias=False), torch.nn.BatchNorm2d(32))
    ).eval()
    ours = bottleneck(16, 8, 32, stride=stride, stride_in_1x1=False).eval()
    for names in (("conv1", "bn1"), ("conv2", "bn2"), ("conv3", "bn3"), ("downsample.0", "downsample.1")):
        convolution, norm = (theirs.get_submodule(name) for name in names)
        torch.nn.init.uniform_(norm.bias)
        mine = ours.get_submodule("shortcut" if "." in names[0] else names[0])
        mine.load_state_dict(
            {"weight": convolution.weight} | {f"norm.{name}": value for name, value in norm.state_dict().items()}
        )
    theirs.conv3 = torch.nn.Conv2d(8, 32, 1, bias=False)  # torchvision's output is 4 times the width, as here
    ours.conv3.weight = theirs.conv3.weight
    pixels = torch.randn(2, 16, 9, 12)
    with torch.no_grad():
        assert torch.allclose(run_bottleneck(ours, pixels, [])[0], theirs(pixels), atol=1e-6)
        moved_stride = bottleneck(16, 8, 32, stride=stride, stride_in_1x1=True).eval()
        moved_stride.load_state_dict(ours.state_dict())
        theirs.conv1.stride, theirs.conv2.stride = (stride, stride), (1, 1)
        result, places = run_bottleneck(moved_stride, pixels, [(9, 12), (9, 12)])
        assert torch.allclose(result, theirs(pixels), atol=1e-6)
        assert places == [tuple(result.shape[2:])] * 2


def test_the_backbone_is_torchvisions_resnet():
    config = Config(stride_in_1x1=False, caffe_maxpool=False, blocks=(2, 1, 2, 1), objects=2)
    theirs = torchvision.models.ResNet(torchvision.models.resnet.Bottleneck, [2, 1, 2, 1]).eval()
    ours = network(config)
    state = theirs.state_dict()
    renamed = {}
    for name in ours.backbone.state_dict():
        parts = name.split(".")
        norm = "norm" in parts
        if parts[0] == "stem":
            key = f"{'bn1' if norm else 'conv1'}.{parts[-1]}"
        else:
            layer = f"layer{int(parts[0][3]) - 1}.{parts[1]}"
            place = parts[2][-1]
            inner = f"downsample.{int(norm)}" if parts[2] == "shortcut" else f"{'bn' if norm else 'conv'}{place}"
            key = f"{layer}.{inner}.{parts[-1]}"
        renamed[name] = state[key]
    ours.backbone.load_state_dict(renamed)
    pixels = torch.randn(1, 3, 70, 91)
    with torch.inference_mode():
        features = theirs.maxpool(theirs.relu(theirs.bn1(theirs.conv1(pixels))))
        features = theirs.layer3(theirs.layer2(theirs.layer1(features)))
        found, places = feature_map(ours.backbone, pixels, [(70, 91)], caffe=False)
    assert places == [tuple(features.shape[2:])]
    assert torch.allclose(found, features, atol=1e-4, rtol=1e-4)


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


def test_anchors_are_torchvisions_before_rounding():
    sizes, aspects = (64.0, 128.0, 256.0, 512.0), (0.5, 1.0, 2.0)
    cells = network(replace(TINY, anchor_sizes=sizes)).proposal_generator.anchor_generator.cell_anchors[0]
    assert cells.shape == (12, 4)
    theirs = AnchorGenerator((sizes,), (aspects,))
    areas = (cells[:, 2] - cells[:, 0]) * (cells[:, 3] - cells[:, 1])
    assert areas.tolist() == pytest.approx([size**2 for size in sizes for _ in aspects])
    # torchvision iterates over the aspects first, and rounds.
    by_size = theirs.cell_anchors[0].reshape(3, 4, 4).transpose(0, 1).reshape(-1, 4)
    assert (cells - by_size).abs().max() <= 0.5
    theirs.cell_anchors = [cells]
    grid = theirs(ImageList(torch.zeros(1, 3, 80, 48), [(80, 48)]), [torch.zeros(1, 1, 5, 3)])[0]
    assert torch.equal(grid_anchors(cells, 5, 3, stride=16, offset=0.0), grid)


def test_boxes_are_moved_as_torchvision_moves_them():
    boxes = torch.rand(50, 4) * 50
    boxes[:, 2:] += boxes[:, :2] + 1
    deltas = torch.randn(50, 4) * 12
    coder = torchvision.models.detection._utils.BoxCoder((10.0, 10.0, 5.0, 5.0), math.log(1000 / 16))
    theirs = coder.decode_single(deltas, boxes).reshape(-1, 4)
    ours = moved(boxes, deltas, (10.0, 10.0, 5.0, 5.0))
    assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-3)
    assert torch.equal(clipped(ours, (40, 60)), torchvision.ops.clip_boxes_to_image(ours, (40, 60)))


def test_proposals_are_those_of_torchvisions_network(net):
    """torchvision's region proposal network, given the same weights and anchors, proposes the same boxes."""
    from torchvision.models.detection.rpn import RegionProposalNetwork, RPNHead

    generator = net.proposal_generator
    head = RPNHead(64, 12)
    weights = generator.rpn_head.state_dict()
    head.conv = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Conv2d(64, 16, 3, padding=1), torch.nn.ReLU()))
    head.cls_logits, head.bbox_pred = torch.nn.Conv2d(16, 12, 1), torch.nn.Conv2d(16, 48, 1)
    for own, name in (
        (head.conv[0][0], "conv"),
        (head.cls_logits, "objectness_logits"),
        (head.bbox_pred, "anchor_deltas"),
    ):
        own.load_state_dict({part: weights[f"{name}.{part}"] for part in ("weight", "bias")})
    anchors = AnchorGenerator((TINY.anchor_sizes,), (TINY.aspect_ratios,))
    anchors.cell_anchors = [generator.anchor_generator.cell_anchors[0]]
    counts = {"training": 0, "testing": TINY.proposals_before}, {"training": 0, "testing": TINY.proposals_after}
    theirs = RegionProposalNetwork(anchors, head, 0.7, 0.3, 256, 0.5, *counts, TINY.rpn_overlap).eval()
    theirs.min_size = 1e-9
    features = torch.randn(1, 64, 5, 7).relu()
    with torch.inference_mode():
        expected = theirs(ImageList(torch.zeros(1, 3, 80, 112), [(80, 112)]), {"0": features})[0][0]
        found = proposals(generator, TINY, features, [(5, 7)], [(80, 112)])[0]
    assert len(found) > 5
    assert torch.allclose(found, expected, atol=1e-4)


def test_the_head_keeps_its_resolution_and_is_dilated_unless_it_is_halved():
    for halved, stride, dilation in ((False, 1, 2), (True, 2, 1)):
        blocks = network(replace(TINY, halve_res5=halved, blocks=(1, 1, 1, 3))).roi_heads.res5
        assert [block.conv1.stride[0] for block in blocks] == [stride, 1, 1]
        assert blocks[0].shortcut.stride == (stride, stride)
        assert {(block.conv2.stride[0], block.conv2.dilation[0], block.conv2.padding[0]) for block in blocks} == {
            (1, dilation, dilation)
        }


def test_heads_pool_and_predict_as_a_slow_reference():
    torch.manual_seed(0)
    net = lively(TINY, 3)
    likeliest = set()
    features, boxes = torch.randn(2, 64, 6, 6).relu(), [torch.tensor([[0.0, 0, 50, 60]]), torch.rand(45, 4) * 40]
    boxes[1][:, 2:] += boxes[1][:, :2]
    with torch.inference_mode():
        logits = predicted(net.roi_heads, TINY, features, boxes)[1].object_logits
        margins = (logits[:, :-1].amax(dim=1) - logits[:, -1]).sort().values
        some_are_background = margins[21:23].mean()  # between two boxes, so that no box is on the edge
        net.roi_heads.box_predictor.cls_score.bias[-1] += some_are_background
        found = predicted(net.roi_heads, TINY, features, boxes)
        for index, some in enumerate(boxes):  # one box at a time
            for row, box in enumerate(some):
                inner = torchvision.ops.RoIPool(6, 1 / 16)(features[index : index + 1], [box[None]])
                for block in net.roi_heads.res5:
                    inner = run_bottleneck(block, inner, [(6, 6)])[0]
                assert inner.shape[2:] == (6, 6)
                mean = inner.mean(dim=(2, 3))
                assert torch.allclose(found[index].features[row], mean[0], atol=1e-5)
                head = net.roi_heads.box_predictor
                objects = head.cls_score(mean)[0]
                likeliest.add(int(objects.argmax()) == TINY.objects)
                embedded = torch.cat((mean[0], head.cls_embedding.weight[objects.argmax()]))
                attributes = head.attr_score(head.fc_attr(embedded).relu())
                assert torch.allclose(found[index].attribute_logits[row], attributes, atol=1e-5)
                best = int(objects[:-1].argmax())
                deltas = head.bbox_pred(mean)[0, 4 * best : 4 * best + 4]
                assert torch.allclose(found[index].deltas[row], deltas, atol=1e-5)
    assert likeliest == {True, False}


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
