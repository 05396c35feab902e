"""A detector's modules, under the names of the published checkpoint.

The modules only hold weights; ``backbone``, ``proposals`` and ``heads`` use them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vlgate.models.frcnn.config import Config

if TYPE_CHECKING:
    from torch import Tensor, nn


def network(config: Config) -> nn.Module:
    """Build a detector with random weights, in evaluation mode.

    With the default ``config``, its state has the names and shapes of ``unc-nlp/frcnn-vg-finetuned``.
    """
    from torch import nn

    whole = nn.Module()
    whole.backbone = _backbone(config)
    whole.proposal_generator = _proposal_generator(config)
    whole.roi_heads = nn.Module()
    whole.roi_heads.res5 = _res5(config)
    whole.roi_heads.box_predictor = _box_predictor(config)
    return whole.eval().requires_grad_(requires_grad=False)


def _backbone(config: Config) -> nn.Module:
    from torch import nn

    backbone = nn.Module()
    backbone.stem = nn.Module()
    backbone.stem.conv1 = _normed(3, config.stem, kernel=7, stride=2)
    inside = config.stem
    for stage in range(3):
        outside, stride = config.res2 * 2**stage, 1 if stage == 0 else 2
        blocks = [
            bottleneck(
                inside if place == 0 else outside,
                config.width * 2**stage,
                outside,
                stride=stride if place == 0 else 1,
                stride_in_1x1=config.stride_in_1x1,
            )
            for place in range(config.blocks[stage])
        ]
        backbone.add_module(f"res{stage + 2}", nn.Sequential(*blocks))
        inside = outside
    return backbone


def _res5(config: Config) -> nn.Module:
    """The head's stage; by default it keeps 14 x 14 positions and is dilated instead of strided, as in training."""
    from torch import nn

    stride, dilation = (2, 1) if config.halve_res5 else (1, 2)
    outside = config.features
    blocks = [
        bottleneck(
            outside // 2 if place == 0 else outside,
            8 * config.width,
            outside,
            stride=stride if place == 0 else 1,
            dilation=dilation,
            stride_in_1x1=config.stride_in_1x1,
        )
        for place in range(config.blocks[3])
    ]
    return nn.Sequential(*blocks)


def bottleneck(
    inside: int, width: int, outside: int, *, stride: int = 1, dilation: int = 1, stride_in_1x1: bool = True
) -> nn.Module:
    """Return a bottleneck: three convolutions and a shortcut around them.

    Caffe's ResNets put the stride in the first convolution (1 x 1), torchvision's in the second (3 x 3).
    """
    from torch import nn

    first, second = (stride, 1) if stride_in_1x1 else (1, stride)
    block = nn.Module()
    if inside != outside:
        block.shortcut = _normed(inside, outside, stride=stride)
    block.conv1 = _normed(inside, width, stride=first)
    block.conv2 = _normed(width, width, kernel=3, stride=second, dilation=dilation)
    block.conv3 = _normed(width, outside)
    return block


def _normed(inside: int, outside: int, *, kernel: int = 1, stride: int = 1, dilation: int = 1) -> nn.Module:
    """A convolution with its normalisation as a submodule, which the checkpoint calls ``conv1.norm``."""
    from torch import nn

    padding = dilation * (kernel // 2)
    convolution = nn.Conv2d(inside, outside, kernel, stride, padding, dilation, bias=False)
    convolution.norm = nn.BatchNorm2d(outside)
    return convolution


def _proposal_generator(config: Config) -> nn.Module:
    from torch import nn

    generator = nn.Module()
    generator.anchor_generator = nn.Module()
    generator.anchor_generator.cell_anchors = nn.ParameterList([nn.Parameter(cell_anchors(config))])
    generator.rpn_head = nn.Module()
    generator.rpn_head.conv = nn.Conv2d(4 * config.res2, config.rpn_hidden, 3, padding=1)
    generator.rpn_head.objectness_logits = nn.Conv2d(config.rpn_hidden, config.anchors, 1)
    generator.rpn_head.anchor_deltas = nn.Conv2d(config.rpn_hidden, 4 * config.anchors, 1)
    return generator


def cell_anchors(config: Config) -> Tensor:
    """Return the anchors around one position: each size in each aspect ratio (height by width), with the same area.

    Returns: x1, y1, x2, y2 in pixels, shape (anchors, 4).
    """
    import torch

    boxes = []
    for size in config.anchor_sizes:
        for aspect in config.aspect_ratios:
            width = math.sqrt(size**2 / aspect)
            boxes.append((-width / 2, -aspect * width / 2, width / 2, aspect * width / 2))
    return torch.tensor(boxes)


def _box_predictor(config: Config) -> nn.Module:
    from torch import nn

    features = config.features
    predictor = nn.Module()
    predictor.cls_score = nn.Linear(features, config.objects + 1)
    predictor.bbox_pred = nn.Linear(features, 4 * (1 if config.agnostic else config.objects))
    predictor.cls_embedding = nn.Embedding(config.objects + 1, features // 8)
    predictor.fc_attr = nn.Linear(features + features // 8, features // 4)
    predictor.attr_score = nn.Linear(features // 4, config.attributes + 1)
    return predictor
