"""A detector's configuration (``config.yaml``) and its modules, under the names of the published checkpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.load_errors import library, one_line

if TYPE_CHECKING:
    from torch import nn

_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A Faster R-CNN with attributes; the defaults are those of the Visual Genome detector of bottom-up attention."""

    stride: ClassVar[int] = 16  # pixels of the resized image per position of the feature map

    blocks: tuple[int, ...] = _BLOCKS[101]  # bottlenecks of res2 to res5
    stem: int = 64
    width: int = 64  # channels inside a bottleneck of the first stage
    res2: int = 256  # channels at the output of the first stage
    stride_in_1x1: bool = True
    caffe_maxpool: bool = True
    halve_res5: bool = False
    rpn_hidden: int = 512
    anchor_sizes: tuple[float, ...] = (64, 128, 256, 512)
    aspect_ratios: tuple[float, ...] = (0.5, 1.0, 2.0)
    anchor_offset: float = 0.0
    rpn_weights: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    rpn_overlap: float = 0.7
    proposals_before: int = 6000
    proposals_after: int = 300
    smallest: float = 0.0
    pooled: int = 14
    objects: int = 1600
    attributes: int = 400
    agnostic: bool = False
    box_weights: tuple[float, ...] = (10.0, 10.0, 5.0, 5.0)
    # Thresholds of the final suppression of boxes, tried in order until ``detections`` boxes remain.
    overlaps: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9)
    detections: int = 36
    short: int = 600
    long: int = 1000
    mean: tuple[float, ...] = (102.9801, 115.9465, 122.7717)  # of blue, green and red, in 0..255
    std: tuple[float, ...] = (1.0, 1.0, 1.0)

    @property
    def features(self) -> int:
        return 8 * self.res2

    @property
    def anchors(self) -> int:
        return len(self.anchor_sizes) * len(self.aspect_ratios)


def read_config(file: Path) -> Config:
    yaml = library("yaml")
    if file.exists() and not file.is_file():  # reading a pipe would block for ever
        raise ModelLoadError(f"{file}: is not a regular file; download it again")
    # Plain values only, and tuples, for which detectron2 writes a tag of its own.
    loader: Any = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("tag:yaml.org,2002:python/tuple", lambda self, node: self.construct_sequence(node))
    try:
        content = _lower(yaml.load(file.read_text(encoding="utf-8"), Loader=loader))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ModelLoadError(f"{file}: cannot be read ({one_line(error)}); download it again") from None
    try:
        return _config(content)
    except KeyError as error:
        why = f"lacks {error}"
    except (TypeError, ValueError, IndexError) as error:
        why = str(error)
    raise ModelLoadError(f"{file}: {why}; expected a configuration like that of frcnn-vg-finetuned")


# Where ``config.yaml`` has a setting, which is read as the type of its default; ``_config`` reads the others.
_PLACES = {
    "stem": "resnets.stem_out_channels", "width": "resnets.width_per_group", "res2": "resnets.res2_out_channels",
    "stride_in_1x1": "resnets.stride_in_1x1", "caffe_maxpool": "model.max_pool", "halve_res5": "roi_box_head.res5halve",
    "anchor_sizes": "anchor_generator.sizes.0", "aspect_ratios": "anchor_generator.aspect_ratios.0",
    "anchor_offset": "anchor_generator.offset", "rpn_weights": "rpn.bbox_reg_weights", "rpn_overlap": "rpn.nms_thresh",
    "proposals_before": "rpn.pre_nms_topk_test", "proposals_after": "rpn.post_nms_topk_test",
    "smallest": "proposal_generator.min_size", "pooled": "roi_box_head.pooler_resolution",
    "objects": "roi_heads.num_classes", "attributes": "roi_box_head.num_attrs",
    "agnostic": "roi_box_head.cls_agnostic_bbox_reg", "box_weights": "roi_box_head.bbox_reg_weights",
    "detections": "max_detections", "short": "input.min_size_test", "long": "input.max_size_test",
    "mean": "model.pixel_mean", "std": "model.pixel_std",
}  # fmt: skip


def _lower(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key).lower(): _lower(inner) for key, inner in value.items()}
    return value


def _config(content: Any) -> Config:
    # ``input.format`` is ignored: the mean is in the order blue, green, red, and so is the network's input.
    if not isinstance(content, Mapping):
        raise TypeError(f"holds a {type(content).__name__}, expected names with values")
    resnet, heads, box = content["resnets"], content["roi_heads"], content["roi_box_head"]
    for name, value, right in (
        ("resnets.norm", resnet["norm"], "BN"),
        ("resnets.num_groups", resnet["num_groups"], 1),
        ("resnets.depth", resnet["depth"], tuple(_BLOCKS)),
        ("resnets.out_features", resnet["out_features"], ["res4"]),
        ("roi_box_head.attr", box["attr"], True),
        ("min_detections", content["min_detections"], content["max_detections"]),
    ):
        if value != right and not (isinstance(right, tuple) and value in right):
            raise ValueError(f"{name} is {value!r}, expected {right!r}")
    hidden, overlaps = content["proposal_generator"]["hidden_channels"], heads["nms_thresh_test"]
    settings: dict[str, Any] = {}
    for name, place in _PLACES.items():
        value, default = content, getattr(Config(), name)
        for part in place.split("."):
            value = value[int(part) if part.isdecimal() else part]
        settings[name] = tuple(map(float, value)) if isinstance(default, tuple) else type(default)(value)
    return Config(
        **settings,
        blocks=_BLOCKS[resnet["depth"]],
        rpn_hidden=4 * int(resnet["res2_out_channels"]) if hidden == -1 else int(hidden),
        overlaps=tuple(map(float, overlaps if isinstance(overlaps, list) else [overlaps])),
    )


# The modules only hold weights; ``detector_stages`` uses them.
def network(config: Config) -> nn.Module:
    import torch
    from torch import nn

    whole, backbone, generator, heads, predictor = (nn.Module() for _ in range(5))
    whole.backbone, whole.proposal_generator, whole.roi_heads = backbone, generator, heads
    backbone.stem = nn.Module()
    backbone.stem.conv1 = _normed(3, config.stem, kernel=7, stride=2)
    inside = config.stem
    for stage in range(3):
        backbone.add_module(f"res{stage + 2}", _stage(config, stage, inside, stride=1 if stage == 0 else 2))
        inside = config.res2 * 2**stage

    # The anchors around one position as x1, y1, x2, y2: each size in each aspect ratio, which is height by width.
    anchors = []
    for size in config.anchor_sizes:
        for aspect in config.aspect_ratios:
            width = math.sqrt(size**2 / aspect)
            anchors.append((-width / 2, -aspect * width / 2, width / 2, aspect * width / 2))
    generator.anchor_generator = nn.Module()
    generator.anchor_generator.cell_anchors = nn.ParameterList([nn.Parameter(torch.tensor(anchors))])
    generator.rpn_head = nn.Module()
    generator.rpn_head.conv = nn.Conv2d(4 * config.res2, config.rpn_hidden, 3, padding=1)
    generator.rpn_head.objectness_logits = nn.Conv2d(config.rpn_hidden, config.anchors, 1)
    generator.rpn_head.anchor_deltas = nn.Conv2d(config.rpn_hidden, 4 * config.anchors, 1)

    # By default res5 keeps 14 x 14 positions and is dilated instead of strided, as in training.
    stride, dilation = (2, 1) if config.halve_res5 else (1, 2)
    heads.res5 = _stage(config, 3, config.features // 2, stride=stride, dilation=dilation)
    features = config.features
    heads.box_predictor = predictor
    predictor.cls_score = nn.Linear(features, config.objects + 1)
    predictor.bbox_pred = nn.Linear(features, 4 * (1 if config.agnostic else config.objects))
    predictor.cls_embedding = nn.Embedding(config.objects + 1, features // 8)
    predictor.fc_attr = nn.Linear(features + features // 8, features // 4)
    predictor.attr_score = nn.Linear(features // 4, config.attributes + 1)
    return whole.eval().requires_grad_(requires_grad=False)


def _stage(config: Config, stage: int, inside: int, *, stride: int, dilation: int = 1) -> nn.Module:
    from torch import nn

    outside, width = config.res2 * 2**stage, config.width * 2**stage
    kinds: dict[str, Any] = {"dilation": dilation, "stride_in_1x1": config.stride_in_1x1}
    first = bottleneck(inside, width, outside, stride=stride, **kinds)
    rest = [bottleneck(outside, width, outside, **kinds) for _ in range(config.blocks[stage] - 1)]
    return nn.Sequential(first, *rest)


def bottleneck(
    inside: int, width: int, outside: int, *, stride: int = 1, dilation: int = 1, stride_in_1x1: bool = True
) -> nn.Module:
    from torch import nn

    # Caffe's ResNets put the stride in the first convolution (1 x 1), torchvision's in the second (3 x 3).
    first, second = (stride, 1) if stride_in_1x1 else (1, stride)
    block = nn.Module()
    if inside != outside:
        block.shortcut = _normed(inside, outside, stride=stride)
    block.conv1 = _normed(inside, width, stride=first)
    block.conv2 = _normed(width, width, kernel=3, stride=second, dilation=dilation)
    block.conv3 = _normed(width, outside)
    return block


def _normed(inside: int, outside: int, *, kernel: int = 1, stride: int = 1, dilation: int = 1) -> nn.Module:
    from torch import nn

    padding = dilation * (kernel // 2)
    convolution = nn.Conv2d(inside, outside, kernel, stride, padding, dilation, bias=False)
    convolution.norm = nn.BatchNorm2d(outside)  # a submodule, which the checkpoint calls ``conv1.norm``
    return convolution
